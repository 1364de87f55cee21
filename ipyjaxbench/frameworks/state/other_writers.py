"""What other threads, tasks of the event loop and processes can change while calls are made.

Such a change is not the code's: to put it back would lose what the other one wrote.
"""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.reachable_functions import find_reach
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.module_use import globals_set_in, together
from ipyjaxbench.frameworks.state.reachable import Reachable
from ipyjaxbench.frameworks.state.undo import Held, State
from ipyjaxbench.usercode import (
    OtherCode,
    find_other_code,
    is_users_function,
    names_in,
    texts_in,
)

_MOST = 20_000  # objects that are looked at for each thread
_UNKNOWN = "?"  # begins names that are not the user's


class _Writer(NamedTuple):
    name: str  # of the thread or task, as in "thread 'adder'"
    held: list[Held]  # what each object holds that it reaches, as it is now
    binds: frozenset[str]  # globals of the user's that it binds
    cut: frozenset[str]  # names of what holds too many objects to look at all of them


class OtherWriters:
    """Those that run code of the user's now, with what they reach.

    Args:
        frameworks: to find arrays.
        names: the user's namespace; None where that is not known.

    Attributes:
        found: they.
        binds: globals of the user's that one of them binds, with which.
    """

    def __init__(
        self, frameworks: Sequence[Framework], names: Mapping[str, object] | None = None
    ) -> None:
        self._frameworks, self._names = frameworks, names
        others = {each.reach: each for each in find_other_code()}
        self.found = [self._writer(each) for each in others.values()]
        #: Whether `multiprocessing` has started processes, which may have memory in common with us.
        self.has_processes = _has_processes()
        self.binds = {name: each.name for each in self.found for name in each.binds}

    def values(self, read: Iterable[str]) -> dict[str, object]:
        """Return what names that code reads stand for now, as far as one of them binds these."""
        return {n: (self._names or {}).get(n) for n in read if n in self.binds}

    def _writer(self, other: OtherCode) -> _Writer:
        reach = find_reach(other.values.values(), self._frameworks)
        names = [*(self._names or {}).items()]  # a thread may bind more of them meanwhile
        known = {id(value): name for name, value in names if not name.startswith("_")}
        # A thread may know the user's objects by other names.
        every = (*reach.values.items(), *other.values.items(), *self._looked_up(other))
        reachable = Reachable(
            {known.get(id(value), f"{_UNKNOWN}{name}"): value for name, value in every},
            self._frameworks,
            CopyBudget(0),  # their arrays are looked at, and not copied
            own=self._names,
            names=together(other.codes),
            most=_MOST,
        )
        own = (f for f in reach.functions if is_users_function(f) and f.__globals__ is self._names)
        codes = (*other.codes, *(f.__code__ for f in own))
        binds = frozenset(name for code in codes for name in globals_set_in(code))
        held = [h._replace(name=known.get(h.key, h.name)) for h in reachable.objects()]
        return _Writer(other.name, held, binds, frozenset(reachable.cut))

    def _looked_up(self, other: OtherCode) -> Iterator[tuple[str, object]]:
        """Yield what code of another looks up by names that are written in it."""
        names = self._names or {}
        for code in other.codes:
            if "globals" in names_in(code):
                yield from ((each, names[each]) for each in texts_in(code) if each in names)


class SharedState:
    """Of what the code can change, what other threads can change too, and what is its alone.

    Args:
        held: what each object holds that the code reaches.
        read: names that it reads.
        writers: the others.

    Attributes:
        own: what is the code's alone.
    """

    def __init__(self, held: Sequence[Held], read: Collection[str], writers: OtherWriters) -> None:
        self._read, self._writers = read, writers
        self._values = writers.values(read)
        shared = [h for h in held if h.state.is_shared and writers.has_processes]
        #: What is not the code's alone, with those that reach it.
        self._held = [("another process", each) for each in shared]
        reached = {each.key for each in held}
        for other in writers.found:
            keys = {each.key for each in other.held}
            places = {each.state.address for each in other.held} - {0}
            both = [h for h in held if h.key in keys or h.state.address in places]
            both += [h for h in held if h.name in other.cut and h.key not in keys]
            if both or not other.binds.isdisjoint(read):
                named = (h for h in other.held if not h.name.startswith(_UNKNOWN))
                beyond = (_now(each) for each in named if each.key not in reached)
                self._held += [(other.name, each) for each in (*both, *beyond)]
        apart = {each.key for _, each in self._held}
        self.own = [each for each in held if each.key not in apart]

    def changed(self) -> dict[str, str]:
        """Return names of what changed that others reach, and by which of them each is reached.

        Those that the code does not reach are among them: a thread may move there what it is sent.
        """
        held, self._held = self._held, []
        names = self._writers.values(self._read)
        rebound = [n for n, value in self._values.items() if names[n] is not value]
        found = {n: self._writers.binds[n] for n in rebound}
        for other, each in held:
            if _has_changed(each.state):
                found.setdefault(each.name, other)
        return found


def _has_processes() -> bool:
    known = vars(sys.modules.get("multiprocessing.process", sys)).get("_children")
    return bool(known)  # `active_children` would wait for those that have ended


def _now(held: Held) -> Held:
    return held._replace(state=held.state.again())


def _has_changed(state: State) -> bool:
    try:
        return state.changed()
    except CODE_ERRORS:  # it changes while it is looked at
        return True
