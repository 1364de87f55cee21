"""What code prints: kept from the notebook and counted, or recorded."""

import logging
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from io import TextIOBase
from typing import Any, BinaryIO

from ipyjaxbench.host import Clock
from ipyjaxbench.usercode.exclusive_section import ExclusiveSection
from ipyjaxbench.usercode.objects import attributes, is_of
from ipyjaxbench.usercode.origin import is_users_class

#: When something was written, in seconds, and what.
Written = tuple[float, str]
#: As Python writes a warning: place, kind, message; the line of code comes below.
_WARNING = re.compile(r".*:\d+: (\w*Warning: .+)")
_MOST_WARNINGS = 20  # that are kept


class Muted:
    """A context in which standard output and error go nowhere, and what is logged to them.

    Nor do records reach handlers that keep them to show them later, as pytest's do.
    What tasks print that go on beside a measurement that awaits is shown, and what cells print
    while another thread than theirs measures.

    Args:
        others: what else is muted: an object, its attribute, and the stand-in for that.

    Attributes:
        writes: how many times something was written; what prints nothing is not counted, nor
            Python's warning that a coroutine was never awaited.
        warned: the first of Python's warnings among these, each once: kind and message.
        is_on: whether it was entered and not left.
        nowhere: where bytes go meanwhile.

    Example:
        >>> with Muted() as muted:
        ...     print("unseen")
        >>> muted.writes > 0
        True
    """

    def __init__(self, *others: tuple[object, str, type["StandIn"]]) -> None:
        self.writes = 0
        self.warned: dict[str, None] = {}
        self.is_on = self._is_beside = False
        self._section: ExclusiveSection | None = None
        self._places: list[tuple[object, str, type[StandIn]]] = [
            *((sys, name, _Quiet) for name in ("stdout", "stderr")),
            *others,
        ]

    @property
    def active(self) -> bool:
        """Whether what the code that runs now writes goes nowhere."""
        if not self.is_on or (self._is_beside and _is_main()):
            return False
        return self._section is None or not self._section.is_elsewhere()

    def __enter__(self) -> "Muted":
        self.nowhere = open(os.devnull, "wb")
        self._replaced = self._places.copy()
        for handler in _handlers():
            keeps = _keeps_records(handler)
            self._replaced += [(handler, "records", _Unkept)] if keeps else []
            if keeps or is_shown(handler.stream):
                self._replaced.append((handler, "stream", _Quiet))
        for owner, name, kind in self._replaced:
            setattr(owner, name, kind(getattr(owner, name), self))
        self.is_on, self._section = True, ExclusiveSection.current()
        self._is_beside = not _is_main()  # code that runs there never starts the main thread
        return self

    def count(self, text: str) -> None:
        """Count what was written; keep it if it is a warning."""
        if not text or _warns_of_coroutine(text):
            return
        self.writes += 1
        if "Warning: " in text and len(self.warned) < _MOST_WARNINGS:
            self.warned |= dict.fromkeys(_WARNING.findall(text))

    def __exit__(self, *error: object) -> None:
        self.is_on = False
        for owner, name, _ in self._replaced:
            # Those of another thread are left alone.
            stream = getattr(owner, name)
            while isinstance(stream, StandIn) and not stream.muted.is_on:
                stream = stream.real
            setattr(owner, name, stream)
        self.nowhere.close()


def _warns_of_coroutine(text: str) -> bool:
    """Whether Python wrote it, not the code: of a coroutine that nobody awaits."""
    return "' was never awaited" in text and "RuntimeWarning: coroutine '" in text


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


class StandIn:
    """Stands in for what shows output. Who keeps it, as a new logging handler does, shows it later.

    Attributes:
        real: what it stands in for; it is asked for all else that it has, such as the cell for
            which a kernel writes.
        muted: whether it is needed.
    """

    def __init__(self, real: Any, muted: Muted) -> None:
        self.real, self.muted = real, muted
        super().__init__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class _Quiet(StandIn, TextIOBase):
    """A stand-in for a stream."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The real stream's."""
        return self.real.encoding or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """The real stream's."""
        return self.real.errors  # type: ignore[no-any-return]

    @property
    def buffer(self) -> BinaryIO:
        """Where bytes go: nowhere, or to the real stream's."""
        return self.muted.nowhere if self.muted.active else self.real.buffer

    def fileno(self) -> int:
        """What a subprocess would write to: nowhere, or the real stream's."""
        return self.muted.nowhere.fileno() if self.muted.active else self.real.fileno()

    def write(self, text: str, /) -> int:
        """Count it and let it go; pass it on when that is over."""
        if not self.muted.active:
            return self.real.write(text)  # type: ignore[no-any-return]
        self.muted.count(text)
        return len(text)

    def flush(self) -> None:
        """Pass it on when the muting is over."""
        if not self.muted.active:
            self.real.flush()

    def writable(self) -> bool:
        """Whatever prints may ask."""
        return True


class _Unkept(StandIn, list[logging.LogRecord]):
    """A stand-in for a list of records."""

    def __init__(self, real: list[logging.LogRecord], muted: Muted) -> None:
        super().__init__(real, muted)
        self.extend(real)

    def append(self, record: logging.LogRecord, /) -> None:
        """Let it go: the handler counts it when it is written; keep it when that is over."""
        if not self.muted.active:
            self.real.append(record)


def _keeps_records(handler: logging.Handler) -> bool:
    """Whether it keeps records to show them later, and is none of the user's own."""
    kept = attributes(handler).get("records")
    return is_of(kept, list) and not is_users_class(type(handler))


def _handlers() -> Iterator[logging.StreamHandler[Any]]:
    """Handlers of Python's loggers that write to a stream, those inside of others among them."""
    loggers: list[Any] = [logging.root, *list(logging.root.manager.loggerDict.values())]
    # Of their real classes: an object may answer what it likes.
    found: list[Any] = [h for each in loggers if is_of(each, logging.Logger) for h in each.handlers]
    seen: set[int] = set()
    while found:
        handler = found.pop()
        if id(handler) in seen or not is_of(handler, logging.Handler):
            continue
        seen.add(id(handler))
        found += [h for h in attributes(handler).values() if is_of(h, logging.Handler)]
        if is_of(handler, logging.StreamHandler) and "stream" in attributes(handler):
            yield handler


def is_shown(stream: Any) -> bool:
    """Whether what is written to it is shown, or hidden, and changes nothing of the code's."""
    if is_of(stream, StandIn) and stream.muted.is_on:
        return True
    streams = (sys.__stdout__, sys.__stderr__, sys.stdout, sys.stderr)
    return any(_real(stream) is _real(each) for each in streams)


def _real(stream: Any) -> object:
    """The stream itself, where another one stands in for it."""
    while is_of(stream, StandIn):
        stream = stream.real
    return stream


class OutputRecorder:
    """Records what is written to a stream while the context is open, thread by thread.

    The stream stays the one that it is: others may look at its other methods, or replace it.

    Args:
        name: "stdout" or "stderr".
    """

    def __init__(self, name: str = "stdout") -> None:
        self._name = name
        self._clock = Clock.elapsed()
        self._here = threading.local()
        self._stream: Any = None

    def __enter__(self) -> "OutputRecorder":
        stream = getattr(sys, self._name)
        write: Callable[[str], int] = stream.write

        def record(text: str) -> int:
            written: list[Written] | None = getattr(self._here, "written", None)
            if written is not None:
                written.append((self._clock.now() * 1e-9, text))
            return write(text)

        try:
            stream.write = record
        except AttributeError:  # it takes no new attributes: nothing is recorded
            return self
        self._stream = stream
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None and "write" in vars(self._stream):
            del self._stream.write

    def begin(self) -> list[Written] | None:
        """Record what this thread writes; return what it recorded before, for `end`."""
        before: list[Written] | None = getattr(self._here, "written", None)
        self._here.written = []
        return before

    def end(self, before: list[Written] | None) -> list[Written]:
        """Return what was written since."""
        written: list[Written] = self._here.written
        self._here.written = before
        return written
