"""What code prints: kept from the notebook and counted, or recorded."""

import os
import sys
import threading
from collections.abc import Callable
from io import TextIOBase
from typing import Any, BinaryIO, TextIO, cast

from ipyjaxbench.host.clock import Clock
from ipyjaxbench.usercode.exclusive_section import ExclusiveSection

#: When something was written, in seconds, and what.
Written = tuple[float, str]


class Muted:
    """A context in which standard output and error go nowhere.

    What tasks print that go on beside a measurement that awaits is shown, and what cells print
    while another thread than theirs measures.

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
        self._active = self._is_beside = False
        self._section: ExclusiveSection | None = None
        self._nowhere: BinaryIO | None = None

    @property
    def is_on(self) -> bool:
        """Whether it was entered and not left."""
        return self._active

    @property
    def active(self) -> bool:
        """Whether what the code that runs now writes goes nowhere."""
        if not self._active or (self._is_beside and _is_main()):
            return False
        return self._section is None or not self._section.is_elsewhere()

    def __enter__(self) -> "Muted":
        self._nowhere = open(os.devnull, "wb")
        sys.stdout = cast(TextIO, _Quiet(sys.stdout, self._nowhere, self))
        sys.stderr = cast(TextIO, _Quiet(sys.stderr, self._nowhere, self))
        self._active, self._section = True, ExclusiveSection.current()
        self._is_beside = not _is_main()  # code that runs there never starts the main thread
        return self

    def __exit__(self, *error: object) -> None:
        self._active = False
        sys.stdout, sys.stderr = _unmuted(sys.stdout), _unmuted(sys.stderr)
        if self._nowhere is not None:
            self._nowhere.close()


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _unmuted(stream: object) -> Any:
    """The stream below stand-ins whose time is over; another thread's are left alone."""
    while isinstance(stream, _Quiet) and not stream.is_needed:
        stream = stream.stream
    return stream


class _Quiet(TextIOBase):
    """A stand-in for a stream. Who keeps it, as a logging handler does, writes to the real one.

    Attributes:
        stream: the real one.
    """

    def __init__(self, stream: TextIO, nowhere: BinaryIO, muted: Muted) -> None:
        self.stream, self._nowhere, self._muted = stream, nowhere, muted

    @property
    def is_needed(self) -> bool:
        """Whether the muting is on, wherever code runs now."""
        return self._muted.is_on

    def __getattr__(self, name: str) -> Any:
        """What the real one has beside; a kernel tells it for which cell it writes."""
        return getattr(self.stream, name)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The real stream's."""
        return self.stream.encoding or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """The real stream's."""
        return self.stream.errors

    @property
    def buffer(self) -> BinaryIO:
        """Where bytes go: nowhere, or to the real stream's."""
        return self._nowhere if self._muted.active else self.stream.buffer

    def fileno(self) -> int:
        """What a subprocess would write to: nowhere, or the real stream's."""
        return self._nowhere.fileno() if self._muted.active else self.stream.fileno()

    def write(self, text: str, /) -> int:
        """Count it and let it go; pass it on when that is over."""
        if not self._muted.active:
            return self.stream.write(text)
        self._muted.writes += 1
        return len(text)

    def flush(self) -> None:
        """Pass it on when the muting is over."""
        if not self._muted.active:
            self.stream.flush()

    def writable(self) -> bool:
        """Whatever prints may ask."""
        return True


class OutputRecorder:
    """Records what is written to standard output while the context is open, thread by thread.

    The stream stays the one that it is: others may look at its other methods, or replace it.
    """

    def __init__(self) -> None:
        self._clock = Clock.elapsed()
        self._here = threading.local()
        self._stream: Any = None

    def __enter__(self) -> "OutputRecorder":
        stream = sys.stdout
        write: Callable[[str], int] = stream.write

        def record(text: str) -> int:
            written: list[Written] | None = getattr(self._here, "written", None)
            if written is not None:
                written.append((self._clock.now() * 1e-9, text))
            return write(text)

        try:
            stream.write = record  # type: ignore[method-assign]
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
