"""A copy of what calls can change in place, and how it is put back."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import CodeType
from typing import Any

from ipyjaxbench import units
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.module_use import together
from ipyjaxbench.frameworks.state.other_writers import OtherWriters, SharedState
from ipyjaxbench.frameworks.state.protocol import MutableState
from ipyjaxbench.frameworks.state.reachable import Reachable
from ipyjaxbench.frameworks.state.undo import DonatedArray, GeneratorState, Held, State
from ipyjaxbench.frameworks.walker import find_arrays

_MOST_FOUND = 25_000  # objects that are looked at before the first call
_MOST_FOUND_BYTES = 256 * 2**20


class Checkpoint:
    """What the code can reach and change in place, as it is now.

    Args:
        roots: values by the names under which the code knows them.
        frameworks: to find and copy arrays.
        names: the user's namespace, whose names others put back.
        codes: what names the roots, as compiled code: what it uses of modules is looked at.
        budget: for copies, if there are to be any; else it is only seen what changed.
        without: a framework whose arrays do not change, and are not kept.
        writers: what they reach is not put back; by default those that run now.
    """

    def __init__(
        self,
        roots: Mapping[str, object],
        frameworks: Sequence[Framework],
        names: Mapping[str, object] | None,
        codes: Sequence[CodeType] = (),
        *,
        budget: CopyBudget | None = None,
        without: Framework | None = None,
        writers: OtherWriters | None = None,
    ) -> None:
        budget = budget or CopyBudget()
        most = budget.most_objects
        self._frameworks, self._roots = frameworks, roots
        self.restores = budget.copies  # whether changes are put back
        self._fill(
            Reachable(
                roots, frameworks, budget, own=names, names=together(codes), most=most,
                without=without,
            ),
            writers or OtherWriters(frameworks, names),
        )  # fmt: skip

    @classmethod
    def from_values(
        cls,
        roots: Mapping[str, object],
        frameworks: Sequence[Framework],
        names: Mapping[str, object] | None,
        codes: Sequence[CodeType] = (),
        writers: OtherWriters | None = None,
    ) -> "Checkpoint":
        """Return one of what is cheap to keep: containers, the user's objects, small arrays."""
        made = cls.__new__(cls)
        made.restores = True
        made._frameworks, made._roots = frameworks, {}
        budget = CopyBudget(_MOST_FOUND_BYTES)
        made._fill(
            Reachable(
                roots, frameworks, budget, own=names, names=together(codes), of_user=True,
                most=_MOST_FOUND,
            ),
            writers or OtherWriters(frameworks, names),
        )  # fmt: skip
        return made

    def _fill(self, reachable: Reachable, writers: OtherWriters) -> None:
        self._shared = SharedState([*reachable.states()], reachable.names, writers)
        self.held: list[Held] = self._shared.own  # what each object holds
        #: Names of what is too large to look at all of it.
        self.cut = [*map(_sized, reachable.cut, reachable.cut.values())]
        #: Names of objects of which it shows what they hold.
        self.known = reachable.names - reachable.opaque - reachable.cut.keys()
        #: Names of objects that hold what is neither read nor put back.
        self.unread = {each.name for each in self.held if not each.state.is_seen}
        self._copies: dict[int, Any] = {}
        self.restored: list[str] = []  # names of what was put back
        self.failed: list[str] = []  # names of what changed and could not be put back
        #: Names of what changed that others can change too, with those others: it stays.
        self.meanwhile: dict[str, str] = {}
        self._put_back: list[State] = []
        #: Bytes of all copies.
        self.nbytes = sum(each.state.nbytes for each in self.held if each.state.can_restore)

    def changed(self) -> list[Held]:
        """Return what holds something else now."""
        return [each for each in self.held if _has_changed(each)]

    def changed_uncopied(self) -> dict[str, str]:
        """Return names of arrays that are others now and were too large to copy, each in words."""
        found: dict[str, int] = {}
        for name, state, _ in self.held:
            if state.nbytes and not state.can_restore and _differs(state):
                found[name] = max(found.get(name, 0), state.nbytes)
        return {name: _sized(name, nbytes) for name, nbytes in found.items()}

    def revived(self, value: Any) -> Any:
        """Return an immutable value, with copies in place of arrays in it that were given away."""
        if issubclass(type(value), list | dict | set):
            return value  # its items are put back
        for framework in self._frameworks if self._copies else ():
            value = framework.capability(MutableState).revived(value, self._copies)
        return value

    def restore(self) -> None:
        """Put back all that was changed; the copies are given up."""
        shared = self._shared.changed()
        self.meanwhile = shared if self.restores else {}
        self.failed += () if self.restores else shared
        every_state, self.held = _in_order(self.held), []
        donated = [each.state for each in every_state if isinstance(each.state, DonatedArray)]
        self._copies = {id(each.array): each.copy for each in donated if each.is_gone()}
        restored: set[int] = set()
        for name, state, key in every_state:
            try:
                if self._restore(name, state):
                    restored.add(key)
            except CODE_ERRORS:  # an object of the user's may refuse anything
                self.failed.append(name)
        roots, self._roots = self._roots, {}
        # An optimizer leads to the parameters first, and the model holds them too.
        self.restored += [
            name
            for name, value in roots.items()
            if restored and "." not in name and restored & self._arrays_in(value)
        ]

    def _arrays_in(self, value: object) -> set[int]:
        return {id(found.array) for found in find_arrays(value, self._frameworks)}

    def restore_again(self) -> None:
        """Put back what was put back once and changed since: objects that died may run code."""
        every_state, self._put_back = self._put_back, []
        for state in every_state:
            with suppress(*CODE_ERRORS):
                if state.changed():
                    state.restore()

    def _restore(self, name: str, state: State) -> bool:
        """Put back what was changed; return whether it was."""
        if isinstance(state, GeneratorState):
            state.restore()
            return False
        if self._copies:
            state.replace(self.revived)
        if state.changed():
            if not (state.can_restore and self.restores):
                self.failed.append(name)
                return False
            state.restore()
            self._put_back.append(state)
            self.restored.append(name)
            return True
        return False


def _in_order(held: Sequence[Held]) -> list[Held]:
    """Return them in the order in which they are put back."""
    first = [each for each in held if each.state.goes_first]
    return [*first, *(each for each in held if not each.state.goes_first)] if first else [*held]


def _sized(name: str, nbytes: int) -> str:
    return f"{name} ({units.size(nbytes)})" if nbytes else name


def _has_changed(held: Held) -> bool:
    return held.state.can_restore and _differs(held.state)


def _differs(state: State) -> bool:
    try:
        return state.changed()
    except CODE_ERRORS:  # an object of the user's may raise when it is compared
        return False
