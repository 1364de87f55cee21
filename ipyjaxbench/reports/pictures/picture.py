"""What every picture can do: be drawn, be printed, be read aloud, become a figure."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.reports.pictures.drawing import Drawing

#: Pieces of a line of text, each with its style in a terminal ("" is plain).
Spans = tuple[tuple[str, str], ...]
NARROW = 60  # columns: below that nothing stands side by side


class Picture(ABC):
    """A block of a report that is seen before it is read."""

    @abstractmethod
    def draw(self) -> Drawing:
        """Return the picture for a page."""

    @abstractmethod
    def lines(self, columns: int, labels: int = 0) -> Iterator[Spans]:
        """Yield the same picture as lines of block characters.

        Args:
            columns: how wide the page is.
            labels: how wide the labels of the rest of the report are, to stand under them.
        """

    @abstractmethod
    def describe(self) -> str:
        """Return the picture in words, for those who do not see it."""

    @abstractmethod
    def plot(self, axes: Any) -> None:
        """Draw the same picture on matplotlib's Axes."""
