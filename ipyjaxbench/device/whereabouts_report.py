"""How arrays are shown: a line for each, pictures of what is cut; the devices below them."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ipyjaxbench import units
from ipyjaxbench.device.devices_report import device_rows
from ipyjaxbench.device.sharding import Sharding, shorten_devices
from ipyjaxbench.device.whereabouts import ArrayPlacement, Whereabouts
from ipyjaxbench.reports import (
    Block,
    Calls,
    Details,
    Facts,
    Footer,
    Grid,
    Headline,
    Report,
    Tiles,
    report,
)

#: One step of a path, such as ``.layers``, ``.0`` or ``['w']``.
_STEP = re.compile(r"""\.[^.\[]+|\[(?:'[^']*'|"[^"]*"|[^\]])*\]""")
_MAX_ARRAYS = 40  # that are named one by one
_MAX_PICTURES = 4
_MAX_TILES = 96  # of all pictures of a report
_MAX_ROWS = 16  # of a picture of several arrays


@report.register
def _(w: Whereabouts) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(w)]
    ranked = sorted(w.arrays, key=lambda each: -each.nbytes) if not w.asked else list(w.arrays)
    if ranked:
        head = ("name", "framework", "type", "size", "where")
        blocks.append(Calls(head, tuple(_rows(fold_arrays(ranked, _MAX_ARRAYS)))))
    pictured = [each for each in ranked if each.sharding is not None]
    if w.asked and pictured:
        blocks += _pictures(pictured[:_MAX_PICTURES])
        if rest := pictured[_MAX_PICTURES:]:
            names = ", ".join(each.name for each in rest[:_MAX_PICTURES])
            more = f" and {len(rest) - _MAX_PICTURES:,} more" if len(rest) > _MAX_PICTURES else ""
            blocks.append(Facts((("not drawn", f"{names}{more}: give fewer names at once"),)))
    blocks.append(Facts(tuple(device_rows(w))))
    versions = tuple(f"{home.framework} {home.version}" for home in w.homes)
    return Report((*blocks, Footer(versions)) if versions else tuple(blocks))


def _headline(w: Whereabouts) -> Headline:
    alive = [each for each in w.arrays if each.framework and not each.deleted]
    count = sum(each.arrays for each in alive)
    total = sum(each.nbytes for each in alive if not each.of)
    devices = {device for each in alive for device in each.devices}
    if any(device.startswith("cpu:") for device in devices):
        devices.discard("cpu")  # some frameworks number the parts of the host, others do not
    on = f" on {units.count(len(devices), 'device')}" if devices else ""
    deleted = sum(each.arrays for each in w.arrays if each.deleted)
    parts = [f"{units.size(total)}{on}"] if count else []
    parts += [f"{deleted:,} deleted"] if deleted else []
    figure = units.count(count, "array") if count else "no arrays"
    return Headline(", ".join(w.asked) or "this session", figure, ", ".join(parts), "", "")


def _rows(arrays: list[ArrayPlacement]) -> Iterator[tuple[str, ...]]:
    for each in arrays[:_MAX_ARRAYS]:
        kind = units.array(each.dtype, each.shape) if each.framework else each.dtype
        if each.arrays > 1:
            kind = units.count(each.arrays, "array")
        size = units.size(0 if each.deleted else each.nbytes) if each.framework else ""
        yield each.name, each.framework, kind, size, ", ".join(_where(each))
    rest = arrays[_MAX_ARRAYS:]
    if rest:
        count, nbytes = sum(each.arrays for each in rest), sum(each.nbytes for each in rest)
        yield "...", "", f"{count:,} more", units.size(nbytes), ""


def _where(each: ArrayPlacement) -> Iterator[str]:
    if not each.framework:
        yield each.layout or "no arrays"
        return
    if each.deleted:
        yield "deleted (donated or freed by delete())"
        return
    if each.devices:
        yield shorten_devices(each.devices)
    if each.sharding is not None:
        yield each.sharding.describe()
        if each.sharding.hidden:
            yield f"{units.count(each.sharding.hidden, 'shard')} in other processes"
    yield from (text for text, is_so in (
        (f"shares memory with {each.of}", each.of), (each.memory, each.memory),
        ("committed", each.committed and each.sharding is None), ("weak type", each.weak),
        ("requires grad", each.gradients), (each.layout, each.layout),
    ) if is_so)  # fmt: skip


def _pictures(arrays: Sequence[ArrayPlacement]) -> Iterator[Block]:
    """Yield the arrays as they lie on devices, a table by device, and what shards take."""
    cut = [(each, each.sharding) for each in arrays if each.sharding is not None]
    panels = [panel for each, sharding in cut for panel in sharding.panels(_title(each))]
    sizes = itertools.accumulate(len(panel.rows) * len(panel.columns) for panel in panels)
    shown = [panel for panel, size in zip(panels, sizes, strict=True) if size <= _MAX_TILES]
    yield Tiles(tuple(shown))
    if rest := len(panels) - len(shown):
        yield Facts((("not drawn", f"{rest:,} of {len(panels):,} panels"),))
    heads = ("shards" if len(cut) == 1 else f"shards of {each.name}" for each, _ in cut)
    rows = (_parts(*each, head) for each, head in zip(cut, heads, strict=True))
    yield Facts((*itertools.chain.from_iterable(rows),))
    table = _together(cut)
    if table is not None:
        yield Details("by device", (table,), printed=len(cut) > 1)


def _title(each: ArrayPlacement) -> str:
    return f"{each.name} {units.array(each.dtype, each.shape)}"


def _together(cut: Sequence[tuple[ArrayPlacement, Sharding]]) -> Grid | None:
    """Return devices down and arrays across; devices with the same parts of all share a row."""
    parts_of = [sharding.parts_by_device() for _, sharding in cut]
    rows: dict[tuple[str, ...], list[str]] = {}
    for device in dict.fromkeys(device for parts in parts_of for device in parts):
        rows.setdefault(tuple(parts.get(device, "") for parts in parts_of), []).append(device)
    if len(rows) > _MAX_ROWS:
        return None
    names = tuple(each.name for each, _ in cut)
    return Grid(
        "", names, tuple((shorten_devices(devices), *cells) for cells, devices in rows.items())
    )


def _parts(each: ArrayPlacement, sharding: Sharding, head: str) -> Iterator[tuple[str, str]]:
    largest = units.size(sharding.largest(each.nbytes // max(math.prod(each.shape), 1)))
    count = max(round(sharding.copies), 1)
    on = f"every shard is on {units.count(count, 'device')}"
    if sharding.balance >= 1.01:
        yield head, f"the fullest device holds {largest}, {sharding.balance:.2f}× the mean; {on}"
    elif sharding.cut():
        yield head, f"each device holds {largest}; {on}; evenly split"
    else:
        what = "a partial result" if sharding.partial else "all of it"
        yield head, f"each device holds {what}, {largest}"
    if sharding.words:
        yield "", sharding.words


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
