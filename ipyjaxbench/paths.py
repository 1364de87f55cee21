"""The arrays inside a value, each with the path that a person would type to reach it."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ipyjaxbench.frameworks import Framework

_MOST_LEVELS = 40


def arrays_in(
    name: str, value: object, frameworks: Sequence[Framework]
) -> Iterator[tuple[str, Framework, Any]]:
    """Walk through containers, objects and what frameworks know as containers.

    Args:
        name: of the value.
        value: anything; no attribute that runs code is read.
        frameworks: the adapters to ask.

    Yields:
        The path, such as ``model.layers[0]['w']``, the framework, and the array, each once.
    """
    seen: set[int] = set()
    owners: dict[type, Framework | None] = {}

    def owner_of(kind: type) -> Framework | None:
        if kind not in owners:
            owners[kind] = next((each for each in frameworks if each.owns(kind)), None)
        return owners[kind]

    def walk(path: str, node: object, level: int) -> Iterator[tuple[str, Framework, Any]]:
        if id(node) in seen or level > _MOST_LEVELS or node is None:
            return
        owner = owner_of(type(node))
        if owner is None and isinstance(node, bool | int | float | complex | str | bytes | type):
            return
        seen.add(id(node))
        if owner is not None:
            yield path, owner, node
            return
        for step, part in _inside(node, frameworks):
            yield from walk(path + step, part, level + 1)

    yield from walk(name, value, 0)


def _inside(node: object, frameworks: Sequence[Framework]) -> Iterator[tuple[str, object]]:
    for framework in frameworks:
        named = framework.named_parts(node)
        if named is not None:
            yield from ((f".{name}", part) for name, part in named)
            return
    if isinstance(node, Mapping):
        yield from ((f"[{key!r}]", part) for key, part in node.items())
    elif isinstance(node, list | tuple):
        fields = getattr(type(node), "_fields", None)
        for index, part in enumerate(node):
            yield f".{fields[index]}" if fields else f"[{index}]", part
    elif isinstance(getattr(node, "__dict__", None), dict) and not callable(node):
        yield from ((f".{name}", part) for name, part in vars(node).items())
    elif dataclasses.is_dataclass(node) and not isinstance(node, type):
        for field in dataclasses.fields(node):  # with slots it has no dictionary
            yield f".{field.name}", getattr(node, field.name, None)
