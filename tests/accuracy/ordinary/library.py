"""One library: what its snippets need, and the snippets."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """One library.

    Attributes:
        name: as it is imported.
        setup: a cell that binds what the lines use.
        text: the snippets, one on each line.
        wait: an expression with ``_`` for what the snippet gives: waits for it by hand.
    """

    name: str
    setup: str
    text: str
    wait: str = ""

    @property
    def lines(self) -> list[str]:
        """The snippets."""
        return self.text.strip().splitlines()
