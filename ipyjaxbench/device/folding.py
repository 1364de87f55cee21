"""Many arrays in a few lines: those of one module, or of one part of a tree, together."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipyjaxbench.device.placement import Located

#: One step of a path, such as ``.layers``, ``.0`` or ``['w']``.
_STEP = re.compile(r"""\.[^.\[]+|\[(?:'[^']*'|"[^"]*"|[^\]])*\]""")


def folded(arrays: "Sequence[Located]", most: int) -> "list[Located]":
    """The same arrays in fewer lines, where there are more than ``most``.

    Args:
        arrays: in the order in which they are told.
        most: lines wanted. Paths are cut no shorter than that takes; where only the names of
            values would be left, they are cut to their first step inside of it.

    Returns:
        A line for each beginning of a path, with the arrays below it counted.
    """
    if len(arrays) <= most:
        return list(arrays)
    steps = [_STEP.findall(each.name) for each in arrays]
    keys = [each.name for each in arrays]
    for depth in range(max(map(len, steps)), 0, -1):
        keys = [_cut(each.name, found, depth) for each, found in zip(arrays, steps, strict=True)]
        if len(set(keys)) <= most:
            break
    groups: dict[tuple[str, str], list[Located]] = {}
    for key, each in zip(keys, arrays, strict=True):
        groups.setdefault((key, each.framework), []).append(each)
    return [_one(name, mine) for (name, _), mine in groups.items()]


def _cut(name: str, steps: Sequence[str], depth: int) -> str:
    """The name up to a step; one that has no more steps stays whole."""
    return name[: len(name) - sum(map(len, steps[depth:]))] if steps[depth:] else name


def _one(name: str, mine: "Sequence[Located]") -> "Located":
    if len(mine) == 1:
        return mine[0]
    shared = sum(each.arrays for each in mine if each.of)
    kinds = {each.sharding.told() if each.sharding else "" for each in mine}
    layouts = {each.layout for each in mine}
    words = [layouts.pop()] if len(layouts) == 1 else []
    words += [f"{shared} of them share memory with others"] if shared else []
    words += [kinds.pop()] if len(kinds) == 1 else []
    return replace(
        mine[0],
        name=name,
        dtype="",
        shape=(),
        nbytes=sum(each.nbytes for each in mine if not each.of and not each.deleted),
        devices=tuple(dict.fromkeys(device for each in mine for device in each.devices)),
        memory=mine[0].memory if len({each.memory for each in mine}) == 1 else "",
        weak=all(each.weak for each in mine),
        gradients=all(each.gradients for each in mine),
        committed=all(each.committed for each in mine),
        deleted=all(each.deleted for each in mine),
        of="",
        layout=", ".join(filter(None, words)),
        sharding=None,
        arrays=sum(each.arrays for each in mine),
    )
