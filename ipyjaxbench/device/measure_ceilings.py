"""Measures what devices can do at most, once for each sort of device, and keeps it."""

import gc
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ipyjaxbench.device import ceilings_store, microbenchmarks
from ipyjaxbench.device.ceilings import Ceiling, Ceilings
from ipyjaxbench.device.ceilings_store import Key
from ipyjaxbench.device.inventory import Device
from ipyjaxbench.device.microbenchmarks import Probe, Run
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.frameworks import Framework, loaded
from ipyjaxbench.host import Clock, Meter, largest_cache

_SECONDS = 2.1  # for each device; a first look at everything is taken in any case
_STEADY = 0.05
#: Seconds for each size of a product, for going through memory, for copies, and for tiny work.
_PRODUCT, _STREAM, _COPY, _TINY = 0.05, 0.1, 0.1, 0.02
#: Threads that wait for more work let go of the CPUs within that many seconds.
_SETTLE = 0.25
_CACHES = 4  # times as much as the largest cache holds is read from memory
_ON_HOST, _ELSEWHERE, _COPIED = 2**27, 2**29, 2**27  # bytes of arrays, if there is room
_SMALL_SHARE = 8  # of the free memory that is taken at most: one part in so many


def ceilings(*, start: bool = False, fresh: bool = False, clock: Clock | None = None) -> Ceilings:
    """Return what the devices of all frameworks that have started can do at most.

    Args:
        start: whether frameworks that were imported may look for devices now.
        fresh: measure also what was measured and kept before.
        clock: to read.

    Returns:
        A ceiling for each framework and sort of device.
    """
    clock = clock or Clock.elapsed()
    spent = 0.0
    found: list[Ceiling] = []
    words: list[str] = []
    for framework in loaded()[0]:
        if start:
            framework.capability(DeviceInventory).start()
        for device, probe in probes(framework):
            key = key_of(framework, device, probe)
            known, wrong = ceilings_store.read(key)
            words += [wrong] if wrong and not fresh else []
            if known is None or fresh:
                clock.sleep(_SETTLE)
                spent += _SETTLE
                before, known = known, _measured(framework, key, probe, clock)
                spent += known.seconds
                known = known.at_least(before) if before else known
                failed = "" if known.is_disturbed else ceilings_store.write(key, known)
                words += [failed] if failed and failed not in words else []
            found.append(replace(known, device=probe.device))
    return Ceilings(tuple(found), Clock.calendar().now() * 1e-9, spent, tuple(words))


def kept(framework: Framework, device: str) -> Ceiling | None:
    """Return what was measured before of a device; nothing is measured now.

    Args:
        framework: whose operations.
        device: its name.
    """
    if not framework.started():
        return None
    for each in _devices(framework):
        probe = (
            framework.capability(DeviceInventory).probe(each.name) if each.name == device else None
        )
        if probe is not None:
            return ceilings_store.read(key_of(framework, each, probe))[0]
    return None


def probes(framework: Framework) -> Iterator[tuple[Device, Probe]]:
    """Yield one of each sort of device of a framework that has started."""
    known: set[tuple[str, bool]] = set()
    for device in _devices(framework) if framework.started() else ():
        probe = framework.capability(DeviceInventory).probe(device.name)
        if probe is not None and (sort := (device.kind, probe.on_host)) not in known:
            known.add(sort)
            yield device, probe


def key_of(framework: Framework, device: Device, probe: Probe) -> Key:
    """Return what a ceiling depends on."""
    kind = device.kind or device.name.partition(":")[0]
    threads = framework.capability(DeviceInventory).threads() if probe.on_host else None
    return Key(framework.name, framework.version(), kind, threads, probe.settings)


def _devices(framework: Framework) -> tuple[Device, ...]:
    """A framework without devices of its own computes on the host."""
    return (
        framework.capability(DeviceInventory).devices().devices
        if framework.capability(DeviceInventory).has_devices
        else (Device("cpu"),)
    )


def _measured(framework: Framework, key: Key, probe: Probe, clock: Clock) -> Ceiling:
    meter, begun = Meter(clock), clock.wall()
    cache = largest_cache() or 0
    wanted = max(_ON_HOST, _CACHES * cache) if probe.on_host else _ELSEWHERE
    nbytes = min(wanted, framework.free_memory() // _SMALL_SHARE)
    looks = _Looks(probe, clock, nbytes)
    collects = gc.isenabled()
    gc.disable()
    try:
        with probe.usual():
            looks.until(begun + int(_SECONDS * 1e9))
    finally:
        if collects:
            gc.enable()
    conditions = meter.read()
    found = looks.best()
    return Ceiling(
        framework=key.framework,
        version=key.version,
        device=probe.device,
        kind=key.kind,
        threads=key.threads,
        settings=key.settings,
        products={dtype: found[dtype] for dtype in probe.dtypes if dtype in found},
        bandwidth=found.get("memory") if nbytes > wanted // 2 else None,
        beyond=wanted // 2,
        upload=found.get("upload"),
        download=found.get("download"),
        latency=1 / found["latency"] if "latency" in found else None,
        spread=looks.spread(),
        others=conditions.taken,
        seconds=conditions.wall,
        taken=Clock.calendar().now() * 1e-9,
    )


class _Looks:
    """Looks at each figure, apart in time: what disturbs one look need not disturb the next.

    Args:
        probe: makes the work.
        clock: to read.
        nbytes: to go through in memory.
    """

    def __init__(self, probe: Probe, clock: Clock, nbytes: int) -> None:
        self._clock, self._nbytes = clock, nbytes
        self._sides: dict[str, int] = {}
        self._seen: dict[str, list[float]] = {}
        self._rates: dict[str, Callable[[], float]] = {
            dtype: partial(self._product, partial(probe.product, dtype), dtype)
            for dtype in probe.dtypes
        }
        self._rates["memory"] = partial(self._memory, probe)
        if not probe.on_host:
            self._rates["upload"] = partial(self._copy, probe.upload)
            self._rates["download"] = partial(self._copy, probe.download)
        self._rates["latency"] = partial(self._tiny, probe)

    def until(self, end: int) -> None:
        """Look at everything once, and again at what is not steady yet, as time allows.

        Args:
            end: a moment on the wall's clock.
        """
        for name in list(self._rates):
            self._take(name)
        while unsteady := [name for name in self._seen if self._apart(name) > _STEADY]:
            for name in unsteady:
                if self._clock.wall() > end:
                    return
                self._take(name)

    def best(self) -> dict[str, float]:
        """Return the highest rate of each, by name."""
        return {name: max(seen) for name, seen in self._seen.items()}

    def spread(self) -> float:
        """Return how far the two best looks at a figure are apart, at most."""
        return max(map(self._apart, self._seen), default=0.0)

    def _apart(self, name: str) -> float:
        """Relative to the best look; 1 where there is no other."""
        *_, second, first = sorted([0.0, *self._seen[name]])
        return 1 - second / first

    def _take(self, name: str) -> None:
        try:
            self._seen.setdefault(name, []).append(self._rates[name]())
        # Of what devices cannot do, frameworks say so in many ways.
        except Exception:  # noqa: BLE001
            del self._rates[name], self._seen[name]

    def _product(self, product: Callable[[int], Run], dtype: str) -> float:
        """A later look begins at the size that was fastest."""
        sides = microbenchmarks.SIDES[
            microbenchmarks.SIDES.index(self._sides.get(dtype, microbenchmarks.SIDES[0])) :
        ]
        rate, self._sides[dtype] = microbenchmarks.of_products(
            product, self._clock, _PRODUCT, sides
        )
        return rate

    def _memory(self, probe: Probe) -> float:
        ways = probe.streams(self._nbytes)
        return max(moved / self._fastest(run, _STREAM) for run, moved in ways)

    def _copy(self, made: Callable[[int], Run]) -> float:
        nbytes = min(_COPIED, self._nbytes)
        return nbytes / self._fastest(made(nbytes), _COPY)

    def _tiny(self, probe: Probe) -> float:
        return 1 / self._fastest(probe.nothing(), _TINY)

    def _fastest(self, run: Run, seconds: float) -> float:
        return microbenchmarks.fastest(run, self._clock, seconds)
