"""What can be called by the names of a session, and by what these lead to. Looks, never calls."""

import functools
import gc
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ipyjaxbench.usercode.classes import class_dict, mro_of
from ipyjaxbench.usercode.code_objects import closure_values
from ipyjaxbench.usercode.imprints import PLAIN
from ipyjaxbench.usercode.members import MISSING, defaults_of, is_descriptor, own_attributes
from ipyjaxbench.usercode.objects import is_exactly, is_of, items_of
from ipyjaxbench.usercode.origin import (
    is_users_class,
    is_users_function,
    is_users_module,
    names_of_module,
)

_CACHE = type(functools.lru_cache(len))
_MOST = 5000  # objects
_ITEMS, _CALLABLE_ITEMS = 200, 5000  # of each: of those after the first ones what can be called
_OF_SESSION = ("In", "Out")  # names under which IPython keeps what was typed and shown
#: Classes whose objects lead nowhere, by identity: others may define what equal means.
_PLAIN = frozenset(map(id, PLAIN))


def callables_in(names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what names lead to and can be called, by what to type for it, the nearest first.

    That is what they stand for, what containers, objects and modules of the user's hold, methods
    that are no plain functions, what functions close over, and what caches keep: these as in
    "inner in outer" and "make(…)". What classes hold comes after their objects, and what the
    session keeps of results last.

    Example:
        >>> [*callables_in({"fs": {"a": [len]}})]
        [("fs['a'][0]", <built-in function len>)]
    """
    groups: tuple[list[tuple[str, Any]], ...] = ([], [], [])
    for name, value in [*names.items()]:
        is_kept = name.startswith("_") or name in _OF_SESSION
        groups[2 if is_kept else is_of(value, type)].append((name, value))
    seen: set[int] = set()
    for pairs in groups:
        yield from _walk(pairs, seen)


def _walk(pairs: Iterable[tuple[str, Any]], seen: set[int]) -> Iterator[tuple[str, Any]]:
    waiting = deque(pairs)
    while waiting and len(seen) < _MOST:
        path, value = waiting.popleft()
        if callable(value):
            yield path, value
        if id(type(value)) not in _PLAIN and id(value) not in seen:
            seen.add(id(value))
            waiting.extend(_nearest(_held_by(path, value)))


def _nearest(held: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for n, (path, value) in enumerate(islice(held, _CALLABLE_ITEMS)):
        if id(type(value)) not in _PLAIN and (n < _ITEMS or callable(value)):
            yield path, value


def _held_by(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is right within a value and may be called, or lead to that."""
    kind = type(value)
    if kind is dict:
        pairs = [
            pair for pair in islice(value.items(), _CALLABLE_ITEMS) if is_exactly(pair[0], str, int)
        ]
        yield from ((f"{path}[{key!r}]", each) for key, each in pairs)
    elif is_of(value, list, tuple):
        for n, each in enumerate(islice(items_of(value, 0), _CALLABLE_ITEMS)):
            if id(type(each)) not in _PLAIN:  # of most long ones all are
                yield f"{path}[{n}]", each
    elif kind is _CACHE:
        yield path, value.__wrapped__
        yield from ((f"{path}(…)", each) for each in _results_in(value))
    elif kind is MethodType:
        yield f"{path}.__self__", value.__self__
        if is_users_function(value.__func__):
            yield path, value.__func__
    elif is_of(value, functools.partial) or is_users_function(value):
        yield from ((f"{name} in {path}", each) for name, each in _given_to(value))
    else:
        yield from ((f"{path}.{name}", each) for name, each in _attributes_of(value))


def _given_to(function: Any) -> Iterator[tuple[str | int, Any]]:
    if is_of(function, functools.partial):
        return iter([("func", function.func), *enumerate(function.args),
                     *function.keywords.items()])  # fmt: skip
    return chain(closure_values(function), defaults_of(function))


def _results_in(cache: Any) -> Iterator[Any]:
    """Yield what `functools.cache` or `lru_cache` keeps: without a limit it is in a dictionary."""
    is_limited = cache.cache_parameters()["maxsize"] is not None
    for each in gc.get_referents(cache):
        if each is not vars(cache):
            yield from (each,) if is_limited or type(each) is not dict else [*each.values()]


def _attributes_of(value: Any) -> Iterator[tuple[str, Any]]:
    if is_of(value, ModuleType):
        yield from [*names_of_module(value).items()] if is_users_module(value) else ()
    elif is_of(value, type):
        yield from _methods_of(value, MISSING)
    elif is_users_class(type(value)):
        yield from own_attributes(value).items()
        yield from _methods_of(type(value), value)


def _methods_of(kind: type, owner: Any) -> Iterator[tuple[str, Any]]:
    """Yield what users' classes define and may lead on, as the object has it, if there is one."""
    defined: dict[str, Any] = {}
    for each in filter(is_users_class, reversed(mro_of(kind))):
        defined |= class_dict(each)
    for name, value in defined.items():
        if name.startswith("__"):
            continue
        if is_of(value, staticmethod):
            yield name, value.__func__
        elif is_of(value, classmethod):
            yield name, MethodType(value.__func__, kind)
        elif _leads_on(value):
            is_bound = owner is not MISSING and is_descriptor(value)
            yield name, MethodType(value, owner) if is_bound else value


def _leads_on(value: Any) -> bool:
    if type(value) is FunctionType:
        return bool(value.__dict__ or value.__closure__)
    return callable(value) and not is_of(value, type, BuiltinFunctionType)
