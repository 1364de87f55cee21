"""Python state that a call reaches, put back after its code was traced.

Code that keeps what it computes, in an attribute, a list or a global, keeps a symbolic tensor while
it is traced: one that holds no numbers, and fails when it is used later.
"""

import functools
import random
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.adapters.tensorflow.graphs.restore import (
    CONTAINERS,
    Cache,
    Change,
    Draws,
    Names,
    Place,
    Values,
    has_state,
    is_users_class,
    is_users_module,
)
from ipyjaxbench.frameworks.state.mappings import Attributes, Cell, Slots
from ipyjaxbench.usercode import objects
from ipyjaxbench.usercode.call import Call

_MOST = 100_000  # objects that are looked at
_LONGEST = 10_000  # items of a container that is looked into
_CACHE = type(functools.lru_cache(abs))
_DRAWING = (random.Random, np.random.Generator, np.random.RandomState)
_ATOMS = (bool, int, float, complex, str, bytes, type(None))


@dataclass
class Left:
    """Where the code kept symbolic tensors.

    Attributes:
        back: names of what is as it was.
        lost: names of what could not be put back.
    """

    back: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


@contextmanager
def put_back(call: Call, *, is_copy: bool) -> Iterator[Left]:
    """What the call's code changes meanwhile, of what it reaches by name, is as it was afterwards.

    Args:
        call: tensors and variables are not looked into.
        is_copy: whether what is called is nobody else's, and so may change.

    Yields:
        Where symbolic tensors were kept; filled in at the end.
    """
    left = Left()
    places = _Reached(call, is_copy=is_copy).places
    try:
        yield left
    finally:
        for name, undo, is_symbolic in _changes(places):
            try:
                undo()
            except Exception:  # noqa: BLE001  an object of the user's may refuse anything
                if is_symbolic:
                    left.lost.append(name)
            else:
                if is_symbolic and name not in left.back:
                    left.back.append(name)


def _changes(places: list[Place]) -> list[Change]:
    found: list[Change] = []
    for place in places:
        with suppress(Exception):  # objects of the user's may refuse to be looked at
            found.extend(place.changes())
    return found


class _Reached:
    """What a call reaches, the nearest first."""

    def __init__(self, call: Call, *, is_copy: bool) -> None:
        self.places: list[Place] = []
        self._seen: dict[int, object] = {}  # with the object, so that no other one gets its id
        self._next: deque[tuple[str, Any]] = deque()
        given = [*zip(call.labels, call.args, strict=True), *call.kwargs.items()]
        shared = [("", each) for each in (random, np.random, _of_keras())]
        self._walk([("self", call.function)], is_copy=is_copy)
        self._walk([*given, *shared], is_copy=False)

    def _walk(self, named: list[tuple[str, Any]], *, is_copy: bool) -> None:
        """Follow values to all that they lead to; of a copy, to what it shares with others."""
        level, shared = deque(named), []
        while level and len(self._seen) < _MOST:
            name, value = level.popleft()
            if id(value) in self._seen or objects.is_exactly(value, *_ATOMS):
                continue
            if is_copy and objects.is_of(value, FunctionType, type):
                shared.append((name, value))
                continue
            self._seen[id(value)] = value
            count = len(self.places)
            with suppress(Exception):  # an object of the user's may refuse anything
                self._look(name, value)
            if is_copy:
                del self.places[count:]
            level += self._next
            self._next.clear()
        if shared:
            self._walk(shared, is_copy=False)

    def _look(self, name: str, value: Any) -> None:
        """Keep what a value holds, and go on to what that leads to."""
        if objects.is_of(value, tf.__internal__.tracking.TrackableDataStructure):
            self._look_into(name, vars(value))
            value = getattr(value, "__wrapped__", value)
        kind = type(value)
        if issubclass(kind, CONTAINERS):
            self._look_into(name, value)
        elif kind is FunctionType:
            self._look_at_function(value)
        elif kind is _CACHE:
            self.places.append(Cache(name, value))
            self._next.append((name, value.__wrapped__))
        elif value is random or value is np.random or issubclass(kind, _DRAWING):
            self.places.append(Draws(value))
        elif issubclass(kind, type):
            if is_users_class(value):
                self._keep(f"{value.__name__}.", vars(value), owner=value)
        elif has_state(value):
            self._look_at_object(name, value)
        else:
            self._next.extend(_behind(name, value))

    def _look_into(self, name: str, values: Any) -> None:
        if objects.is_opaque(values):
            return
        self.places.append(Values(name, values))
        if len(values) <= _LONGEST:
            items = values.values() if isinstance(values, dict) else values
            self._next.extend((name, each) for each in items)

    def _look_at_object(self, name: str, value: Any) -> None:
        self._keep(f"{name}.", Attributes(value))
        self._keep(f"{name}.", Slots(value))
        self._next.extend((objects.name_of(kind), kind) for kind in objects.line_of(type(value)))

    def _look_at_function(self, function: FunctionType) -> None:
        inner = objects.unwrapped(function)
        self._next.append((function.__name__, inner))
        if not references.is_users(function.__code__.co_filename):
            return
        used = references.names_in(function.__code__)
        self._keep("", function.__globals__, used)
        for name in used:
            module = function.__globals__.get(name)
            if isinstance(module, ModuleType) and is_users_module(module):
                self._keep(f"{name}.", vars(module), used)
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self._keep("", Cell(name, cell))
        self._keep(f"{function.__name__}.", vars(function))
        defaults = (function.__defaults__, function.__kwdefaults__)
        self._next.extend((function.__name__, each) for each in defaults if each)

    def _keep(
        self, prefix: str, names: Any, used: frozenset[str] | None = None, owner: Any = None
    ) -> None:
        place = Names(prefix, names, used, owner)
        self.places.append(place)
        self._next.extend((prefix + name, value) for name, value in place.before.items())


def _behind(name: str, value: Any) -> list[tuple[str, Any]]:
    """What something that is called, or a tuple, is made of."""
    match value:
        case tuple() | frozenset():
            return [(name, each) for each in value]
        case MethodType():
            # A tf.function keeps the object of its method behind a weak reference.
            owner = getattr(value.__self__, "target", value.__self__)
            return [(name, value.__func__), ("self", owner)]
        case functools.partial():
            return [(name, each) for each in (value.func, value.args, value.keywords)]
        case staticmethod() | classmethod():
            return [(name, value.__func__)]
        case property():
            return [(name, each) for each in (value.fget, value.fset)]
        case tf.types.experimental.PolymorphicFunction():
            return [(name, value.python_function)]
    return []


def _of_keras() -> Any:
    """What Keras keeps for all: numbers for new names, its generator; None where that is hidden."""
    module = sys.modules.get("keras.src.backend.common.global_state")
    return vars(getattr(module, "GLOBAL_STATE_TRACKER", SimpleNamespace()))
