"""What the machine did while samples were taken, and what machine it is. Looks, never touches."""

import gc
import math
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from ipyjaxbench.host import procfs
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.host.nvml import Gpu, load_gpu_driver, query_gpus
from ipyjaxbench.host.procfs import ROOT, CpuTimes
from ipyjaxbench.host.system import usable_cpus

_N = TypeVar("_N", int, float)


@dataclass(frozen=True)
class Conditions:
    """What happened on the machine in a stretch of time; None stands for "not known here".

    Attributes:
        wall: elapsed seconds.
        cpu: CPU seconds of this process, all threads together.
        cpus: logical CPUs of the machine.
        usable: CPUs on which this process may run.
        busy: CPU seconds of all programs, including this process.
        waited: seconds that threads of this process waited for a CPU, summed up.
        pressure: seconds in which any program of the machine waited for a CPU.
        throttles: how often a CPU quota throttled this process's group.
        throttled: for how many seconds, summed over all CPUs.
        steal: CPU seconds taken by the hypervisor.
        switches: involuntary context switches of this process.
        collections: Python garbage collections.
        gpus: state of the GPUs at the end.
        model: the CPU's model name.

    Example:
        >>> Conditions(wall=2.0, cpu=1.9, cpus=4, usable=4, busy=2.0).others
        0.10000000000000009
    """

    wall: float
    cpu: float
    cpus: int
    usable: int
    busy: float | None = None
    waited: float | None = None
    pressure: float | None = None
    throttles: int | None = None
    throttled: float | None = None
    steal: float | None = None
    switches: int | None = None
    collections: int | None = None
    gpus: tuple[Gpu, ...] = ()
    model: str | None = None

    @property
    def others(self) -> float | None:
        """CPU seconds of all other programs."""
        return None if self.busy is None else max(self.busy - self.cpu, 0.0)

    @property
    def taken(self) -> float:
        """Share of all CPUs taken by other programs or the hypervisor; 0 if unknown."""
        return ((self.others or 0.0) + (self.steal or 0.0)) / self.wall / self.cpus

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        facts = [self.wall, self.cpu, self.busy, self.waited, self.pressure, self.throttles]
        facts += [self.throttled, self.steal, self.switches, self.collections]
        if any(fact is not None and not 0 <= fact < math.inf for fact in facts):
            return "a fact about the machine is negative or not a number"
        if not 1 <= self.usable <= self.cpus:
            return "a machine has no CPUs, or more are usable than there are"
        return None


class _Counters(NamedTuple):
    cpu: float
    busy: float | None
    steal: float | None
    waits: Mapping[str, float] | None
    pressure: float | None
    throttles: int | None
    throttled: float | None
    switches: int | None
    collections: int


class Meter:
    """Counts from when it is made.

    Args:
        clock: for the seconds that pass.
        gpus: whether to ask NVIDIA's driver: only where a framework uses it anyway.
        root: of the file tree in which Linux has its counters.

    Example:
        >>> meter = Meter(Clock.elapsed())
        >>> meter.read().wall > 0
        True
    """

    def __init__(self, clock: Clock, *, gpus: bool = False, root: Path = ROOT) -> None:
        self._clock = clock
        self._gpus = gpus
        self._root = root
        if gpus:
            load_gpu_driver()
        self._before = _counters(root)
        self._start = clock.wall()

    def waited(self) -> float | None:
        """Return the seconds that threads of this process waited for a CPU, summed up."""
        return _waited(self._before.waits, procfs.waits(self._root))

    def read(self) -> Conditions:
        """Return what happened since it was made; call it right after the last sample."""
        wall = (self._clock.wall() - self._start) * 1e-9
        gpus = query_gpus() if self._gpus else ()  # first of all: their clocks fall when idle
        before, now = self._before, _counters(self._root)
        cpus = os.cpu_count() or 1
        return Conditions(
            wall=wall,
            cpu=max(now.cpu - before.cpu, 0.0),
            cpus=cpus,
            usable=min(usable_cpus(), cpus),
            busy=_rise(before.busy, now.busy),
            waited=_waited(before.waits, now.waits),
            pressure=_rise(before.pressure, now.pressure),
            throttles=_rise(before.throttles, now.throttles),
            throttled=_rise(before.throttled, now.throttled),
            steal=_rise(before.steal, now.steal),
            switches=_rise(before.switches, now.switches),
            collections=_rise(before.collections, now.collections),
            gpus=gpus,
            model=_cpu(self._root),
        )


@cache
def describe_machine(root: Path = ROOT) -> dict[str, str | int | float | None]:
    """Return facts by name on this machine, without its name; None for what is not known.

    Example:
        >>> describe_machine()["python"] == platform.python_version()
        True
    """
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "cpu": _cpu(root),
        "cpus": os.cpu_count(),
        "usable_cpus": usable_cpus(),
        "cpu_quota": procfs.quota(root),
        "memory": _memory(root),
        "memory_limit": procfs.memory_limit(root),
    }


@cache
def _cpu(root: Path) -> str | None:
    return procfs.cpu_model(root) or os.environ.get("PROCESSOR_IDENTIFIER")


def _counters(root: Path) -> _Counters:
    times, stops = _cpu_times(root), procfs.throttling(root)
    return _Counters(
        cpu=Clock.cpu().now() * 1e-9,
        busy=times.busy if times else None,
        steal=times.steal if times else None,
        waits=procfs.waits(root),
        pressure=procfs.pressure(root),
        throttles=stops.times if stops else None,
        throttled=stops.seconds if stops else None,
        switches=_switches(),
        collections=sum(generation["collections"] for generation in gc.get_stats()),
    )


def _cpu_times(root: Path) -> CpuTimes | None:
    if platform.system() == "Linux":  # read here, since psutil takes a while to import
        return procfs.cpu_times(root)
    import psutil

    times = psutil.cpu_times()
    return CpuTimes(times.user + times.system + getattr(times, "nice", 0.0), None)


def _memory(root: Path) -> int | None:
    if platform.system() == "Linux":
        return procfs.memory(root)
    import psutil

    total: int = psutil.virtual_memory().total
    return total


def _switches() -> int | None:
    if platform.system() == "Windows":
        return None
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _rise(before: _N | None, now: _N | None) -> _N | None:
    """Return how much a counter rose; None where it is not known, or fell, as no counter does."""
    if before is None or now is None or now < before:
        return None
    return now - before


def _waited(before: Mapping[str, float] | None, now: Mapping[str, float] | None) -> float | None:
    """Return how much longer threads waited; a new thread may have the number of an old one."""
    if before is None or now is None:
        return None
    rises = ((_rise(before.get(thread, 0.0), seconds), seconds) for thread, seconds in now.items())
    return math.fsum(seconds if rise is None else rise for rise, seconds in rises)
