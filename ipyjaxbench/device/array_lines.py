"""Arrays in lines: what each is, and many of them in a few, by the beginnings of their paths."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ipyjaxbench import units
from ipyjaxbench.device.whereabouts import ArrayPlacement

#: One step of a path, such as ``.layers``, ``.0`` or ``['w']``.
_STEP = re.compile(r"""\.[^.\[]+|\[(?:'[^']*'|"[^"]*"|[^\]])*\]""")


def describe_array(each: ArrayPlacement) -> tuple[str, str]:
    """Return what it is, as "f32[3,4]" or "12 arrays", and its size; "" for what is no array."""
    if not each.framework:
        return each.dtype, ""
    kind = units.count(each.arrays, "array") if each.arrays > 1 else ""
    size = units.size(0 if each.deleted else each.nbytes)
    return kind or units.array(each.dtype, each.shape), size


def array_traits(each: ArrayPlacement) -> Iterator[str]:
    """Yield in words what is unusual about it, apart from its devices and its sharding."""
    if not each.framework:
        yield each.layout or "no arrays"
        return
    if each.deleted:
        yield "deleted (donated or freed by delete())"
        return
    yield from (text for text, is_so in (
        (f"shares memory with {each.of}", each.of), (each.memory, each.memory),
        ("committed", each.committed and each.sharding is None), ("weak type", each.weak),
        ("requires grad", each.gradients), (each.layout, each.layout),
    ) if is_so)  # fmt: skip


def fold_arrays(arrays: Sequence[ArrayPlacement], most: int) -> list[ArrayPlacement]:
    """Return a line for each beginning of a path, where there are more arrays than ``most``.

    Paths are cut no shorter than that takes; where only the names of values would be left, they
    are cut to their first step inside of it.
    """
    if len(arrays) <= most:
        return list(arrays)
    steps = [_STEP.findall(each.name) for each in arrays]
    keys = [each.name for each in arrays]
    for depth in range(max(map(len, steps)), 0, -1):
        keys = [_cut(each.name, path, depth) for each, path in zip(arrays, steps, strict=True)]
        if len(set(keys)) <= most:
            break
    groups: dict[tuple[str, str], list[ArrayPlacement]] = {}
    for key, each in zip(keys, arrays, strict=True):
        groups.setdefault((key, each.framework), []).append(each)
    return [_one(name, group) for (name, _), group in groups.items()]


def _cut(name: str, steps: Sequence[str], depth: int) -> str:
    """Return the name up to a step; one that has no more steps stays whole."""
    return name[: len(name) - sum(map(len, steps[depth:]))] if steps[depth:] else name


def _one(name: str, group: Sequence[ArrayPlacement]) -> ArrayPlacement:
    if len(group) == 1:
        return group[0]
    shared = sum(each.arrays for each in group if each.of)
    kinds = {each.sharding.describe() if each.sharding else "" for each in group}
    layouts = {each.layout for each in group}
    parts = [layouts.pop()] if len(layouts) == 1 else []
    parts += [f"{shared} sharing memory with others"] if shared else []
    parts += [kinds.pop()] if len(kinds) == 1 else []
    return replace(
        group[0],
        name=name,
        dtype="",
        shape=(),
        nbytes=sum(each.nbytes for each in group if not each.of and not each.deleted),
        devices=tuple(dict.fromkeys(device for each in group for device in each.devices)),
        memory=group[0].memory if len({each.memory for each in group}) == 1 else "",
        weak=all(each.weak for each in group),
        gradients=all(each.gradients for each in group),
        committed=all(each.committed for each in group),
        deleted=all(each.deleted for each in group),
        of="",
        layout=", ".join(filter(None, parts)),
        sharding=None,
        arrays=sum(each.arrays for each in group),
    )
