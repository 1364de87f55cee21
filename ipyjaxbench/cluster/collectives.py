"""Time in collectives: what a rank that comes early waits there for the last one."""

import re
from collections.abc import Sequence

from ipyjaxbench.timing import Interval

#: Operations of XLA, kernels of NCCL and RCCL, and what gloo, UCC and MPI do on the host.
_COLLECTIVE = re.compile(
    r"(all-(reduce|gather|to-all)|reduce-scatter|collective-(permute|broadcast)|ragged-all-to-all)"
    r"|ncclDevKernel|ncclKernel|(gloo|ucc|mpi):"
)


def is_collective(interval: Interval) -> bool:
    """Whether an operation is a collective, by its name or by what it exchanges.

    XLA names an operation after what the user's code called: a ``psum`` has not "all-reduce" in it.
    """
    return interval.exchanged is not None or _COLLECTIVE.match(interval.operation) is not None


def collective_seconds(intervals: Sequence[Interval], calls: int) -> list[float]:
    """Return the seconds that each call spent in collectives, for one device of the rank.

    Args:
        intervals: what a profiler saw of ``calls`` calls of the same code.
        calls: how many calls.

    Returns:
        Seconds, one number for each call; empty where there are no collectives, or where calls
        cannot be told apart because they had different numbers of them.

    Example:
        >>> collective_seconds([Interval("all-reduce.1", 0, 2e9, "cpu:0")], 1)
        [2.0]
    """
    found = sorted(filter(is_collective, intervals), key=lambda i: i.start)
    if not found or len(found) % calls:
        return []
    each = len(found) // calls
    devices = len({i.device for i in found})
    return [
        sum(i.end - i.start for i in found[first : first + each]) * 1e-9 / devices
        for first in range(0, len(found), each)
    ]
