"""What a framework keeps of the programs that it made of functions."""

from collections.abc import Mapping, Sequence
from typing import Any

Args = Sequence[Any]
Kwargs = Mapping[str, Any]
Invocation = tuple[Any, Args, Kwargs]  # a function, and all that it is called with


class KeptPrograms:
    """The programs in a framework's caches; what a framework does not tell is not known here."""

    def calls(self, function: Any) -> Sequence[Invocation]:  # noqa: ARG002
        """Return the calls that find a program, with shapes for arrays; none where not known."""
        return ()

    def may_be_compiled(self, function: Any) -> bool:  # noqa: ARG002
        """Whether a program of a function that was traced may be there; False where none is."""
        return True

    def are_dropped(self, function: Any, args: Args, kwargs: Kwargs) -> bool:  # noqa: ARG002
        """Whether none is left that such a call could find; False where that is not known."""
        return False

    def may_be_unseen(self, function: Any) -> bool:  # noqa: ARG002
        """Whether some of a function may have been made while nothing was recorded."""
        return True
