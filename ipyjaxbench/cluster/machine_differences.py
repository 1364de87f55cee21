"""How the machines of ranks differ: other processors, and clocks that are lower than others'."""

from collections.abc import Iterator, Sequence

from ipyjaxbench.cluster.rank_facts import differ
from ipyjaxbench.host import IDLE, Conditions, Gpu

_SAME_CLOCK = 0.95  # of the highest: GPUs change theirs by less all the time


def describe_differing_machines(ranks: Sequence[tuple[str, Conditions]]) -> Iterator[str]:
    """Yield a sentence for what differs between the machines of ranks while they ran.

    Example:
        >>> a, b = (Conditions(1.0, 1.0, 8, 8, model=name) for name in "AB")
        >>> [*describe_differing_machines([("rank 0", a), ("rank 1", b), ("rank 2", a)])]
        ['CPU models differ: A in rank 0,2, B in rank 1.']
    """
    yield from differ("CPU models differ", [(rank, c.model or "unknown") for rank, c in ranks])
    gpus = [(rank, gpu) for rank, c in ranks for gpu in _used(c.gpus)]
    yield from differ("GPU models differ", [*dict.fromkeys((rank, gpu.name) for rank, gpu in gpus)])
    clocks = [(gpu.clock, rank, gpu) for rank, gpu in gpus if gpu.clock]
    if len({gpu.name for _, _, gpu in clocks}) == 1:
        yield from _differing_clocks(clocks)


def _used(gpus: Sequence[Gpu]) -> Sequence[Gpu]:
    """Return the GPUs that a process uses; none where that is not known: idle ones run slower."""
    return gpus if len(gpus) == 1 else [gpu for gpu in gpus if gpu.ours]


def _differing_clocks(clocks: Sequence[tuple[int, str, Gpu]]) -> Iterator[str]:
    slow, slow_rank, gpu = min(clocks, key=lambda clock: clock[0])
    fast, fast_rank, _ = max(clocks, key=lambda clock: clock[0])
    if slow < _SAME_CLOCK * fast:
        reasons = ", ".join(reason for reason in gpu.reasons if reason != IDLE)
        because = f" ({reasons})" if reasons else ""
        yield f"GPU clocks differ: {slow} MHz in {slow_rank}{because}, {fast} MHz in {fast_rank}."
