"""The parts of values that code reads: ``params['w']`` alone, where it reads no more of them."""

import ast
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.walker import named_parts
from ipyjaxbench.usercode import attribute, attributes, slots

_KINDS = (dict, list, tuple, deque)


def accessed(
    statements: Sequence[ast.stmt], values: Mapping[str, object], frameworks: Sequence[Framework]
) -> dict[str, object]:
    """What the code reads, by how it is typed.

    Args:
        statements: the code.
        values: what the names that it reads stand for.
        frameworks: the adapters to ask.

    Returns:
        Each value under its name; in its place the parts of it, as ``params['w']`` or
        ``model.fc``, where all uses of the name lead to such parts without running any code.
    """
    found: dict[str, dict[str, object]] = {each: {} for each in values}
    for name, steps in _chains(ast.Module(list(statements), [])):
        if name.id in found:
            node, value = _followed(name, steps, values[name.id], frameworks)
            found[name.id][ast.unparse(node)] = value
    parts: dict[str, object] = {}
    for each, mine in found.items():
        parts |= mine if mine and each not in mine else {each: values[each]}
    return parts


def _chains(node: ast.AST) -> Iterator[tuple[ast.Name, list[ast.expr]]]:
    """Names with the attributes and items that are taken of them, the first one first."""
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


def _followed(
    node: ast.expr, steps: Sequence[ast.expr], value: object, frameworks: Sequence[Framework]
) -> tuple[ast.expr, object]:
    """How far the steps lead without running code, and what is there."""
    for step in steps:
        try:
            value = _part(value, step, frameworks)
        # A user's object may raise whatever it likes when it is looked into.
        except Exception:  # noqa: BLE001
            break
        node = step
    return node, value


def _part(value: object, step: ast.expr, frameworks: Sequence[Framework]) -> object:
    """One attribute or item.

    Raises:
        LookupError: it is not known without running code.
    """
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
    if mine := [part for path, part in named.items() if path.partition(".")[0] == name]:
        return mine
    if isinstance(value, tuple) and name in getattr(type(value), "_fields", ()):
        return value[type(value)._fields.index(name)]  # type: ignore[attr-defined]
    found = slots(value)
    if hasattr(type(attribute(type(value), name)), "__set__") and name not in found:
        raise LookupError  # a property, whose code would run
    return {**attributes(value), **found}[name]
