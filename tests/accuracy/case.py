"""One expression: what a user types, and the same with the waiting written out by hand."""

from dataclasses import dataclass
from typing import Any

Names = dict[str, Any]
_HAND = "; sync()"


@dataclass(frozen=True)
class Case:
    """One expression.

    Its set-up may bind ``sync``, which waits by hand for all that was started, and ``place``, the
    name of the device.

    Attributes:
        name: its line in the table.
        typed: what the user types after ``%fwtime`` and ``%timeit``.
        truth: the same with waiting by hand, run in a loop that reads the clock; by default what
            is typed. ``; sync()`` at its end is left out where nothing runs on.
        setup: run before the looks, and before each look at a first call.
        dirt: run before our look and before each peer's, to leave work running.
        first: whether the first call is compared instead of the steady state.
        coverage: whether its interval is held against repeated runs.
        why: a reason why our figure may lie outside of the bars.
    """

    name: str
    typed: str
    truth: str = ""
    setup: str = ""
    dirt: str = ""
    first: bool = False
    coverage: bool = False
    why: str = ""

    def names(self) -> Names:
        """A namespace in which the expression can run."""
        names: Names = {"__name__": "case"}
        self.prepare(names)
        return names

    def prepare(self, names: Names) -> None:
        """Run the set-up, anew if it ran before."""
        exec(self.setup, names)

    def by_hand(self, names: Names) -> str:
        """The truth's code for the device that the set-up found."""
        code = self.truth or self.typed
        return code if "sync" in names else code.removesuffix(_HAND)


def settle(names: Names) -> None:
    """Let what an earlier look left running come to its end."""
    if "sync" in names:
        names["sync"]()
