"""The parts of values that code reads: ``params['w']`` alone, where it reads no more of them."""

import ast
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.walker import named_parts
from ipyjaxbench.usercode import attribute, attributes, slots

_KINDS = (dict, list, tuple, deque)


def find_accessed(
    statements: Sequence[ast.stmt], values: Mapping[str, object], frameworks: Sequence[Framework]
) -> dict[str, object]:
    """Return the values that code reads, by how they are typed.

    In place of a value stand the parts of it, as ``params['w']`` or ``model.fc``, where all uses
    of its name lead to such parts without running any code.
    """
    parts_of: dict[str, dict[str, object]] = {name: {} for name in values}
    for name, steps in _chains(ast.Module(list(statements), [])):
        if name.id in parts_of:
            node, value = _follow(name, steps, values[name.id], frameworks)
            parts_of[name.id][ast.unparse(node)] = value
    read: dict[str, object] = {}
    for each, parts in parts_of.items():
        read |= parts if parts and each not in parts else {each: values[each]}
    return read


def _chains(node: ast.AST) -> Iterator[tuple[ast.Name, list[ast.expr]]]:
    """Yield names with the attributes and items that are taken of them, the first one first."""
    chain: list[ast.expr] = []
    inner = node
    while isinstance(inner, ast.Attribute | ast.Subscript):
        chain.insert(0, inner)
        inner = inner.value
    if isinstance(inner, ast.Name):
        yield inner, chain
        for each in chain:
            if isinstance(each, ast.Subscript):
                yield from _chains(each.slice)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _chains(child)


def _follow(
    node: ast.expr, steps: Sequence[ast.expr], value: object, frameworks: Sequence[Framework]
) -> tuple[ast.expr, object]:
    """Return how far the steps lead without running code, and what is there."""
    for step in steps:
        try:
            value = _part(value, step, frameworks)
        # A user's object may raise whatever it likes when it is looked into.
        except CODE_ERRORS:
            break
        node = step
    return node, value


def _part(value: object, step: ast.expr, frameworks: Sequence[Framework]) -> object:
    """Return one attribute or item; raise LookupError where that would run code."""
    kind = type(value)
    if issubclass(kind, ModuleType) or any(framework.owns(kind) for framework in frameworks):
        raise LookupError
    if isinstance(step, ast.Attribute):
        return _attribute(value, step.attr, frameworks)
    assert isinstance(step, ast.Subscript)
    return _item(value, ast.literal_eval(step.slice))


def _item(value: Any, key: Any) -> object:
    for kind in _KINDS:
        if isinstance(value, kind) and type(value).__getitem__ is kind.__getitem__:
            if kind is dict and key not in value:  # one with defaults would be given the key
                raise LookupError
            return value[key]
    raise LookupError


def _attribute(value: object, name: str, frameworks: Sequence[Framework]) -> object:
    named = dict(named_parts(value, frameworks) or ())
    if parts := [part for path, part in named.items() if path.partition(".")[0] == name]:
        return parts
    if isinstance(value, tuple) and name in getattr(type(value), "_fields", ()):
        return value[type(value)._fields.index(name)]  # type: ignore[attr-defined]
    found = slots(value)
    if hasattr(type(attribute(type(value), name)), "__set__") and name not in found:
        raise LookupError  # a property, whose code would run
    return {**attributes(value), **found}[name]
