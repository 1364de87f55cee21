"""What user code changes outside of itself while it is traced, and how it is put back.

A look changes nothing: what the code changes is as it was when the look ends. What keeps a value
keeps a tracer then: an object that stands for numbers, and has none. Used later, it fails.
"""

import contextlib
import functools
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Protocol

import jax
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.graphs.arguments import is_leaf
from ipyjaxbench.adapters.jax.graphs.restore import (
    Change,
    Names,
    Numbers,
    Source,
    Values,
    is_source,
)
from ipyjaxbench.adapters.jax.graphs.settings import Settings
from ipyjaxbench.adapters.jax.jit import is_jitted
from ipyjaxbench.adapters.jax.origin import is_users, is_users_class
from ipyjaxbench.frameworks.state.mappings import Attributes, Cell, Slots
from ipyjaxbench.usercode import objects as looks
from ipyjaxbench.usercode.call import Call

_MOST = 500  # places that are looked at
_LONGEST = 10_000  # items of a container that is looked into
#: These stay what they are; the modules that code uses are looked at by name.
_NOT_CHANGED = (jax.Array, ModuleType, str, int, float, complex, type(None))


class _Place(Protocol):
    def changes(self) -> Iterator[Change]: ...


@dataclass(frozen=True)
class Left:
    """What user code changed outside of itself.

    Attributes:
        kept: names that kept a tracer, and are as they were.
        lost: those that keep one still.
        changed: other names, which are as they were.
        stays: those that are not.
        drawn: what random numbers were drawn from; it is as it was.
    """

    kept: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()


class Kept:
    """What a call's function can reach by name, and what holds for the process, as it is now.

    Args:
        call: whose function it is; data among its arguments is not looked into.
    """

    def __init__(self, call: Call) -> None:
        self._places: list[_Place] = [Settings()]
        self._seen: set[int] = set()
        self._waiting: deque[tuple[str, Any]] = deque()
        self._waiting.append(("self", call.function))
        for name, value in [*zip(call.labels, call.args, strict=True), *call.kwargs.items()]:
            # The trees that arguments are, and their arrays, are copies when the code runs.
            objects = (leaf for leaf in trees.leaves(value) if not is_leaf(leaf))
            self._later((name, each) for each in objects)
        while self._waiting and len(self._places) < _MOST:  # the nearest first
            name, value = self._waiting.popleft()
            if id(value) not in self._seen:
                self._seen.add(id(value))
                with contextlib.suppress(Exception):  # objects may refuse to be looked at
                    self._look(name, value)

    def put_back(self) -> Left:
        """Undo what happened since.

        Returns:
            The names of what was changed.
        """
        done: dict[str, dict[str, None]] = {}
        for change in [each for place in self._places for each in place.changes()]:
            kind = _undone(change)
            done.setdefault(kind, {})[change.name] = None
        return Left(**{kind: tuple(names) for kind, names in done.items()})

    def _look(self, name: str, value: Any) -> None:
        """Keep what a value holds; what that leads to comes later."""
        if looks.is_a(value, *_NOT_CHANGED):
            return
        if (inner := _wrapped(name, value)) is not None:
            self._later(inner)
            return
        match value:
            case FunctionType():
                self._look_at_function(name, value)
            case list() | dict() | set() | deque():
                self._look_into(name, value)
            case type():
                self._look_at_class(value)
            case np.ndarray():
                self._places.append(Numbers(name, value))
            case _ if is_source(value):
                self._places.append(Source(name, value))
            case _:
                self._look_at_object(name, value)

    def _look_into(self, name: str, values: Any) -> None:
        if len(values) <= _LONGEST:
            self._places.append(Values(name, values))
            inner = values.values() if isinstance(values, dict) else values
            self._later((name, each) for each in inner)

    def _look_at_object(self, name: str, value: Any) -> None:
        if not is_users_class(type(value)):
            return
        self._keep(Names(f"{name}.", Attributes(value)))
        self._keep(Names(f"{name}.", Slots(value)))
        self._later([(type(value).__name__, type(value))])

    def _look_at_class(self, kind: type) -> None:
        for each in kind.__mro__:
            if is_users_class(each):
                self._keep(Names(f"{each.__name__}.", vars(each), None, each))

    def _look_at_function(self, name: str, function: FunctionType) -> None:
        if looks.unwrapped(function) is not function:
            self._later([(function.__name__, looks.unwrapped(function))])
        if not is_users(function.__code__.co_filename):
            return
        used = dict.fromkeys(_names_in(function.__code__))  # in the order of the code
        self._keep(Names(f"{name}.", vars(function)))
        self._keep(Names("", function.__globals__, used))
        for module_name in used:
            module = function.__globals__.get(module_name)
            if isinstance(module, ModuleType) and is_users(getattr(module, "__file__", "") or "<"):
                self._keep(Names(f"{module_name}.", vars(module), used))
        free = function.__code__.co_freevars
        for free_name, cell in zip(free, function.__closure__ or (), strict=True):
            self._keep(Names("", Cell(free_name, cell)))
        self._later(_defaults(function))

    def _keep(self, names: Names) -> None:
        self._places.append(names)
        self._later((names.prefix + name, value) for name, value in names.before.items())

    def _later(self, named: Iterable[tuple[str, Any]]) -> None:
        self._waiting.extend(named)


def _undone(change: Change) -> str:
    """Undo a change; which of `Left`'s attributes tells of it."""
    is_back = change.undo is not None
    try:
        if change.undo is not None:
            change.undo()
    except Exception:  # noqa: BLE001  an object of the user's may refuse anything
        is_back = False
    if change.drawn:
        return "drawn"
    if _has_tracer(change.new):
        return "kept" if is_back else "lost"
    return "changed" if is_back else "stays"


def _wrapped(name: str, value: Any) -> list[tuple[str, Any]] | None:
    """What something callable is made of; None for what is no such thing."""
    match value:
        case MethodType():
            return [(name, value.__func__), (_owner_of(value), value.__self__)]
        case functools.partial():
            given = [*value.args, *value.keywords.values()]
            return [(name, value.func), *((name, each) for each in given)]
        case staticmethod() | classmethod():
            return [(name, value.__func__)]
        case property():
            return [(name, value.fget)]
    return [(name, looks.unwrapped(value))] if is_jitted(value) else None


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Values that arguments have where none is given: they are the same at each call."""
    code, values = function.__code__, function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    yield from zip(positional[len(positional) - len(values) :], values, strict=True)
    yield from (function.__kwdefaults__ or {}).items()


def _has_tracer(value: Any) -> bool:
    """Whether a value is a tracer, or holds one; what an object holds is looked at too."""
    leaves = trees.leaves(value)
    own = jax.core.Tracer | type | ModuleType | FunctionType
    objects = [leaf for leaf in leaves if not isinstance(leaf, own)]
    held = [each for one in objects for each in trees.leaves(looks.attributes(one))]
    return any(looks.is_a(leaf, jax.core.Tracer) for leaf in (*leaves, *held))


def _names_in(code: CodeType) -> Iterator[str]:
    """Names of a function and of the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _owner_of(method: MethodType) -> str:
    return "self" if not isinstance(method.__self__, type) else method.__self__.__name__
