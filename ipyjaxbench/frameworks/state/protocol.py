"""What a framework knows of values that calls change in place."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ipyjaxbench.frameworks.framework import Capability
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.undo import State

Restore = Callable[[], None]


def restore_together(states: Sequence[State]) -> Restore:
    """Return a function that puts back what some objects hold now."""

    def restore() -> None:
        for state in states:
            state.restore()

    return restore


class MutableState(Capability):
    """Finds what calls change of a framework's values, copies it and puts it back."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:  # noqa: ARG002
        """Remember the global random state, and that of generators among ``values``.

        Args:
            values: what the names in the code stand for.
            later: the calls that follow are repetitions; they may get other numbers.

        Returns:
            A function that puts it back; None where there is no such state.
        """
        return None

    def states(self, value: object, budget: CopyBudget) -> Sequence[State] | None:  # noqa: ARG002
        """Remember what calls can change in place of a value of the framework's.

        Args:
            value: anything; no code of it is run.
            budget: for copies of numbers.

        Returns:
            An empty sequence for what never changes; None for what is not the framework's, or is a
            plain object with attributes.
        """
        framework = self.framework
        return () if framework.immutable and framework.owns(type(value)) else None

    def moves_unseen(self, function: Any) -> bool:  # noqa: ARG002
        """Whether each call of something compiled changes what nothing shows."""
        return False

    def settings(self) -> Iterable[tuple[str, State]]:
        """Remember the framework's settings for the whole process, by what they are called."""
        return ()

    def left_anywhere(self) -> Iterable[tuple[str, State]]:
        """Remember what calls leave with objects to which nothing leads, by what it is called.

        Asked where the code reaches any value of the framework's.
        """
        return ()

    @property
    def counts_changes(self) -> bool:
        """Whether any array has such a count: else none needs to be found for it."""
        return type(self).mutation_count is not MutableState.mutation_count

    def mutation_count(self, array: Any) -> int | None:  # noqa: ARG002
        """Return a count that rises when the array is changed in place; None if there is none."""
        return None

    def changes_in_place(self, method: str) -> bool:  # noqa: ARG002
        """Whether a method of this name changes the array that it is called on."""
        return False

    def copy(self, value: Any) -> Any | None:  # noqa: ARG002
        """Copy a container with fresh arrays; None where that cannot be done, or not safely."""
        return None

    def revived(self, value: Any, copies: Mapping[int, Any]) -> Any:  # noqa: ARG002
        """Return an immutable value with copies in place of arrays in it that were given away.

        Args:
            value: anything.
            copies: by identity of the array.
        """
        return value
