"""Measures what devices can do at most, once for each sort of device, and keeps it.

All devices together have one time. Each has its share of what is left when its turn comes; what one
does not need goes to those behind it, and in the end to figures for which there was no time.
"""

import gc
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ipyjaxbench.device import peaks_store
from ipyjaxbench.device.devices import Device
from ipyjaxbench.device.microbenchmarks import Probe
from ipyjaxbench.device.peak_figures import PeakFigures, figure_names
from ipyjaxbench.device.peaks import DevicePeaks, Peaks
from ipyjaxbench.device.peaks_store import Key
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.device.start_frameworks import start_frameworks
from ipyjaxbench.frameworks import Framework, loaded
from ipyjaxbench.host import Clock, Meter, largest_cache
from ipyjaxbench.reports import Note

_SECONDS = 15.0  # for all devices, with what is compiled and copied for them
_HOST_SECONDS = 2.4  # for the host in one framework: little is compiled, and nothing copied
_DEVICE_WEIGHT = 3  # times the share of the host in one framework
#: Threads that wait for more work let go of the CPUs within that many seconds.
_SETTLE = 0.25
_CACHES = 4  # times as much as the largest cache holds is read from memory
#: Bytes of arrays, if there is room: on the host; on other devices (an H200 needs the last to
#: reach its memory's speed).
_HOST_BYTES, _DEVICE_BYTES = 2**27, (2**29, 2**30, 2**31)
_MEMORY_PARTS = 8  # of the free memory, one of which is taken at most


class _Look:
    """One device, what is known of it, and which figures are still to be measured."""

    def __init__(
        self, framework: Framework, key: Key, probe: Probe, known: DevicePeaks | None
    ) -> None:
        self.framework, self.key, self.probe, self.known = framework, key, probe, known
        self.due = figure_names(probe)
        self.costs: dict[str, int] = {}  # nanoseconds of first samples

    def share(self, after: Sequence["_Look"], seconds: float) -> float:
        """Return how much of the seconds is for this device, which others have their turn after."""
        weights = [1 if each.probe.on_host else _DEVICE_WEIGHT for each in (self, *after)]
        own = seconds * weights[0] / sum(weights)
        return min(own, _HOST_SECONDS) if self.probe.on_host else own


def collect_peaks(
    *, start: bool = False, remeasure: bool = False, clock: Clock | None = None
) -> Peaks:
    """Return what the devices of all frameworks that have started can do at most.

    With ``start`` those that were imported start first; ``remeasure`` measures stored ones too.
    """
    clock = clock or Clock.elapsed()
    looks, notes = _find_looks(start=start, remeasure=remeasure)
    end, spent = clock.wall() + int(_SECONDS * 1e9), 0.0
    for is_first in (True, False):
        due = [look for look in looks if look.due]
        for number, look in enumerate(due):
            left = (end - clock.wall()) * 1e-9
            if is_first or left > _SETTLE:
                seconds, unsaved = _carry_out(look, look.share(due[number + 1 :], left), clock)
                spent += seconds
                notes += unsaved
    found = (replace(k, device=look.probe.device) for look in looks if (k := look.known))
    return Peaks(tuple(found), Clock.calendar().now() * 1e-9, spent, tuple(dict.fromkeys(notes)))


def _find_looks(*, start: bool, remeasure: bool) -> tuple[list[_Look], list[Note]]:
    """Return the devices with what is stored of them, and what is wrong with that."""
    looks: list[_Look] = []
    notes: list[Note] = []
    for framework in loaded()[0]:
        if start:
            start_frameworks([framework])
        for device, probe in probes(framework):
            key = key_of(framework, device, probe)
            known, unread = peaks_store.read(key)
            notes += [] if remeasure else unread
            looks.append(look := _Look(framework, key, probe, known))
            if known is not None and not remeasure:
                look.due = tuple(name for name in look.due if name in known.missing)
    return looks, notes


def _carry_out(look: _Look, seconds: float, clock: Clock) -> tuple[float, list[Note]]:
    """Measure what is due in so many seconds; return those that it took, and what was not saved."""
    end = clock.wall() + int(seconds * 1e9)
    settle = min(_SETTLE, max(seconds, 0.0))
    clock.sleep(settle)
    peaks = _measure(look, end, clock)
    look.due = peaks.missing
    look.known = peaks.combine(look.known) if look.known else peaks
    found_nothing = peaks.missing and not peaks.rates()  # since there was no time
    if found_nothing or peaks.is_disturbed:
        return settle + peaks.seconds, []
    return settle + peaks.seconds, peaks_store.write(look.key, look.known)


def find_peaks(framework: Framework, devices: Collection[str]) -> DevicePeaks | None:
    """Return what was measured before of one of several equal devices; nothing is measured now.

    Several devices of the host share its CPUs: what one of them reaches alone says nothing there.
    """
    found = [(each, probe) for each, probe in _probes(framework) if each.name in devices]
    keys = {key_of(framework, each, probe) for each, probe in found}
    on_host = any(probe.on_host for _, probe in found)
    if len(found) != len(devices) or len(keys) != 1 or (on_host and len(found) > 1):
        return None
    return peaks_store.read(keys.pop())[0]


def probes(framework: Framework) -> Iterator[tuple[Device, Probe]]:
    """Yield one of each sort of device of a framework that has started."""
    sorts: set[tuple[str, bool]] = set()
    for device, probe in _probes(framework):
        if (sort := (device.kind, probe.on_host)) not in sorts:
            sorts.add(sort)
            yield device, probe


def key_of(framework: Framework, device: Device, probe: Probe) -> Key:
    """Return what peaks depend on."""
    kind = device.kind or device.name.partition(":")[0]
    threads = framework.capability(DeviceInventory).threads() if probe.on_host else None
    return Key(framework.name, framework.version(), kind, threads, probe.settings)


def _probes(framework: Framework) -> Iterator[tuple[Device, Probe]]:
    """Yield its devices that compute; one without devices of its own computes on the host."""
    inventory = framework.capability(DeviceInventory)
    if framework.started():
        host = (Device("cpu"),)
        for device in inventory.devices().devices if inventory.has_devices else host:
            probe = inventory.probe(device.name)
            if probe is not None:
                yield device, probe


def _measure(look: _Look, end: int, clock: Clock) -> DevicePeaks:
    """Measure the figures that are due until a moment."""
    probe, meter = look.probe, Meter(clock)
    cache = largest_cache() or 0
    wanted = (max(_HOST_BYTES, _CACHES * cache),) if probe.on_host else _DEVICE_BYTES
    beyond, room = wanted[0] // 2, look.framework.free_memory() // _MEMORY_PARTS
    nbytes = [min(wanted[0], room), *(n for n in wanted[1:] if n <= room)]
    figures = PeakFigures(probe, clock, nbytes, look.due, look.costs)
    collects = gc.isenabled()
    gc.disable()
    try:
        with probe.default_settings():
            figures.sample_until(end)
    finally:
        if collects:
            gc.enable()
    conditions = meter.read()
    rates, spreads = figures.rates(), figures.spreads()
    if room <= beyond:  # so small an array stays in a cache
        for known in (rates, spreads):
            known.pop("memory", None)
    return DevicePeaks(
        **look.key._asdict(),
        device=probe.device,
        products={dtype: rates[dtype] for dtype in probe.dtypes if dtype in rates},
        bandwidth=rates.get("memory"),
        beyond=beyond,
        upload=rates.get("upload"),
        download=rates.get("download"),
        latency=1 / rates["latency"] if "latency" in rates else None,
        spread=max(spreads.values(), default=0.0),
        others=conditions.taken,
        seconds=conditions.wall,
        taken=Clock.calendar().now() * 1e-9,
        spreads=spreads,
        missing=figures.missing(),
    )
