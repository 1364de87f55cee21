"""Processes that run what they are sent: ipyparallel's engines or Dask's workers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Pending(Protocol):
    """What one engine will return."""

    def done(self) -> bool:
        """Return whether it has returned, raised or died."""

    def result(self) -> Any:
        """Return what it has returned; raise what it has raised."""


class Engines(ABC):
    """Some of the engines of one client, in order.

    Attributes:
        labels: what each is called, such as "engine 0".
        numbers: by which users choose them.
    """

    labels: tuple[str, ...]
    numbers: tuple[int, ...]

    @abstractmethod
    def submit(self, index: int, function: Callable[..., Any], *args: Any) -> Pending:
        """Have one engine call a function; arguments that are its own names stay there."""

    @abstractmethod
    def abort(self, pending: Pending) -> None:
        """Take back what an engine has not begun."""

    @abstractmethod
    def interrupt(self, indices: Sequence[int]) -> None:
        """Send Ctrl-C to engines."""

    @abstractmethod
    def send_mark(self, index: int) -> Pending | None:
        """Have an engine answer when it has done all that it was sent before.

        Returns:
            That answer; None where engines do several things at a time.
        """

    @abstractmethod
    def is_alive(self, index: int) -> bool:
        """Return whether an engine is still there."""

    @abstractmethod
    def cause(self, error: BaseException) -> tuple[str, str]:
        """Return the class of an error that an engine raised, and its message."""

    @abstractmethod
    def choose(self, indices: Sequence[int]) -> "Engines":
        """Return some of them, by their places among these."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.labels)
