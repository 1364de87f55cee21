"""Shardings drawn: which devices hold which part, and what each part takes."""

import itertools
import math
from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.device.device_names import name_holders
from ipyjaxbench.device.sharding import Sharding
from ipyjaxbench.device.whereabouts import ArrayPlacement
from ipyjaxbench.reports import Block, Details, Facts, Grid, Tiles

_MAX_PICTURES = 4
_MAX_TILES = 96  # of all pictures of a report
_MAX_ROWS = 16  # of a picture of several arrays
_MAX_PARTS, _FEW_PARTS = 16, 8  # along an axis, of one array alone and of several
_MAX_NAMES = 4
_UNEVEN = 1.01

_Cut = tuple[ArrayPlacement, Sharding]


def draw_shardings(arrays: Sequence[ArrayPlacement]) -> Iterator[Block]:
    """Yield the first arrays as they lie on devices, a table by device, and what shards take.

    Where there are too many to draw them all, one is drawn of those that are sharded alike.
    """
    every = [(each, each.sharding) for each in arrays if each.sharding is not None]
    if not every:
        return
    alike = _group(every) if len(every) > _MAX_PICTURES else [[each] for each in every]
    cut = [group[0] for group in alike[:_MAX_PICTURES]]
    most = _FEW_PARTS if len(cut) > 1 else _MAX_PARTS
    panels = [panel for each, sharding in cut for panel in sharding.panels(_title(each), most)]
    sizes = itertools.accumulate(len(panel.rows) * len(panel.columns) for panel in panels)
    shown = [panel for panel, size in zip(panels, sizes, strict=True) if size <= _MAX_TILES]
    yield Tiles(tuple(shown))
    if left := len(panels) - len(shown):
        yield Facts((("not drawn", f"{left:,} of {len(panels):,} panels"),))
    lines = [line for group in alike[:_MAX_PICTURES] for line in _parts(group, len(cut))]
    yield Facts(tuple(("" if number else "shards", line) for number, line in enumerate(lines)))
    table = _together(cut)
    if table is not None:
        yield Details("by device", (table,), printed=len(cut) > 1)
    if rest := [each.name for group in alike[_MAX_PICTURES:] for each, _ in group]:
        yield Facts((("not drawn", f"{_name_some(rest)}: give fewer names at once"),))


def _group(cut: Sequence[_Cut]) -> list[list[_Cut]]:
    """Return arrays that are sharded alike together."""
    groups: dict[tuple[str, Sharding], list[_Cut]] = {}
    for each, sharding in cut:
        groups.setdefault((each.dtype, sharding), []).append((each, sharding))
    return [*groups.values()]


def _name_some(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _title(each: ArrayPlacement) -> str:
    return f"{each.name} {units.array(each.dtype, each.shape)}"


def _together(cut: Sequence[tuple[ArrayPlacement, Sharding]]) -> Grid | None:
    """Return devices down and arrays across; devices with the same parts of all share a row."""
    parts_of = [sharding.parts_by_device() for _, sharding in cut]
    ranks = {device: rank for _, sharding in cut for device, rank in sharding.ranks.items()}
    rows: dict[tuple[str, ...], list[str]] = {}
    for device in dict.fromkeys(device for parts in parts_of for device in parts):
        rows.setdefault(tuple(parts.get(device, "") for parts in parts_of), []).append(device)
    if len(rows) > _MAX_ROWS:
        return None
    names = tuple(each.name for each, _ in cut)
    lines = ((name_holders(devices, ranks), *cells) for cells, devices in rows.items())
    return Grid("", names, tuple(lines))


def _parts(alike: Sequence[_Cut], drawn: int) -> Iterator[str]:
    """Yield what each shard of an array takes, and which others are sharded alike."""
    each, sharding = alike[0]
    largest = units.size(sharding.largest(each.nbytes // max(math.prod(each.shape), 1)))
    count = max(round(sharding.copies), 1)
    on = f"every shard is on {units.count(count, 'device')}"
    if sharding.balance >= _UNEVEN:
        text = f"the fullest device holds {largest}, {sharding.balance:.2f}× the mean; {on}"
    elif sharding.cut():
        text = f"each device holds {largest}; {on}; evenly split"
    else:
        what = "a partial result" if sharding.partial else "all of it"
        text = f"each device holds {what}, {largest}"
    yield f"{each.name}: {text}" if drawn > 1 else text
    if sharding.words:
        yield sharding.words
    if others := [other.name for other, _ in alike[1:]]:
        yield f"sharded alike: {_name_some(others)}"
