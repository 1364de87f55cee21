"""What a name leads to beside items and attributes: of classes, functions, generators, caches."""

import functools
import gc
import threading
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FrameType, FunctionType, GeneratorType
from typing import Any, Literal, NamedTuple

from ipyjaxbench.frameworks import is_readable
from ipyjaxbench.usercode import (
    attributes,
    class_dict,
    dictionary_of,
    is_exactly,
    is_users_class,
    is_users_function,
)

_CACHE = type(functools.lru_cache(len))
_NO_DATA = (FrameType, CodeType, FunctionType, type, str)
_DEPTH = 4  # iterators in an iterator
_DUNDER = "__"


class Part(NamedTuple):
    """Something that holds values, and what to type to let go of it.

    Attributes:
        kind: "name" for what can be typed as ``path``.
        path: the way to it.
        value: that is held.
        let_go: what to type to let go of it.
    """

    kind: Literal["name", "generator", "cache"]
    path: str
    value: object
    let_go: str


def parts_of_name(name: str, value: Any) -> Iterator[Part]:
    """Yield what a name leads to and no walk through values comes to; nothing is called."""
    if is_exactly(value, _CACHE):
        own = dictionary_of(value)
        held = [each for each in gc.get_referents(value) if each is not own]
        yield Part("cache", f"the cache of {name}", _data(held), f"{name}.cache_clear()")
    elif is_exactly(value, GeneratorType):
        yield Part("generator", f"the frame of {name}", _data(_inside(value)), f"del {name}")
    elif is_exactly(value, threading.local):  # those of other threads cannot be read
        yield from _typed(name, threading.local.__getattribute__(value, "__dict__"))
    elif issubclass(type(value), type) and is_users_class(value):
        yield from _typed(name, class_dict(value))
    elif is_exactly(value, FunctionType) and is_users_function(value):
        yield from _typed(name, attributes(value))


def _typed(owner: str, held: Mapping[str, object]) -> Iterator[Part]:
    """Yield what can be typed as an attribute, and what that leads to."""
    for key, value in [*held.items()]:
        if not key.startswith(_DUNDER):
            path = f"{owner}.{key}"
            yield Part("name", path, value, f"del {path}")
            if is_exactly(value, _CACHE, GeneratorType, threading.local):
                yield from parts_of_name(path, value)


def _data(held: Iterable[object]) -> list[object]:
    return [each for each in held if not issubclass(type(each), _NO_DATA)]


def _inside(iterator: object, depth: int = _DEPTH) -> Iterator[object]:
    """Yield what an iterator holds, and those in it; none of them moves."""
    for each in gc.get_referents(iterator):
        if depth and is_readable(each):
            yield from _inside(each, depth - 1)
        elif not issubclass(type(each), _NO_DATA):
            yield each
