"""Finds the arrays inside any value, and the functions that code can reach. Looks, never calls."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

from ipyjaxbench.frameworks._base import Framework

#: Values looked at before giving up on a value that is too large to be walked.
_MAX_NODES = 500_000
_ATOMS = (type(None), bool, int, float, complex, str, bytes, bytearray, range, slice)
_NOT_ENTERED = (type, ModuleType, FunctionType, BuiltinFunctionType)


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
    owners: dict[type, Framework | None] = {}
    found: list[Found] = []
    seen: set[int] = set()
    stack: list[object] = [value]
    while stack and len(seen) < _MAX_NODES:
        node = stack.pop()
        kind = type(node)
        if kind in _ATOMS or id(node) in seen:
            continue
        seen.add(id(node))
        if kind not in owners:
            owners[kind] = next((f for f in frameworks if f.owns(kind)), None)
        owner = owners[kind]
        if owner is not None:
            found.append(Found(owner, node))
        else:
            stack.extend(reversed(_looked_into(node, frameworks)))
    return found


def _looked_into(node: object, frameworks: Sequence[Framework]) -> list[object]:
    try:
        return list(_inside(node, frameworks))
    # A proxy may raise whatever it likes when it is asked for its class: it holds nothing then.
    except Exception:  # noqa: BLE001
        return []


def asked(question: Callable[[object], bool], value: object) -> bool:
    """The answer to a question about a user's object; no, where asking raises."""
    try:
        return question(value)
    except Exception:  # noqa: BLE001
        return False


def _inside(node: object, frameworks: Sequence[Framework]) -> Iterable[object]:
    if issubclass(type(node), _NOT_ENTERED):
        return ()
    for framework in frameworks:
        parts = framework.parts(node)
        if parts is not None:
            return parts
    match node:
        case Mapping():
            return list(node.values())
        case list() | tuple() | set() | frozenset():
            return node
        case MethodType():
            return (node.__self__,)
        case partial():
            return (node.args, node.keywords, *_attributes(node))
        case _:
            return (*_attributes(node), *_slots(node))


def _attributes(node: object) -> list[object]:
    try:
        return list(vars(node).values())
    except TypeError:  # it has none
        return []


def _slots(node: object) -> Iterator[object]:
    for kind in type(node).__mro__:
        names = kind.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            member = kind.__dict__.get(name)
            if isinstance(member, MemberDescriptorType):
                yield _slot(member, node)


def _slot(member: MemberDescriptorType, node: object) -> object:
    try:
        return member.__get__(node, type(node))
    except AttributeError:  # the slot is empty
        return None


def find_functions(
    values: Iterable[object], frameworks: Sequence[Framework], depth: int = 4
) -> list[object]:
    """The callables that ``values`` are, or reach through globals and closures.

    Args:
        values: what the names in the code stand for.
        frameworks: their own functions are not followed: what those use is not the user's choice.
        depth: how many calls deep to follow plain functions.

    Returns:
        Callables, each once; modules that they name are among them, as hints of what is in play.
    """
    theirs = {framework.module for framework in frameworks}
    found: dict[int, object] = {}
    level = list(values)
    for _ in range(depth):
        following: list[object] = []
        for value in level:
            if id(value) in found or not (callable(value) or isinstance(value, ModuleType)):
                continue
            found[id(value)] = value
            if package_of(value) not in theirs:
                following += _reached_from(value)
        level = following
    return list(found.values())


def package_of(value: object) -> str:
    """The top-level package that a module or function comes from; "" where it does not tell."""
    attribute = "__name__" if issubclass(type(value), ModuleType) else "__module__"
    name = inspect.getattr_static(value, attribute, "")
    if not isinstance(name, str):  # of a built-in class: a descriptor that has to be asked
        name = type(value).__module__
    return name.partition(".")[0]


def _reached_from(value: object) -> list[object]:
    if isinstance(value, MethodType):
        return [value.__func__]
    if isinstance(value, partial):
        return [value.func]
    if not isinstance(value, FunctionType):
        return []
    names = [value.__globals__.get(name) for name in value.__code__.co_names]
    cells = []
    for cell in value.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # the cell is empty
            continue
    return names + cells
