"""How devices are shown: a line for each framework, and one for the memory of each device."""

from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.device.device_names import shorten_devices
from ipyjaxbench.device.devices import Device, FrameworkDevices
from ipyjaxbench.device.whereabouts import Whereabouts
from ipyjaxbench.errors import by_caller


def device_rows(w: Whereabouts) -> Iterator[tuple[str, str]]:
    """Return rows of a report: devices of each framework, their memory, unnamed arrays."""
    if not w.homes and not w.asked:
        yield "devices", "none: no framework with devices of its own is imported"
    for home in w.homes:
        yield home.framework, _devices(home, w.by_device(home.framework))
        for device in home.devices:
            memory = _memory(device)
            if memory:
                yield device.name, memory
        for text in home.texts:
            yield "", text
        count, nbytes = w.unnamed.get(home.framework, (0, 0))
        if count:
            which = units.count(count, "unnamed array")
            yield "", f"{which}, {units.size(nbytes)}{_largest(w, home.framework)}"


def _largest(w: Whereabouts, framework: str) -> str:
    for each in w.largest:
        if each.framework == framework:
            made = f", {each.layout}" if each.layout else ""
            array = f"{units.array(each.dtype, each.shape)}, {units.size(each.nbytes)}{made}"
            return f"; largest: {array}"
    return ""


def _devices(home: FrameworkDevices, held: dict[str, tuple[int, int]]) -> str:
    if not home.started:
        start = by_caller("%fwdevices --start", "devices(start=True)")
        return f"imported but not initialized; `{start}` lists its devices"
    names = [device.name for device in home.devices]
    count = f" ({len(names)} devices)" if len(names) > 1 else ""
    is_choice = home.default and (len(names) > 1 or home.default not in names)
    why = f" ({home.why})" if home.why else ""
    default = f", default {home.default}{why}" if is_choice else ""
    sizes = [held[name][1] for name in names if name in held]
    arrays = f", {units.size(sum(sizes))} in arrays" if sizes else ""
    return f"{shorten_devices(names)}{count}{default}{arrays}"


def _memory(device: Device) -> str:
    parts = [device.kind] if device.kind else []
    if device.used is not None:
        limit = f" of {units.size(device.limit)}" if device.limit is not None else ""
        parts.append(f"{units.size(device.used)}{limit} in use")
    if device.peak is not None:
        parts.append(f"peak use {units.size(device.peak)}")
    if device.coordinates:
        parts.append(f"coordinates {device.coordinates}")
    if device.users:
        others = units.count(device.users, "other process uses", "other processes use")
        parts.append(f"{others} it")
    return ", ".join(parts)
