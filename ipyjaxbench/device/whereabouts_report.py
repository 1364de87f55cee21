"""How arrays are shown: a line for each, pictures of what is cut; the devices below them."""

from collections.abc import Iterator, Sequence

from ipyjaxbench import units
from ipyjaxbench.device.array_lines import array_traits, describe_array, fold_arrays
from ipyjaxbench.device.device_names import name_holders, shorten_devices
from ipyjaxbench.device.devices_report import device_rows
from ipyjaxbench.device.sharding_pictures import draw_shardings
from ipyjaxbench.device.whereabouts import ArrayPlacement, Whereabouts
from ipyjaxbench.reports import Block, Calls, Facts, Footer, Headline, Report, report

_MAX_ARRAYS = 40  # that are named one by one


@report.register
def _(w: Whereabouts) -> Report:
    """Return the blocks in the order in which they are read."""
    blocks: list[Block] = [_headline(w)]
    ranked = sorted(w.arrays, key=lambda each: -each.nbytes) if not w.asked else list(w.arrays)
    if ranked:
        head = ("name", "framework", "type", "size", "where")
        blocks.append(Calls(head, tuple(_rows(fold_arrays(ranked, _MAX_ARRAYS)))))
    if w.asked:
        blocks += draw_shardings(ranked)
    blocks.append(Facts(tuple(device_rows(w))))
    footer = [f"{home.framework} {home.version}" for home in w.homes]
    if w.process is not None:
        footer.insert(0, f"rank {w.process.rank} of {w.process.size} ({w.process.host})")
    return Report((*blocks, Footer(tuple(footer))) if footer else tuple(blocks))


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
    if w.process is not None and count:
        held = sum(nbytes for each in alive if not each.of for nbytes in w.here(each).values())
        parts.append(f"{units.size(held)} in rank {w.process.rank} of {w.process.size}")
    parts += [f"{deleted:,} deleted"] if deleted else []
    figure = units.count(count, "array") if count else "no arrays"
    return Headline(", ".join(w.asked) or "this session", figure, ", ".join(parts), "", "")


def _rows(arrays: list[ArrayPlacement]) -> Iterator[tuple[str, ...]]:
    for each in arrays[:_MAX_ARRAYS]:
        kind, size = describe_array(each)
        yield each.name, each.framework, kind, size, ", ".join(_where(each))
    rest = arrays[_MAX_ARRAYS:]
    if rest:
        count, nbytes = sum(each.arrays for each in rest), sum(each.nbytes for each in rest)
        yield "...", "", f"{count:,} more", units.size(nbytes), ""


def _where(each: ArrayPlacement) -> Iterator[str]:
    sharding = each.sharding
    if each.framework and not each.deleted:
        if sharding is None:
            yield from _devices(each.devices)
        else:
            yield name_holders(each.devices, sharding.ranks)
            yield sharding.describe()
            if not sharding.is_local:
                own = {s.device for s in sharding.shards if s.rank == sharding.rank}
                nbytes = sum(n for device, n in each.on_devices().items() if device in own)
                yield f"{units.size(nbytes)} in this rank" if own else "nothing in this rank"
    yield from array_traits(each)


def _devices(devices: Sequence[str]) -> Iterator[str]:
    """Yield those of this process, and the ranks that have further parts of several arrays."""
    ranks = [device for device in devices if device.startswith("rank:")]
    if own := [device for device in devices if device not in ranks]:
        yield shorten_devices(own)
    if ranks:
        yield f"parts on {shorten_devices(ranks)}"
