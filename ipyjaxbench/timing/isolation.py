"""Puts back what running code changes in the user's session: names, random state, arguments."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FunctionType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import (
    Compilation,
    Framework,
    MutableState,
    find_arrays,
    globals_set_in,
)
from ipyjaxbench.usercode import Namespace, Snippet, ask

_MISSING = object()


class Snapshot:
    """The values of some names and all random states at one moment.

    With ``any_name`` these are all names, and those that come later go again.
    """

    def __init__(
        self,
        names: Namespace,
        bound: Sequence[str],
        frameworks: Sequence[Framework],
        *,
        later: bool,
        any_name: bool = False,
    ) -> None:
        self._names, self._any_name = names, any_name
        every_name = filter(_is_users, names) if any_name else ()
        self._values = {name: names.get(name, _MISSING) for name in (*bound, *every_name)}
        values = list(names.values())  # among them generators with a state of their own
        states = (
            framework.capability(MutableState).random_state(values, later=later)
            for framework in frameworks
        )
        # names that were given copies of arrays that calls had given away
        self.revived: list[str] = []
        self._restores = [restore for restore in states if restore is not None]

    def restore(
        self, frameworks: Sequence[Framework], revived: Callable[[Any], Any] | None = None
    ) -> list[str]:
        """Put everything back; ``revived`` puts copies in place of arrays that were given away.

        Names are returned that keep their newest value, as arrays of the old one were given away.
        """
        lost = []
        if self._any_name:
            new = [*filter(_is_users, self._names.keys() - self._values.keys())]
            self._values |= dict.fromkeys(new, _MISSING)
        for name, old in self._values.items():
            value = old if revived is None or old is _MISSING else revived(old)
            if value is not old:
                self.revived.append(name)
            if name not in self._names and value is _MISSING:
                continue
            if value is _MISSING:
                del self._names[name]
            elif self._names.get(name, _MISSING) is not value and not all_alive(value, frameworks):
                lost.append(name)
            else:
                self._names[name] = value
        for restore in self._restores:
            try:
                restore()
            except Exception:  # noqa: BLE001  a device that fails has many ways to say so
                lost.append("random state")
        return lost


def _is_users(name: str) -> bool:
    """Whether it is no name of a compiler's, which keeps some of its own there."""
    return not name.startswith("_")


def find_rebound_names(functions: Sequence[object], names: Namespace) -> list[str]:
    """Return names that functions of the user's bind in this namespace, as by ``global n``."""
    bound: dict[str, None] = {}
    for function in functions:
        if type(function) is FunctionType and function.__globals__ is names:
            bound |= dict.fromkeys(sorted(globals_set_in(function.__code__)))
    return list(bound)


def all_alive(value: object, frameworks: Sequence[Framework]) -> bool:
    """Whether none of the arrays inside of ``value`` was given away."""
    return all(found.framework.alive(found.array) for found in find_arrays(value, frameworks))


class Donated:
    """Fresh copies of arguments that each call gives away."""

    def __init__(
        self,
        snippet: Snippet,
        values: Mapping[str, object],
        functions: Sequence[object],
        frameworks: Sequence[Framework],
    ) -> None:
        self._names = snippet.names
        self._frameworks = frameworks
        self._copies: dict[str, tuple[Callable[[Any], Any], object]] = {}
        self.is_possible = False  # whether any of the functions gives arguments away
        for framework in frameworks:
            donates = framework.capability(Compilation).donates
            if not any(ask(donates, function) for function in functions):
                continue
            self.is_possible = True
            copy = framework.capability(MutableState).copy
            for name, value in values.items():
                arrays = find_arrays(value, [framework])
                if name not in snippet.binds and arrays and not callable(value):
                    # What cannot be copied is not the user's error: the code then runs once.
                    with suppress(*CODE_ERRORS):
                        if (copied := copy(value)) is not None:
                            self._copies[name] = copy, copied
        self._before = {name: self._names[name] for name in self._copies}
        self._spared: set[str] = set()

    def forget_unused(self) -> list[str]:
        """After the first call: forget all copies but those of what was given away."""
        for name in list(self._copies):
            used = self._names[name] if name in self._spared else self._before[name]
            if all_alive(used, self._frameworks):
                self._names[name] = self._before.pop(name)
                del self._copies[name]
        return list(self._copies)

    def donate_copies(self) -> None:
        """Have the first call, too, give away copies."""
        self._spared = set(self._copies)
        self.refresh()

    def refresh(self) -> None:
        """Bind a fresh copy to each name, for one call."""
        for name, (copy, value) in self._copies.items():
            self._names[name] = copy(value)

    def restore(self) -> None:
        """Bind the user's own objects again, given away as one run leaves them."""
        self._names.update(self._before)
