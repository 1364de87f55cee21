"""Finds the arrays inside any value, and the functions that code can reach. Looks, never calls."""

import itertools
from collections import deque
from collections.abc import (
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    ValuesView,
)
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.usercode import (
    ask,
    attributes,
    class_dict,
    is_exactly,
    is_of,
    is_users_function,
    items_of,
    module_of,
    names_in,
    package_of,
    slots,
)

#: Values looked at before giving up on a value that is too large to be walked.
_MAX_NODES = 500_000
#: Values looked at in a row that hold no array, before giving up on one that is plain data.
_MAX_PLAIN = 100_000
_MAX_REACHED = 1000
_MANY = 1000  # items: as many numbers at the front, and nobody expects an array among the rest
_ATOMS = frozenset(
    map(id, (type(None), bool, int, float, complex, str, bytes, bytearray, range, slice))
)
_NOT_ENTERED = (type, ModuleType, FunctionType, BuiltinFunctionType)


class Budget:
    """How many objects in a row a walk looks at without finding an array.

    Attributes:
        is_spent: whether that ended the walk: there may be arrays that it did not come to.
    """

    def __init__(self) -> None:
        self._left, self._is_turned = _MAX_PLAIN, False
        self.is_spent = False

    def renew(self) -> None:
        """An array was found."""
        self._left = _MAX_PLAIN

    def take(self, levels: list[Any]) -> bool:
        """Whether one more object may be looked at.

        Args:
            levels: open containers, the innermost last. Where one is too large the walk goes on
                once with what stands beside it, the outermost first.
        """
        self._left -= 1
        if self._left < 0 and not self._is_turned:
            self._is_turned, self.is_spent, self._left = True, True, _MAX_PLAIN // 2
            levels.reverse()
            return False
        if self._left < 0:
            levels.clear()
        return self._left >= 0


class Found(NamedTuple):
    """One array and the framework that it belongs to."""

    framework: Framework
    array: Any


def find_arrays(value: object, frameworks: Sequence[Framework]) -> list[Found]:
    """The arrays inside of ``value``, in order, each once.

    Containers, dataclasses, plain objects, partials, bound methods and what the frameworks know
    as containers are entered; no attribute that runs code is read.

    Args:
        value: anything.
        frameworks: the adapters to ask.

    Returns:
        Each array with its framework.

    Example:
        >>> find_arrays([1, "a"], [])
        []
    """
    return list(iterate_arrays(value, frameworks))


def iterate_arrays(
    value: object, frameworks: Sequence[Framework], budget: Budget | None = None
) -> Iterator[Found]:
    """The same, one after the other: a list of very many is looked through by the collector."""
    budget = budget or Budget()
    owners: dict[int, Framework | None] = {}  # by identity: a metaclass may define equality
    seen: dict[int, object] = {}
    levels: list[Iterator[object]] = [iter((value,))]
    while levels and len(seen) < _MAX_NODES:
        for node in levels[-1]:
            kind = type(node)
            if id(kind) in _ATOMS or id(node) in seen:
                continue
            seen[id(node)] = node
            if id(kind) not in owners:
                owners[id(kind)] = next((f for f in frameworks if f.owns(kind)), None)
            owner = owners[id(kind)]
            if owner is None:
                if budget.take(levels):
                    levels.append(_opened(node, frameworks))
                break
            budget.renew()
            yield Found(owner, node)
        else:
            levels.pop()


def _opened(node: object, frameworks: Sequence[Framework]) -> Iterator[object]:
    if not is_exactly(node, list, tuple):
        return iter(_looked_into(node, frameworks))
    front: Sequence[object] = node[: _MANY + 1]  # type: ignore[index]
    return iter(()) if _are_plain(front) else iter(node)  # type: ignore[call-overload]


def _looked_into(node: object, frameworks: Sequence[Framework]) -> list[object]:
    try:
        return list(_inside(node, frameworks))
    # A proxy may raise whatever it likes when it is asked for its class: it holds nothing then.
    except Exception:  # noqa: BLE001
        return []


def _inside(node: object, frameworks: Sequence[Framework]) -> Iterable[object]:
    if issubclass(type(node), _NOT_ENTERED):
        return ()
    for framework in frameworks:
        parts = framework.parts(node)
        if parts is not None:
            return parts
    if is_of(node, list, tuple, set, frozenset, deque, dict) or ask(_is_view, node):
        return _but_plain(items_of(node, _MAX_NODES))
    if ask(_is_mapping, node):
        return _but_plain(items_of(node.values(), _MAX_NODES))  # type: ignore[attr-defined]
    own = [*attributes(node).values(), *slots(node).values()]
    if is_of(node, MethodType):
        return (node.__self__,)  # type: ignore[attr-defined]
    return (node.args, node.keywords, *own) if is_of(node, partial) else own  # type: ignore[attr-defined]


def _is_mapping(node: object) -> bool:
    return issubclass(type(node), Mapping)


def _is_view(node: object) -> bool:
    return issubclass(type(node), ValuesView)


def _but_plain(items: Iterator[object]) -> list[object]:
    """The items; none of very many, where those at the front are numbers and strings."""
    front = list(itertools.islice(items, _MANY + 1))
    return [] if _are_plain(front) else [*front, *items]


def _are_plain(front: Sequence[object]) -> bool:
    """Whether very many begin with these, and these are all numbers and strings."""
    return len(front) > _MANY and all(id(type(item)) in _ATOMS for item in front)


class Reach(NamedTuple):
    """What code can reach.

    Attributes:
        functions: callables and modules, each once.
        values: what the user's own functions use besides: their globals and closures, by name.
    """

    functions: list[object]
    values: dict[str, object]


def find_reach(values: Iterable[object], frameworks: Sequence[Framework], depth: int = 6) -> Reach:
    """Follow the user's functions, and objects that hold some, to all that they can use.

    Args:
        values: what the names in the code stand for.
        frameworks: their own functions are not followed: what those use is not the user's choice.
        depth: how many steps to follow.

    Returns:
        The functions, and the other values that they name.
    """
    theirs = {framework.module for framework in frameworks} - {"builtins"}
    functions: dict[int, object] = {}
    used: dict[str, object] = {}
    seen: set[int] = set()
    level = list(values)
    for _ in range(depth):
        following: list[object] = []
        for value in level[:_MAX_REACHED]:
            if id(value) in seen:
                continue
            seen.add(id(value))
            if callable(value) or issubclass(type(value), ModuleType):
                functions[id(value)] = value
            if package_of(value) not in theirs:
                named = _used_by(value)
                used |= named if is_users_function(value) else {}
                following += [*named.values(), *_held_by(value)]
        level = following
    plain = {n: value for n, value in used.items() if not issubclass(type(value), _NOT_ENTERED)}
    return Reach(list(functions.values()), plain)


def _used_by(value: Any) -> dict[str, object]:
    """Globals and closed-over values of a plain function, by name."""
    if type(value) is not FunctionType:
        return {}
    names = names_in(value.__code__)
    used = {n: value.__globals__[n] for n in names if n in value.__globals__}
    for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
        try:
            used[name] = cell.cell_contents
        except ValueError:  # the cell is empty
            continue
    return used


def _held_by(value: Any) -> list[object]:
    """What may hold functions: methods, partials, containers, and plain objects."""
    kind = type(value)
    if kind is MethodType:
        return [value.__func__, value.__self__]
    if issubclass(kind, partial):
        return [value.func]
    if is_exactly(value, dict, list, tuple):
        return list(value.values() if kind is dict else value)[:_MAX_REACHED]
    if issubclass(kind, _NOT_ENTERED) or module_of(kind) == "builtins":
        return []
    methods = [f for f in class_dict(kind).values() if type(f) is FunctionType]
    return [*attributes(value).values(), *methods]
