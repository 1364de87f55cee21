"""Measures what devices can do at most, once for each sort of device, and keeps it."""

import gc
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from ipyjaxbench.device import peaks_store
from ipyjaxbench.device.devices import Device
from ipyjaxbench.device.microbenchmarks import Probe, Run, fastest, fastest_product, fastest_size
from ipyjaxbench.device.peaks import DevicePeaks, Peaks
from ipyjaxbench.device.peaks_store import Key
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.device.start_frameworks import start_frameworks
from ipyjaxbench.frameworks import Framework, loaded
from ipyjaxbench.host import Clock, Meter, largest_cache
from ipyjaxbench.reports import Note

_SECONDS = 2.1  # for each device; of everything one sample is taken in any case
_MAX_SPREAD = 0.05
#: Seconds for each size of a product, for going through memory, for copies, and for tiny work.
_PRODUCT, _STREAM, _COPY, _TINY = 0.05, 0.1, 0.1, 0.02
#: Threads that wait for more work let go of the CPUs within that many seconds.
_SETTLE = 0.25
_CACHES = 4  # times as much as the largest cache holds is read from memory
#: Bytes of arrays, if there is room: on the host; on other devices (an H200 needs the last to
#: reach its memory's speed); of copies.
_HOST_BYTES, _DEVICE_BYTES, _COPY_BYTES = 2**27, (2**29, 2**30, 2**31), 2**27
_MEMORY_PARTS = 8  # of the free memory, one of which is taken at most


def collect_peaks(
    *, start: bool = False, remeasure: bool = False, clock: Clock | None = None
) -> Peaks:
    """Return what the devices of all frameworks that have started can do at most.

    With ``start`` those that were imported start first; ``remeasure`` measures stored ones too.
    """
    clock = clock or Clock.elapsed()
    spent = 0.0
    collected: list[DevicePeaks] = []
    notes: list[Note] = []
    for framework in loaded()[0]:
        if start:
            start_frameworks([framework])
        for device, probe in probes(framework):
            key = key_of(framework, device, probe)
            peaks, unread = peaks_store.read(key)
            notes += [] if remeasure else unread
            if peaks is None or remeasure:
                clock.sleep(_SETTLE)
                before, peaks = peaks, _measure(framework, key, probe, clock)
                spent += _SETTLE + peaks.seconds
                peaks = peaks.combine(before) if before else peaks
                notes += [] if peaks.is_disturbed else peaks_store.write(key, peaks)
            collected.append(replace(peaks, device=probe.device))
    return Peaks(
        tuple(collected), Clock.calendar().now() * 1e-9, spent, tuple(dict.fromkeys(notes))
    )


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


def _measure(framework: Framework, key: Key, probe: Probe, clock: Clock) -> DevicePeaks:
    meter, begun = Meter(clock), clock.wall()
    cache = largest_cache() or 0
    wanted = (max(_HOST_BYTES, _CACHES * cache),) if probe.on_host else _DEVICE_BYTES
    beyond, room = wanted[0] // 2, framework.free_memory() // _MEMORY_PARTS
    samples = _Samples(probe, clock, [min(wanted[0], room), *(n for n in wanted[1:] if n <= room)])
    collects = gc.isenabled()
    gc.disable()
    try:
        with probe.default_settings():
            samples.take_until(begun + int(_SECONDS * 1e9))
    finally:
        if collects:
            gc.enable()
    conditions = meter.read()
    rates = samples.best()
    return DevicePeaks(
        **key._asdict(),
        device=probe.device,
        products={dtype: rates[dtype] for dtype in probe.dtypes if dtype in rates},
        bandwidth=rates.get("memory") if room > beyond else None,
        beyond=beyond,
        upload=rates.get("upload"),
        download=rates.get("download"),
        latency=1 / rates["latency"] if "latency" in rates else None,
        spread=samples.spread(),
        others=conditions.taken,
        seconds=conditions.wall,
        taken=Clock.calendar().now() * 1e-9,
    )


class _Samples:
    """Samples of each figure, apart in time: what disturbs one need not disturb the next."""

    def __init__(self, probe: Probe, clock: Clock, nbytes: Sequence[int]) -> None:
        self._clock, self._nbytes = clock, nbytes
        self._all_sides, self._in_a_row = probe.sides, probe.in_a_row
        self._sizes: dict[str, int] = {}  # those that were fastest: a later sample begins there
        self._rates: dict[str, list[float]] = {}
        self._measures: dict[str, Callable[[], float]] = {
            dtype: partial(self._product, partial(probe.product, dtype), dtype)
            for dtype in probe.dtypes
        }
        self._measures["memory"] = partial(self._memory, probe)
        if not probe.on_host:
            self._measures["upload"] = partial(self._copy, probe.upload)
            self._measures["download"] = partial(self._copy, probe.download)
        self._measures["latency"] = lambda: 1 / fastest(probe.smallest_operation(), clock, _TINY)

    def take_until(self, end: int) -> None:
        """Sample everything once, and again what is not steady yet, until a moment."""
        for name in list(self._measures):
            self._take(name)
        while unsteady := [name for name in self._rates if self._spread(name) > _MAX_SPREAD]:
            for name in unsteady:
                if self._clock.wall() > end:
                    return
                self._take(name)

    def best(self) -> dict[str, float]:
        """Return the highest rate of each, by name."""
        return {name: max(rates) for name, rates in self._rates.items()}

    def spread(self) -> float:
        """Return how far the two best samples of a figure are apart, at most."""
        return max(map(self._spread, self._rates), default=0.0)

    def _spread(self, name: str) -> float:
        """Return it relative to the best sample; 1 where there is no other."""
        *_, second, first = sorted([0.0, *self._rates[name]])
        return 1 - second / first

    def _take(self, name: str) -> None:
        try:
            self._rates.setdefault(name, []).append(self._measures[name]())
        # Of what devices cannot do, frameworks say so in many ways.
        except Exception:  # noqa: BLE001
            del self._measures[name], self._rates[name]

    def _product(self, product: Callable[[int], Run], dtype: str) -> float:
        rate, self._sizes[dtype] = fastest_product(
            product, self._clock, _PRODUCT, self._from(dtype, self._all_sides), self._in_a_row
        )
        return rate

    def _memory(self, probe: Probe) -> float:
        def rate(nbytes: int) -> float:
            ways = probe.streams(nbytes)
            return max(moved / fastest(run, self._clock, _STREAM) for run, moved in ways)

        def moved(nbytes: int) -> float:
            return 2.0 * nbytes * self._in_a_row

        found, self._sizes["memory"] = fastest_size(
            rate, moved, _STREAM, self._from("memory", self._nbytes)
        )
        return found

    def _from(self, name: str, sizes: Sequence[int]) -> Sequence[int]:
        return [size for size in sizes if size >= self._sizes.get(name, 0)]

    def _copy(self, made: Callable[[int], Run]) -> float:
        nbytes = min(_COPY_BYTES, self._nbytes[0])
        return nbytes / fastest(made(nbytes), self._clock, _COPY)
