"""What is written to standard output meanwhile; it is written all the same."""

import sys
import threading
from collections.abc import Callable
from typing import Any

from ipyjaxbench.host.clock import Clock

#: When something was written, in seconds, and what.
Written = tuple[float, str]


class Printed:
    """Listens to standard output while the context is open, thread by thread.

    The stream stays the one that it is: others may look at its other methods, or replace it.
    """

    def __init__(self) -> None:
        self._clock = Clock.elapsed()
        self._here = threading.local()
        self._stream: Any = None

    def __enter__(self) -> "Printed":
        stream = sys.stdout
        write: Callable[[str], int] = stream.write

        def heard(text: str) -> int:
            written: list[Written] | None = getattr(self._here, "written", None)
            if written is not None:
                written.append((self._clock.now() * 1e-9, text))
            return write(text)

        try:
            stream.write = heard  # type: ignore[method-assign]
        except AttributeError:  # it takes no new attributes: nothing is heard
            return self
        self._stream = stream
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None and "write" in vars(self._stream):
            del self._stream.write

    def begin(self) -> list[Written] | None:
        """Listen to this thread; gives what it listened to before, for `end`."""
        before: list[Written] | None = getattr(self._here, "written", None)
        self._here.written = []
        return before

    def end(self, before: list[Written] | None) -> list[Written]:
        """What was written since."""
        written: list[Written] = self._here.written
        self._here.written = before
        return written
