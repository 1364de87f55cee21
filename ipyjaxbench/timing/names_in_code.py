"""Names of what code changes in place, as far as its text shows that."""

import ast
import inspect
from array import array
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from socket import socket

from ipyjaxbench.frameworks import Framework, MutableState
from ipyjaxbench.usercode import arguments, is_exactly, is_of, nodes_of, package_of, root_name

_CONTAINERS = (list, bytearray, deque, array)
_IN_PLACE_METHODS = {"sort", "reverse"}  # that containers have and others may have too
_EXCHANGES = ("send", "recv")  # methods of a socket begin with it
_OS = ("os", "posix", "nt")


def find_updated_names(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield names that are updated in place, as ``x`` in ``x += 1``."""
    for node in nodes_of(statements):
        match node:
            case ast.AugAssign(target=ast.Name(name)):
                yield name


def find_updated_items(
    statements: Sequence[ast.stmt], values: Mapping[str, object], frameworks: Sequence[Framework]
) -> Iterator[str]:
    """Yield names that the code changes through: ``x[0] += 1``, ``x.sort()``, ``f(out=x)``."""
    for node in nodes_of(statements):
        if isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Name):
            yield root_name(node.target)
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "out":
                    yield root_name(keyword.value)
            if isinstance(node.func, ast.Attribute):
                owner = _looked_up(node.func.value, values)
                if _changes_itself(owner, node.func.attr, frameworks):
                    yield root_name(node.func.value)


def find_passed_names(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield names that are iterated over, handed to a call, or have a method called."""
    for node in nodes_of(statements):
        values: list[ast.expr] = []
        match node:
            case ast.Call(func=ast.Attribute(owner)):
                values = [*arguments(node), owner]
            case ast.Call():
                values = arguments(node)
            case ast.For(iter=value) | ast.comprehension(iter=value) | ast.Starred(value):
                values = [value]
        yield from (each.id for each in values if isinstance(each, ast.Name))


def find_descriptors(statements: Sequence[ast.stmt], values: Mapping[str, object]) -> Iterator[str]:
    """Yield names of numbers by which the system knows an open file: of ``os.write(w, b"x")``."""
    for node in nodes_of(statements):
        match node:
            case ast.Call(func=callee, args=[ast.Name(name), *_]):
                if (
                    is_exactly(values.get(name), int)
                    and package_of(_looked_up(callee, values)) in _OS
                ):
                    yield name


def _changes_itself(owner: object, method: str, frameworks: Sequence[Framework]) -> bool:
    """Whether a method changes its object: `sort` of lists does, and of JAX's arrays does not."""
    kind = type(owner)
    if issubclass(kind, _CONTAINERS):
        return method in _IN_PLACE_METHODS
    if is_of(owner, socket):
        return method.startswith(_EXCHANGES)
    owners = (f for f in frameworks if f.owns(kind))
    return any(f.capability(MutableState).changes_in_place(method) for f in owners)


def _looked_up(node: ast.expr, values: Mapping[str, object]) -> object | None:
    """Return what a name, a dotted name or an item stands for; None for anything else."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _looked_up(node.value, values)
        return None if owner is None else inspect.getattr_static(owner, node.attr, None)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner, key = _looked_up(node.value, values), node.slice.value
        try:
            return owner[key] if is_exactly(owner, list, tuple, dict) else None  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return None
    return None
