"""Calls that find their data in memory: before each of them, other data fills the caches.

A call that is repeated reads what the one before has left in the last-level cache. Between other
work, as in the first step after another model's, it does not. So NVIDIA's and triton's benchmarks
write twice the cache's size before each call: https://github.com/NVIDIA/nvbench/pull/100.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ipyjaxbench import stats, units
from ipyjaxbench.device import DeviceInventory, Run, find_datasheet
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Framework, Placement
from ipyjaxbench.host import largest_cache
from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.usercode import describe_error

_TIMES_THE_CACHE = 2
_UNKNOWN_CACHE = 64 * 2**20  # bytes, where nothing tells; more than most have
_FEWEST, _MOST = 5, 200  # calls
_ALIKE = 0.1  # times the same, by which the two differ at most


@dataclass(frozen=True)
class ColdCache:
    """Single calls, before each of which the last-level cache was filled with other data."""

    seconds: tuple[NonNegativeFloat, ...] = ()  # of each call
    cache: NonNegativeInt = 0  # bytes of the largest cache among the devices
    reason: str = ""  # why they are not known, in words; empty where they are

    @property
    def median(self) -> float | None:
        """Seconds per call; None if unknown."""
        return stats.median(self.seconds) if self.seconds else None

    def words(self, warm: float, precision: int = 3) -> str:
        """Return the row of a report; ``warm`` are the seconds of a call that finds its data.

        Example:
            >>> ColdCache((2e-3,) * 20, 50 * 2**20).words(1e-3)
            '2.00 ms per call, 2.0× the time with warm ones; 20 more calls, after writes of 100 MiB'
        """
        if self.median is None:
            return f"unknown: {self.reason}"
        ratio = self.median / warm if warm else 1.0
        how = f"{units.times(ratio)} the time with warm ones"
        how = "as with warm ones" if abs(ratio - 1) <= _ALIKE else how
        taken = units.duration(self.median, precision)
        written = units.size(_TIMES_THE_CACHE * self.cache)
        calls = units.count(len(self.seconds), "more call")
        return f"{taken} per call, {how}; {calls}, after writes of {written}"

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        return None if bool(self.seconds) != bool(self.reason) else "cold calls without a time"


def measure_cold_cache(
    calls: Calls,
    frameworks: Sequence[Framework],
    places: Iterable[Placement],
    typical: float,
    budget: float,
    *,
    ended_early: bool,
) -> ColdCache:
    """Make calls, each after a write that fills the caches; whatever they raise ends these alone.

    Args:
        calls: makes them.
        frameworks: in play; their arrays fill the caches.
        places: where the arrays live that the code reads and returns.
        typical: nanoseconds that a call takes.
        budget: seconds to spend.
        ended_early: whether the measurement ended early; then no more calls are made.
    """
    __tracebackhide__ = True
    if ended_early:
        return ColdCache(reason="the measurement ended early")
    if typical > budget * 1e9:
        over = units.duration(budget, 2)
        return ColdCache(reason=f"another call would exceed the time budget of {over}")
    used = {(place.framework, device) for place in places for device in place.devices}
    if not used:
        return ColdCache(reason="the code uses no arrays")
    by_name = {framework.name: framework for framework in frameworks}
    writes = [_write(by_name[name], device) for name, device in sorted(used) if name in by_name]
    known = [write for write in writes if write is not None]
    if not known:
        return ColdCache(reason="no device can be filled")
    try:
        seconds = _time(calls, [run for run, _ in known], budget)
    except KeyboardInterrupt as interrupt:
        calls.interrupt = interrupt
        return ColdCache(reason="interrupted")
    except CODE_ERRORS as error:  # whatever the user's code raises
        return ColdCache(reason=f"a call raised {describe_error(error)}")
    return ColdCache(seconds, max(cache for _, cache in known))


def _write(framework: Framework, device: str) -> tuple[Run, int] | None:
    """Return what fills the caches of a device, and the bytes of its largest one."""
    inventory = framework.capability(DeviceInventory)
    probe = inventory.probe(device)
    if probe is None:
        return None
    cache = largest_cache() if probe.on_host else None
    if not probe.on_host:
        kinds = {each.name: each.kind for each in inventory.devices().devices}
        sheet = find_datasheet(kinds.get(device, ""))
        cache = sheet.cache if sheet is not None else None
    cache = cache or _UNKNOWN_CACHE
    with probe.default_settings():
        run, _ = probe.streams(_TIMES_THE_CACHE * cache)[0]

    def write() -> None:
        with probe.default_settings():
            run()

    return write, cache


def _time(calls: Calls, writes: Sequence[Run], budget: float) -> tuple[float, ...]:
    __tracebackhide__ = True
    before, wall = calls.before_each, calls.clock.wall
    end = wall() + int(budget * 1e9)

    def prepare() -> None:
        if before is not None:
            before()
        for write in writes:
            write()

    calls.before_each = prepare
    seconds: list[float] = []
    try:
        while len(seconds) < _FEWEST or (len(seconds) < _MOST and wall() < end):
            seconds.append(calls.sample(1).ns * 1e-9)
    finally:
        calls.before_each = before
    return tuple(seconds)
