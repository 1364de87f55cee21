"""Keeps what repeated calls print from flooding the notebook, and counts it."""

from contextlib import redirect_stderr, redirect_stdout
from io import TextIOBase


class Muted(TextIOBase):
    """A context in which standard output and error go nowhere.

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
        self._streams = (redirect_stdout(self), redirect_stderr(self))

    def write(self, text: str, /) -> int:
        """Count it and let it go."""
        self.writes += 1
        return len(text)

    def writable(self) -> bool:
        """Whatever prints may ask."""
        return True

    def __enter__(self) -> "Muted":
        for stream in self._streams:
            stream.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        for stream in reversed(self._streams):
            stream.__exit__(None, None, None)
