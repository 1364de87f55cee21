"""What traced code changes outside of itself, of what a call reaches by name, and its way back.

Code that keeps what it computes, in an attribute, a list or a global, keeps a tracer while it is
traced: an object that stands for numbers, and has none. Used later, it fails.
"""

import functools
import gc
from abc import ABC, abstractmethod
from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any, Self

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import (
    Buffer,
    CellName,
    ClassNames,
    CopyBudget,
    DictNames,
    Entries,
    GeneratorState,
    Items,
    Names,
    State,
    attribute_states,
)
from ipyjaxbench.graphs import notes
from ipyjaxbench.reports import Note
from ipyjaxbench.usercode import (
    attributes,
    is_exactly,
    is_of,
    is_users_class,
    is_users_function,
    is_users_module,
    items_of,
    mro_of,
    name_of,
    names_in,
    parts_of_callable,
    unwrap,
)

_MOST_ENTERED, _MOST_COPIED = 10_000, 100_000  # items of a container
_ATOMS = (bool, int, float, complex, str, bytes, type(None), ModuleType)
_FIXED = (type, ModuleType, FunctionType)  # no tracer is looked for in their attributes

#: A value with the name under which the code reaches it; None where that is not worth a word.
Named = tuple[str | None, Any]


@dataclass(frozen=True)
class SideEffects:
    """Names of what traced code changed outside of itself."""

    tracers_restored: tuple[str, ...] = ()  # what kept a tracer, and is as it was
    tracers_leaked: tuple[str, ...] = ()  # what keeps one still
    restored: tuple[str, ...] = ()  # what else was changed, and is as it was
    not_restored: tuple[str, ...] = ()  # what else was changed, and is not
    drawn: tuple[str, ...] = ()  # what random numbers were drawn from; it is as it was

    def tracer_notes(self, what: str = "tracer") -> Iterator[Note]:
        """Say where code kept tracers, as the framework calls them."""
        for names, put_back in ((self.tracers_restored, True), (self.tracers_leaked, False)):
            if names:
                yield notes.tracer_kept(names, put_back=put_back, what=what)


class UndoLog(ABC):
    """What values lead to by name, as it is now; all of it is put back on leaving the context.

    A framework extends it: it says what its tracers are, and what it alone has.

    Args:
        roots: the function that is called, and what it is given.
        held: settings of the process, by name.
    """

    most = 50_000  # places that are looked at, the nearest first
    with_keys = False  # whether names say under which key of a container something stands

    def __init__(
        self, roots: Iterable[Named], held: Iterable[tuple[str | None, State]] = ()
    ) -> None:
        self.side_effects = SideEffects()  # filled on leaving
        self.budget = CopyBudget()
        self._states = [*held]
        self._seen: dict[int, object] = {}  # with the object, so that no other one gets its id
        self._follow(roots)

    @abstractmethod
    def is_tracer(self, value: Any) -> bool:
        """Whether a value stands for numbers, and has none."""

    @abstractmethod
    def leaves(self, tree: Any) -> list[Any]:
        """Return what a tree of the framework's holds."""

    @abstractmethod
    def is_entered(self, value: Any) -> bool:
        """Whether the code may keep something in the attributes of an object."""

    @abstractmethod
    def parts_of(self, name: str | None, value: Any) -> Iterable[Named] | None:
        """Return what the framework knows a value to lead to; None for what it does not know."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        names_by_field: dict[str, dict[str, None]] = {}
        for name, state, changes in self._changes():
            try:
                state.restore()
                is_back = state.can_restore
            except CODE_ERRORS:  # an object of the user's may refuse anything
                is_back = False
            for step, has_tracer in changes:
                if name is not None:
                    field = _field(state, has_tracer=has_tracer, is_back=is_back)
                    names_by_field.setdefault(field, {})[name + step] = None
        self._states.clear()
        self.side_effects = SideEffects(
            **{field: tuple(names) for field, names in names_by_field.items()}
        )

    def _changes(self) -> list[tuple[str | None, State, list[tuple[str, bool]]]]:
        """Return what holds something else: name by name, and whether that is a tracer."""
        changes = []
        for name, state in self._states:
            with suppress(*CODE_ERRORS):  # objects of the user's may refuse to be looked at
                arrivals = [(n, any(map(self._has_tracer, came))) for n, came in state.arrivals()]
                # What a cache keeps beside tracers holds at every call.
                if any(t for _, t in arrivals) if type(state) is _Cache else arrivals:
                    changes.append((name, state, arrivals))
        return changes

    def _has_tracer(self, value: Any) -> bool:
        """Whether a value is a tracer, or holds one; what an object holds is looked at too."""
        try:
            leaves = self.leaves(value)
            if any(map(self.is_tracer, leaves)):
                return True
            held = [attributes(each) for each in leaves if not is_of(each, *_FIXED)]
            return any(self.is_tracer(leaf) for each in held for leaf in self.leaves(each))
        except CODE_ERRORS:  # objects of the user's may refuse to be looked at
            return False

    def _follow(self, roots: Iterable[Named]) -> None:
        ahead = deque(roots)
        while ahead and len(self._states) < self.most:
            name, value = ahead.popleft()
            if self._is_new(value):
                with suppress(*CODE_ERRORS):  # objects of the user's may refuse to be looked at
                    ahead.extend(self._look(name, value))

    def _is_new(self, value: Any) -> bool:
        if id(value) in self._seen or is_exactly(value, *_ATOMS):
            return False
        self._seen[id(value)] = value
        return True

    def _look(self, name: str | None, value: Any) -> Iterable[Named]:
        """Hold what a value holds; return what that leads to."""
        kind = type(value)
        known = self.parts_of(name, value)
        if known is not None:
            return known
        if kind is FunctionType:
            return [*self._look_at_function(value)]
        if kind is functools._lru_cache_wrapper:
            self.hold(name, _Cache(value))
        parts = parts_of_callable(value)
        if parts is not None:
            owner = value.__self__ if kind is MethodType else None
            own_name = name_of(owner) if is_of(owner, type) else "self"
            own = self.hold_attributes(name, value) if issubclass(kind, functools.partial) else ()
            named = ((own_name if each is owner else name, each) for each in parts)
            return [*own, *named]
        if issubclass(kind, type):
            return [*self._look_at_class(name, value)]
        if issubclass(kind, bytearray | array):
            self.hold(name, Buffer(value, self.budget))
            return ()
        if issubclass(kind, dict | list | set | deque | tuple | frozenset):
            return self.look_into(name, value)
        return self.look_at_object(name, value) if self.is_entered(value) else ()

    def look_into(self, name: str | None, values: Any) -> Iterable[Named]:
        """Hold the items of a container; return those that are entered."""
        is_dict = is_of(values, dict)
        items = [*items_of(values, 0)]
        if len(items) <= _MOST_COPIED and not is_of(values, tuple, frozenset):
            self.hold(name, Entries(values) if is_dict else Items(values))
        if len(items) > _MOST_ENTERED:
            return ()
        if name is None or not self.with_keys:
            return [(name, each) for each in items]
        keys = [*dict.keys(values)] if is_dict else range(len(items))
        steps = (f"[{key!r}]" if is_exactly(key, str, int) else "" for key in keys)
        return [(name + step, each) for step, each in zip(steps, items, strict=True)]

    def look_at_object(self, name: str | None, value: Any) -> list[Named]:
        """Hold the attributes of an object and of its class; return their values."""
        kind = type(value)
        return [*self.hold_attributes(name, value), (None if name is None else name_of(kind), kind)]

    def hold_attributes(self, name: str | None, value: Any) -> list[Named]:
        """Hold the attributes of an object; return their values."""
        states = attribute_states(value)
        return [pair for each in states for pair in self.hold_names(name, ".", each)]

    def _look_at_class(self, name: str | None, kind: type) -> Iterator[Named]:
        for each in mro_of(kind):
            if is_users_class(each):
                place = ClassNames(each)
                yield from self.hold_names(name and name_of(each), ".", place)

    def _look_at_function(self, function: FunctionType) -> Iterator[Named]:
        name = function.__name__
        yield name, unwrap(function)
        if not is_users_function(function):
            return
        yield from self.hold_attributes(name, function)
        used, known = names_in(function.__code__), function.__globals__
        yield from self.hold_names("", "", DictNames(known, used))
        for each in used:
            module = known.get(each)
            if type(module) is ModuleType and is_users_module(module):
                place = DictNames(vars(module), used)
                yield from self.hold_names(each, ".", place)
        free = function.__code__.co_freevars
        for cell in zip(free, function.__closure__ or (), strict=True):
            yield from self.hold_names("", "", CellName(*cell))
        code, values = function.__code__, function.__defaults__ or ()
        positional = code.co_varnames[: code.co_argcount]
        yield from zip(positional[len(positional) - len(values) :], values, strict=True)
        yield from (function.__kwdefaults__ or {}).items()

    def hold(self, name: str | None, state: State) -> None:
        """Have something put back."""
        self._states.append((name, state))

    def hold_names(self, name: str | None, step: str, names: Names) -> list[Named]:
        """Have what names stand for put back; return that."""
        prefix = None if name is None else name + step
        self.hold(prefix, names)
        return [(None if prefix is None else prefix + n, value) for n, value in names.named]


class _Cache(State):
    """What `functools.cache` or `lru_cache` keeps; it can only be emptied."""

    def _read(self) -> list[int]:
        return [self._target.cache_info().misses]

    def restore(self) -> None:
        """Empty it."""
        self._target.cache_clear()

    def arrivals(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield all that it keeps, which nothing public tells."""
        if self.changed():
            # Results are held by the cache itself where it has a size, else by its dictionary.
            held = [each for each in gc.get_referents(self._target) if not callable(each)]
            yield "", [*held, *(each for one in held for each in gc.get_referents(one))]


def _field(state: State, *, has_tracer: bool, is_back: bool) -> str:
    """Return which attribute of `SideEffects` tells of a change."""
    if isinstance(state, GeneratorState):
        return "drawn"
    if has_tracer:
        return "tracers_restored" if is_back else "tracers_leaked"
    return "restored" if is_back else "not_restored"
