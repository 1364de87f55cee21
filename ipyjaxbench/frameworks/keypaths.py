"""The arrays inside a value, each with the path that a person would type to reach it."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import partial
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.keras_parts import keras_parts
from ipyjaxbench.frameworks.traversal import Budget
from ipyjaxbench.usercode import ask, attribute, attributes, is_exactly, is_of, items_of, slots

_MOST_LEVELS, _MOST_ITEMS = 40, 500_000
_NOT_ENTERED = (type, ModuleType, FunctionType, BuiltinFunctionType)
_PLAIN = (dict, list, tuple)
_ATOMS = (bool, int, float, complex, str, bytes, type, type(None))


def iterate_named_arrays(
    name: str, value: object, frameworks: Sequence[Framework], budget: Budget | None = None
) -> Iterator[tuple[str, Framework, Any]]:
    """Walk through containers, objects and what frameworks know as containers.

    Args:
        name: of the value.
        value: anything; no attribute that runs code is read.
        frameworks: the adapters to ask.
        budget: ends the walk through what is plain data.

    Yields:
        The path, such as ``model.layers[0]['w']``, the framework, and the array, each once.
    """
    budget = budget or Budget()
    seen: set[int] = set()
    owners: dict[int, Framework | None] = {}  # by identity: a metaclass may define equality

    # One loop over open containers: a generator in a generator would hand each leaf up the levels.
    levels: list[tuple[str, Iterator[tuple[str, object]]]] = [("", iter([(name, value)]))]
    while levels:
        path, parts = levels[-1]
        for step, node in parts:
            kind = type(node)
            if id(kind) not in owners:
                owners[id(kind)] = next((each for each in frameworks if each.owns(kind)), None)
            owner = owners[id(kind)]
            if id(node) in seen or (owner is None and issubclass(kind, _ATOMS)):
                continue
            seen.add(id(node))
            if owner is not None:
                budget.renew()
                yield path + step, owner, node
            elif len(levels) <= _MOST_LEVELS:
                if budget.take(levels):
                    levels.append((path + step, _looked_into(node, frameworks)))
                break
        else:
            levels.pop()


def _looked_into(node: object, frameworks: Sequence[Framework]) -> Iterator[tuple[str, object]]:
    try:
        yield from _inside(node, frameworks)
    # A user's object may raise whatever it likes when it is looked into: no more is in it then.
    except Exception:  # noqa: BLE001
        return


def _inside(node: Any, frameworks: Sequence[Framework]) -> Iterator[tuple[str, object]]:
    named = None if is_exactly(node, *_PLAIN) else named_parts(node, frameworks)
    if named is not None:
        yield from ((f".{name}", part) for name, part in named)
    elif ask(_is_mapping, node):
        pairs = dict.items(node) if is_of(node, dict) else islice(node.items(), _MOST_ITEMS)
        yield from ((f"[{key!r}]", part) for key, part in pairs)
    elif is_of(node, list, tuple, deque):
        fields = None if is_exactly(node, *_PLAIN) else attribute(type(node), "_fields")
        fields = fields if type(fields) is tuple else None
        for index, part in enumerate(items_of(node, _MOST_ITEMS)):
            yield f".{fields[index]}" if fields else f"[{index}]", part
    elif is_of(node, ValuesView):
        parts = enumerate(items_of(node, _MOST_ITEMS))
        yield from ((f"[{index}]", part) for index, part in parts)
    elif is_of(node, partial):
        yield from ((".args", node.args), (".keywords", node.keywords))
    elif is_of(node, MethodType):
        yield ".__self__", node.__self__
    else:
        yield from _attributes(node)


def _is_mapping(node: object) -> bool:
    return issubclass(type(node), Mapping)


def _attributes(node: object) -> Iterator[tuple[str, object]]:
    if not is_of(node, *_NOT_ENTERED):
        held = {**attributes(node), **slots(node)}
        yield from ((f".{name}", part) for name, part in held.items())


def named_parts(
    node: object, frameworks: Sequence[Framework]
) -> Iterable[tuple[str, object]] | None:
    """What frameworks know to be in their own containers, by dotted names; None for others."""
    found = keras_parts(node)
    every = (framework.named_parts(node) for framework in frameworks)
    return found if found is not None else next((each for each in every if each is not None), None)
