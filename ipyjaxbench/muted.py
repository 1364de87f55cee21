"""Keeps what repeated calls print from flooding the notebook, and counts it."""

import os
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from io import TextIOBase
from typing import Any, BinaryIO, TextIO

from ipyjaxbench.one_by_one import Turn


class Muted:
    """A context in which standard output and error go nowhere.

    What tasks print that go on beside a measurement that awaits is shown.

    Attributes:
        writes: how many times something was written.

    Example:
        >>> with Muted() as muted:
        ...     print("unseen")
        >>> muted.writes > 0
        True
    """

    def __init__(self) -> None:
        self.writes = 0
        self._active = False
        self._turn: Turn | None = None
        self._stack = ExitStack()

    @property
    def active(self) -> bool:
        """Whether what the code that runs now writes goes nowhere."""
        return self._active and (self._turn is None or not self._turn.is_elsewhere())

    def __enter__(self) -> "Muted":
        nowhere = self._stack.enter_context(open(os.devnull, "wb"))
        self._stack.enter_context(redirect_stdout(_Quiet(sys.stdout, nowhere, self)))
        self._stack.enter_context(redirect_stderr(_Quiet(sys.stderr, nowhere, self)))
        self._active, self._turn = True, Turn.current()
        return self

    def __exit__(self, *error: object) -> None:
        self._active = False
        self._stack.close()


class _Quiet(TextIOBase):
    """A stand-in for a stream. Who keeps it, as a logging handler does, writes to the real one."""

    def __init__(self, stream: TextIO, nowhere: BinaryIO, muted: Muted) -> None:
        self._stream, self._nowhere, self._muted = stream, nowhere, muted

    def __getattr__(self, name: str) -> Any:
        """What the real one has beside; a kernel tells it for which cell it writes."""
        return getattr(self._stream, name)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The real stream's."""
        return self._stream.encoding or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """The real stream's."""
        return self._stream.errors

    @property
    def buffer(self) -> BinaryIO:
        """Where bytes go: nowhere, or to the real stream's."""
        return self._nowhere if self._muted.active else self._stream.buffer

    def fileno(self) -> int:
        """What a subprocess would write to: nowhere, or the real stream's."""
        return self._nowhere.fileno() if self._muted.active else self._stream.fileno()

    def write(self, text: str, /) -> int:
        """Count it and let it go; pass it on when that is over."""
        if not self._muted.active:
            return self._stream.write(text)
        self._muted.writes += 1
        return len(text)

    def flush(self) -> None:
        """Pass it on when the muting is over."""
        if not self._muted.active:
            self._stream.flush()

    def writable(self) -> bool:
        """Whatever prints may ask."""
        return True
