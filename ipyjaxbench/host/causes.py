"""Why figures moved, as far as the machine tells: short phrases from `Conditions`.

The limits come from measurements of matrix products in JAX, PyTorch, TensorFlow and NumPy on two
CPUs, alone and beside one to three programs that keep a CPU busy. Alone, threads of one product
waited for each other up to 18 % of the time, and Linux's pressure read up to 20 %; so pressure
does not tell whose fault it is. The CPU time of all other programs does.
"""

from collections.abc import Iterator

from ipyjaxbench import units
from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.host.nvml import IDLE, Gpu

_DISTURBED, _BUSY = 0.05, 0.20  # of the wall time spent waiting for a CPU
_THEIRS = 0.25  # of the waiting that other programs can explain, for them to be named
_NOTICED = 0.15  # CPUs that other programs had: then it is not for its own threads alone
_LONG_ENOUGH = 0.05  # seconds, for counters that rise in steps
_FULL = 0.90  # of all CPUs
_STOLEN = 0.01  # of all CPU time
_READABLE = 0.03  # seconds: Linux counts CPU time in hundredths
_SLIGHT, _SLIGHTEST = 1e-3, 1e-4  # weights of what has no measure


def causes(conditions: Conditions) -> list[str]:
    """Return what may have disturbed the samples, weightiest first.

    Args:
        conditions: of the time in which they were taken.

    Returns:
        Phrases for people, with figures; none where nothing was seen.

    Example:
        >>> causes(Conditions(wall=2.0, cpu=1.0, cpus=2, usable=2, busy=4.0, waited=0.9))
        ['other programs kept 1.5 of 2 CPUs busy (waited 47 % of the time for one)']
    """
    if conditions.wall < _LONG_ENOUGH:
        return []
    found = [*_quota(conditions), *_cpus(conditions), *_hypervisor(conditions)]
    found += [*_gpus(conditions), *_collections(conditions)]
    found.sort(key=lambda weighed: -weighed[0])  # equal ones stay in this order
    return [phrase for _, phrase in found]


def _quota(c: Conditions) -> Iterator[tuple[float, str]]:
    if c.throttles:
        seconds = c.throttled or 0.0
        together = f", {units.duration(seconds, 2)} together" if seconds else ""
        stops = units.count(c.throttles, "time")
        share = seconds / c.wall if c.wall > 0 else 0.0
        yield max(share, _SLIGHT), f"the CPU quota of this container stopped it {stops}{together}"


def _cpus(c: Conditions) -> Iterator[tuple[float, str]]:
    """Others are named where their CPU time explains the waiting; its own threads otherwise."""
    if (c.throttled or 0.0) > _DISTURBED * c.wall:
        return  # its threads waited for the quota, and for what they could not do meanwhile
    waiting = _waiting(c)
    if waiting <= _DISTURBED * c.wall or c.others is None or c.wall <= 0:
        return
    # What this process itself used of its CPUs, nobody took from it.
    theirs = min(c.others, waiting, max(c.usable * c.wall - c.cpu, 0.0))
    share = waiting / (waiting + c.cpu)
    waited = f" (waited {units.percent(share)} of the time for one)"
    taken = min(c.others / c.wall, c.cpus)  # counted in hundredths, which may be too many
    used = f"{units.number(taken, 2)} of {units.count(c.cpus, 'CPU')}"
    if theirs >= max(_THEIRS * waiting, _DISTURBED * c.wall, _READABLE):
        kept = f"kept {used} busy" if waiting > _BUSY * c.wall else f"used {used}"
        yield share, f"other programs {kept}" + (waited if c.waited is not None else "")
    elif c.waited is not None and share > _BUSY and theirs > _NOTICED * c.wall:
        yield share, f"other programs used {used}{waited}"
    elif c.waited is not None and theirs < _THEIRS * waiting and share > _BUSY:
        yield share, f"the code runs more threads than it has CPUs{waited}"


def _waiting(c: Conditions) -> float:
    """Return seconds for which threads of this process waited for a CPU, as well as it is told."""
    if c.waited is not None:
        return max(c.waited - (c.throttled or 0.0), 0.0)
    if c.pressure is not None:
        return c.pressure
    # All CPUs were taken: what others had of them, this process may have lacked.
    full = c.busy is not None and c.busy >= _FULL * c.cpus * c.wall
    return (c.others or 0.0) if full else 0.0


def _hypervisor(c: Conditions) -> Iterator[tuple[float, str]]:
    steal, total = c.steal or 0.0, c.cpus * c.wall
    if steal > max(_STOLEN * total, _READABLE):
        share = min(steal / total, 1.0) if total > 0 else 1.0
        yield share, f"the hypervisor took {units.percent(share)} of the CPU time"


def _gpus(c: Conditions) -> Iterator[tuple[float, str]]:
    for index, gpu in enumerate(c.gpus):
        # Which GPU is used is not always told; if there is one, it is that.
        if gpu.ours or (gpu.ours is None and len(c.gpus) == 1):
            which = "GPU" if len(c.gpus) == 1 else f"GPU {index}"
            yield from _clocks(gpu, which)
            if gpu.others:
                holds = "other process holds" if gpu.others == 1 else "other processes hold"
                yield _SLIGHT, f"{gpu.others:,} {holds} a part of the {which}"


def _clocks(gpu: Gpu, which: str) -> Iterator[tuple[float, str]]:
    reasons = ", ".join(reason for reason in gpu.reasons if reason != IDLE)
    if not reasons:
        return
    if gpu.clock and gpu.max_clock and gpu.clock < gpu.max_clock:
        share = gpu.clock / gpu.max_clock
        yield max(1 - share, _SLIGHT), f"{which} clocks fell to {units.percent(share)} ({reasons})"
    else:
        yield _SLIGHT, f"{which} clocks were held down ({reasons})"


def _collections(c: Conditions) -> Iterator[tuple[float, str]]:
    if c.collections:
        times = units.count(c.collections, "time")
        yield _SLIGHTEST, f"Python's garbage collector ran {times}"
