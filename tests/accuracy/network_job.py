"""One rank of a job whose 64 MiB all-reduce is timed by us and by hand, in turns.

``python -m tests.accuracy.network_job FRAMEWORK ROUNDS RANK SIZE PORT``; rank 0 prints as JSON the
bytes in a second of each round: ours, and those of a loop with barriers.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from ipyjaxbench.cluster import join, measure_network
from ipyjaxbench.frameworks import find_job
from ipyjaxbench.host import Clock
from tests.accuracy.ranks_job import tell
from tests.cluster.engines import be_rank

NBYTES = 2**26
_SECONDS = 10.0  # for all that we measure
_LOOPS, _CALLS = 8, 2


def torch_by_hand() -> float:
    """Seconds of an all-reduce, in the slowest rank."""
    import torch
    import torch.distributed as dist

    x = torch.zeros(NBYTES // 4)
    seconds = torch.tensor(_loop(lambda: dist.all_reduce(x), dist.barrier))
    dist.all_reduce(seconds, dist.ReduceOp.MAX)
    return float(seconds)


def jax_by_hand() -> float:
    """Seconds of an all-reduce, in the slowest process."""
    import jax
    import numpy as np
    from jax.experimental import multihost_utils
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()), ("d",))
    spec = PartitionSpec("d")
    own = np.zeros(NBYTES // 4, np.float32)
    x = jax.make_array_from_process_local_data(NamedSharding(mesh, spec), own)
    reduce = jax.jit(
        jax.shard_map(lambda x: jax.lax.psum(x, "d"), mesh=mesh, in_specs=spec,
                      out_specs=spec, check_vma=False)
    )  # fmt: skip
    seconds = _loop(
        lambda: reduce(x).block_until_ready(), lambda: multihost_utils.sync_global_devices("hand")
    )
    return float(np.max(multihost_utils.process_allgather(np.float32(seconds))))


def _loop(run: Callable[[], object], barrier: Callable[[], object]) -> float:
    """The median of loops that begin at a barrier."""
    run()
    taken = []
    for _ in range(_LOOPS):
        barrier()
        start = time.perf_counter()
        for _ in range(_CALLS):
            run()
        taken.append((time.perf_counter() - start) / _CALLS)
    return statistics.median(taken)


def _ours(job: Any) -> float | None:
    """What we say of it, in rank 0."""
    with join(*job, 60, Clock.elapsed()) as rendezvous:
        peaks = measure_network(rendezvous, remeasure=True, seconds=_SECONDS)
    if peaks is None:
        return None
    found = peaks.at("all-reduce", NBYTES)
    assert found is not None
    assert found.nbytes == NBYTES, found.nbytes
    return peaks.busbw(found)


def main(framework: str, rounds: int, rank: int, size: int, port: int) -> None:
    """Be one rank of ``size``."""
    by_hand = jax_by_hand if framework == "jax" else torch_by_hand
    be_rank(framework, rank, size, port)
    job = find_job()
    ours: list[float | None] = []
    hands: list[float] = []
    for _ in range(rounds):
        ours.append(_ours(job))
        hands.append(NBYTES / by_hand() * 2 * (size - 1) / size)
    tell(rank, {"ours": ours, "by hand": hands})


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
