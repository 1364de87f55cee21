"""Large notebooks as Jupyter writes them: parts are found by lines, and what is not needed is left.

What decodes JSON lets no other thread run meanwhile. Jupyter indents, and no string has a line end
in it: so lines tell where cells, outputs and what these hold begin and end.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ipyjaxbench.reports import MIME

#: Bytes of a text that is decoded at once: that takes a few milliseconds.
MOST_AT_ONCE = 1 << 21
PIECE = 1 << 20  # bytes that are searched at once
_LONGEST = 1_000  # of a name
_UNIT = re.compile(rb'\{\n([ \t]{1,8})"')
Span = tuple[int, int]  # where something begins and ends


class CellParts(NamedTuple):
    """What of a cell is needed."""

    cell_type: str
    cell_id: str
    source: Any  # as it is written
    records: tuple[Any, ...]  # as they are written


class LargeNotebook:
    """A notebook that is written in indented lines.

    Args:
        data: its file.
        pause: called again and again, so that other threads can run.

    Attributes:
        cells: each as it is written, or its place where it is large.
        rest: the notebook without them.

    Raises:
        ValueError: it is written in another way.
    """

    def __init__(self, data: bytes, pause: Callable[[], object]) -> None:
        self._data, self._pause = data, pause
        self._unit = found[1] if (found := _UNIT.match(data)) else b"\0"
        opening = self._line(1, b'"cells": [')
        begin = self._find(opening, 0, len(data)) + len(opening)
        self.cells: list[Any] = []
        end = begin
        for begin_of, end in self._groups(begin):
            self.cells += self._cells(begin_of, end)
        if not data.startswith(self._line(1, b"]"), end):
            raise ValueError("another line than that of a cell")
        self.rest = data[:begin] + data[end:]

    def cell(self, place: Span) -> Any:
        """Return the parts of a large cell; a small one as it is written.

        Raises:
            ValueError: it is no cell.
        """
        if place[1] - place[0] <= MOST_AT_ONCE:
            return self._view(place)
        parts = dict(self._members(place, 3))
        kind, own_id = (self._word(parts.get(name)) for name in (b"cell_type", b"id"))
        records: list[memoryview] = []
        outputs, _ = self._elements(parts.get(b"outputs", place)[0] + 1, place[1], 4)
        for output in outputs:
            for name, data in self._members(output, 5):
                shown = self._members(data, 6) if name == b"data" else ()
                records += [self._view(each) for mime, each in shown if mime == MIME.encode()]
        source = self._view(parts[b"source"]) if b"source" in parts else b'""'
        return CellParts(kind, own_id, source, tuple(records))

    def _groups(self, at: int) -> Iterator[Span]:
        """Yield where several cells begin and end, from the first one on: a piece of them."""
        opening, closing = self._line(2, b"{"), self._line(2, b"}")
        between, last = closing + b"," + opening, closing + self._line(1, b"]")
        while self._data.startswith(opening, at):
            cut = self._find(between, at + PIECE, len(self._data), otherwise=len(self._data))
            if cut == len(self._data):
                cut = self._find(last, at, len(self._data))
            yield at, cut + len(closing)
            at = cut + len(closing) + 1
            self._pause()

    def _cells(self, begin: int, end: int) -> list[Any]:
        import msgspec

        if end - begin > MOST_AT_ONCE:
            return self._elements(begin, end, 2)[0]
        return msgspec.json.decode(b"[%b]" % self._data[begin:end], type=list[msgspec.Raw])

    def _elements(self, at: int, end: int, level: int) -> tuple[list[Span], int]:
        """Return where objects in an array are, which are indented so far, and where it ends."""
        opening, closing = self._line(level, b"{"), self._line(level, b"}")
        found: list[Span] = []
        while self._data.startswith(opening, at):
            after = self._find(closing, at, end) + len(closing)
            found.append((at + len(opening) - 1, after))
            at = after + self._data.startswith(b",", after)
        return found, at

    def _members(self, place: Span, level: int) -> Iterator[tuple[bytes, Span]]:
        """Yield names in an object, which are indented so far, and where their values are."""
        begin, end = place
        opening, closing = self._line(level, b'"'), self._line(level - 1, b"}")
        if not self._data.startswith(closing, end - len(closing)):
            return  # an empty one, or no object
        end -= len(closing)
        at = begin + 1
        while at < end:
            at += len(opening)
            colon = self._data.index(b'": ', at, at + _LONGEST)
            after = self._find(opening, colon, end, otherwise=end)
            yield self._data[at:colon], (colon + 3, after - (after < end))
            at = after

    def _find(self, text: bytes, begin: int, end: int, otherwise: int = -1) -> int:
        """Return where a text is, in pieces.

        Raises:
            ValueError: it is nowhere, and nothing stands for that.
        """
        for at in range(begin, end, PIECE):
            found = self._data.find(text, at, min(at + PIECE + len(text), end))
            if found >= 0:
                return found
            self._pause()
        if otherwise < 0:
            raise ValueError("a line is missing")
        return otherwise

    def _line(self, level: int, text: bytes) -> bytes:
        return b"\n%b%b" % (level * self._unit, text)

    def _view(self, place: Span) -> memoryview:
        return memoryview(self._data)[slice(*place)]

    def _word(self, place: Span | None) -> str:
        import msgspec

        if place is None:
            return ""
        return msgspec.json.decode(self._view(place)[:_LONGEST], type=str)
