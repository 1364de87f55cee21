"""Why figures moved, as far as the machine knows: short phrases from `Conditions`.

The limits come from measurements of matrix products in JAX, PyTorch, TensorFlow and NumPy on two
CPUs, alone and beside one to three programs that keep a CPU busy. Alone, threads of one product
waited for each other up to 18 % of the time, and Linux's pressure read up to 20 %; so pressure
does not show whose fault it is. The CPU time of all other programs does.
"""

from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.host.nvml import IDLE, Gpu

_WAITING_SHARE, _LONG_WAITING_SHARE = 0.05, 0.20  # of the wall time spent waiting for a CPU
_EXPLAINED_SHARE = 0.25  # of the waiting that other programs can explain, for them to be named
_NOTICED_CPUS = 0.15  # CPUs that other programs had: then it is not for its own threads alone
_MIN_SECONDS = 0.05  # seconds, for counters that rise in steps
_FULL_SHARE = 0.90  # of all CPUs
_STOLEN_SHARE = 0.01  # of all CPU time
_MIN_CPU_SECONDS = 0.03  # seconds: Linux counts CPU time in hundredths
_UNMEASURED_WEIGHT, _COLLECTOR_WEIGHT = 1e-3, 1e-4  # weights of what has no measure


def causes(conditions: Conditions) -> list[str]:
    """Return what may have disturbed the samples, in phrases with figures, weightiest first.

    Example:
        >>> causes(Conditions(wall=2.0, cpu=1.0, cpus=2, usable=2, busy=4.0, waited=0.9))
        ['other programs kept 1.5 of 2 CPUs busy (the code waited for a CPU 47 % of the time)']
    """
    if conditions.wall < _MIN_SECONDS:
        return []
    c = conditions
    phrases = [*_quota(c), *_cpus(c), *_hypervisor(c), *_gpus(c), *_collections(c)]
    phrases.sort(key=lambda weighed: -weighed[0])  # equal ones stay in this order
    return [phrase for _, phrase in phrases]


def _quota(c: Conditions) -> Iterator[tuple[float, str]]:
    if c.throttles:
        seconds = c.throttled or 0.0
        together = f", {units.duration(seconds, 2)} in total" if seconds else ""
        stops = units.count(c.throttles, "time")
        yield (
            max(seconds / c.wall, _UNMEASURED_WEIGHT),
            f"the container's CPU quota paused it {stops}{together}",
        )


def _cpus(c: Conditions) -> Iterator[tuple[float, str]]:
    """Name others where their CPU time explains the waiting, and its own threads otherwise."""
    if (c.throttled or 0.0) > _WAITING_SHARE * c.wall:
        return  # its threads waited for the quota, and for what they could not do meanwhile
    waiting = _waiting(c)
    if waiting <= _WAITING_SHARE * c.wall or c.others is None:
        return
    # What this process itself used of its CPUs, others did not take.
    theirs = min(c.others, waiting, max(c.usable * c.wall - c.cpu, 0.0))
    share = waiting / (waiting + c.cpu)
    waited = f" (the code waited for a CPU {units.percent(share)} of the time)"
    taken = min(c.others / c.wall, c.cpus)  # counted in hundredths, which may be too many
    used = f"{units.number(taken, 2)} of {units.count(c.cpus, 'CPU')}"
    if theirs >= max(_EXPLAINED_SHARE * waiting, _WAITING_SHARE * c.wall, _MIN_CPU_SECONDS):
        had = f"kept {used} busy" if waiting > _LONG_WAITING_SHARE * c.wall else f"used {used}"
        yield share, f"other programs {had}" + (waited if c.waited is not None else "")
    elif c.waited is not None and share > _LONG_WAITING_SHARE and theirs > _NOTICED_CPUS * c.wall:
        yield share, f"other programs used {used}{waited}"
    elif (
        c.waited is not None and theirs < _EXPLAINED_SHARE * waiting and share > _LONG_WAITING_SHARE
    ):
        yield share, f"the code runs more threads than there are CPUs{waited}"


def _waiting(c: Conditions) -> float:
    """Return seconds for which threads of this process waited for a CPU, as well as is known."""
    if c.waited is not None:
        return max(c.waited - (c.throttled or 0.0), 0.0)
    if c.pressure is not None:
        return c.pressure
    # All CPUs were taken: what others had of them, this process may have lacked.
    full = c.busy is not None and c.busy >= _FULL_SHARE * c.cpus * c.wall
    return (c.others or 0.0) if full else 0.0


def _hypervisor(c: Conditions) -> Iterator[tuple[float, str]]:
    steal, total = c.steal or 0.0, c.cpus * c.wall
    if steal > max(_STOLEN_SHARE * total, _MIN_CPU_SECONDS):
        share = min(steal / total, 1.0)
        yield share, f"the hypervisor took {units.percent(share)} of the CPU time (steal)"


def _gpus(c: Conditions) -> Iterator[tuple[float, str]]:
    for index, gpu in enumerate(c.gpus):
        # Which GPU is used is not always known; if there is one, it is that.
        if gpu.ours or (gpu.ours is None and len(c.gpus) == 1):
            which = "GPU" if len(c.gpus) == 1 else f"GPU {index}"
            yield from _clocks(gpu, which)
            if gpu.others:
                use = "other process uses" if gpu.others == 1 else "other processes use"
                yield _UNMEASURED_WEIGHT, f"{gpu.others:,} {use} the {which}"


def _clocks(gpu: Gpu, which: str) -> Iterator[tuple[float, str]]:
    reasons = ", ".join(reason for reason in gpu.reasons if reason != IDLE)
    if not reasons:
        return
    if gpu.clock and gpu.max_clock and gpu.clock < gpu.max_clock:
        share = gpu.clock / gpu.max_clock
        yield (
            max(1 - share, _UNMEASURED_WEIGHT),
            f"the {which} clock dropped to {units.percent(share)} of its maximum ({reasons})",
        )
    else:
        yield _UNMEASURED_WEIGHT, f"the {which} clock was limited ({reasons})"


def _collections(c: Conditions) -> Iterator[tuple[float, str]]:
    if c.collections:
        times = units.count(c.collections, "time")
        yield _COLLECTOR_WEIGHT, f"Python's garbage collector ran {times}"
