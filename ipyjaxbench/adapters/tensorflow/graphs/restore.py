"""Places where Python code can keep a value: what stands there, and how it is put back."""

import functools
import gc
import random
import sys
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from ipyjaxbench.adapters.tensorflow import trees
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.usercode import objects

#: Classes of which containers are; others extend them.
CONTAINERS = (OrderedDict, dict, list, set, deque)
#: What a change is called, how it is undone, and whether it kept a symbolic tensor.
Change = tuple[str, Callable[[], None], bool]
_NOTHING = object()  # what stands where there was nothing


class Place(ABC):
    """Where code can keep something; made before it runs."""

    @abstractmethod
    def changes(self) -> Iterator[Change]:
        """What is other than it was."""


class Names(Place):
    """Names that stand for values: globals, attributes, what a function closes over."""

    def __init__(self, prefix: str, names: Any, used: frozenset[str] | None, owner: Any) -> None:
        self.prefix, self._names, self._used, self._owner = prefix, names, used, owner
        self.before = self._now()

    def changes(self) -> Iterator[Change]:
        """Names with another value."""
        now = self._now()
        for name in {**self.before, **now}:
            old, new = self.before.get(name, _NOTHING), now.get(name, _NOTHING)
            if old is not new:
                undo = functools.partial(self._set, name, old)
                yield self.prefix + name, undo, has_symbolic(new)

    def _now(self) -> dict[str, Any]:
        if self._used is None:
            return dict(self._names.items())
        return {n: self._names[n] for n in self._used if n in self._names}

    def _set(self, name: str, old: Any) -> None:
        # An object's own __setattr__ is passed by: it may keep more than the value.
        if self._owner is not None:
            delattr(self._owner, name) if old is _NOTHING else setattr(self._owner, name, old)
        elif old is _NOTHING:
            del self._names[name]
        else:
            self._names[name] = old


class Values(Place):
    """A list, a dictionary, a set or a deque, also one of a class that watches its changes."""

    def __init__(self, name: str, values: Any) -> None:
        self._name, self._values = name, values
        # The methods of Python's own class: those of TensorFlow's and Keras's track what comes in.
        self._kind: Any = next(kind for kind in type(values).__mro__ if kind in CONTAINERS)
        self._is_dict = issubclass(self._kind, dict)
        self._before = self._items()

    def changes(self) -> Iterator[Change]:
        """The whole container, where it has other items."""
        before, now = (self._flat(items) for items in (self._before, self._items()))
        if [*map(id, now)] != [*map(id, before)]:
            known = {*map(id, before)}
            came = [each for each in now if id(each) not in known]
            yield self._name, self._undo, any(map(has_symbolic, came))

    def _items(self) -> list[Any]:
        return [*(self._kind.items if self._is_dict else self._kind.__iter__)(self._values)]

    def _flat(self, items: list[Any]) -> list[Any]:
        return [part for item in items for part in item] if self._is_dict else items

    def _undo(self) -> None:
        self._kind.clear(self._values)
        add = self._kind.extend if self._kind in (list, deque) else self._kind.update
        add(self._values, self._before)


class Cache(Place):
    """What `functools.cache` keeps; nothing public tells what that is."""

    def __init__(self, name: str, cached: Any) -> None:
        self._name, self._cached = name, cached
        self._before = cached.cache_info()

    def changes(self) -> Iterator[Change]:
        """All that is cached, where a symbolic tensor came in."""
        if self._cached.cache_info().misses == self._before.misses:
            return
        inner = [each for each in gc.get_referents(self._cached) if not callable(each)]
        results = [each for one in inner for each in gc.get_referents(one)]
        held = [each for one in results for each in (one, *_of_link(one))]
        if any(map(has_symbolic, held)):
            yield self._name, self._cached.cache_clear, True


class Draws(Place):
    """A generator of random numbers in Python or NumPy."""

    def __init__(self, source: Any) -> None:
        before: Any
        if isinstance(source, np.random.Generator):
            bits = source.bit_generator
            before, self._write = bits.state, lambda state: setattr(bits, "state", state)
        elif source is random or isinstance(source, random.Random):
            before, self._write = source.getstate(), source.setstate
        else:
            before, self._write = source.get_state(), source.set_state
        self._before = before

    def changes(self) -> Iterator[Change]:
        """Its state, whether it was drawn from or not."""
        yield "", functools.partial(self._write, self._before), False


def has_state(value: Any) -> bool:
    """Whether an object is of a class of the user's, or of one that code of the user's extends."""
    kind = type(value)
    if objects.is_of(value, tf.Tensor, tf.TypeSpec) or references.is_variable(value):
        return False
    if kind is SimpleNamespace or objects.is_of(value, tf.__internal__.tracking.AutoTrackable):
        return True
    return objects.module_of(kind).partition(".")[0] == "keras" or is_users_class(kind)


def is_users_class(kind: type) -> bool:
    """Whether a class was written by the user."""
    module = sys.modules.get(objects.module_of(kind))
    return objects.module_of(kind) == "__main__" or (module is not None and is_users_module(module))


def is_users_module(module: ModuleType) -> bool:
    """Whether a module was written by the user."""
    file = getattr(module, "__file__", None)
    return file is not None and references.is_users(file)


def has_symbolic(value: Any) -> bool:
    """Whether a value is a symbolic tensor, or holds one; what an object holds is looked at too."""
    leaves = [each for part in _parts_of(value) for each in _parts_of(part)]
    own = [objects.attributes(leaf).values() for leaf in leaves if has_state(leaf)]
    return any(map(_is_symbolic, (*leaves, *(each for values in own for each in values))))


def _is_symbolic(value: Any) -> bool:
    try:
        parts = tf.nest.flatten(trees.shielded(value), expand_composites=True)
    except Exception:  # noqa: BLE001  keys that have no order
        return False
    return any(isinstance(each, tf.Operation) or tf.is_symbolic_tensor(each) for each in parts)


def _of_link(value: Any) -> list[Any]:
    """What one entry of a cache of limited size holds."""
    return gc.get_referents(value) if type(value).__name__ == "_lru_list_elem" else []


def _parts_of(value: Any) -> list[Any]:
    """A value, and those in it where it is a container."""
    if type(value) is dict:
        return [value, *value.values()]
    return [value, *value] if objects.is_exactly(value, list, tuple, set, deque) else [value]
