"""One rank of a real job, which measures its network; run by `test_real_network`.

Rank 0 prints as JSON what was found, and what the measurement changed in this process.
"""

import gc
import json
import os
import sys
import time
from typing import Any

from ipyjaxbench.cluster import join, measure_network
from ipyjaxbench.frameworks import find_job
from ipyjaxbench.host import Clock
from tests.cluster import rank_program


def settings(framework: str) -> list[Any]:
    """What the user has set, and the state of generators."""
    if framework == "jax":
        import jax

        gc.collect()
        return [dict(jax.config.values), len(jax.live_arrays())]
    import torch
    import torch.distributed as dist

    groups = len(dist.distributed_c10d._world.pg_map)
    return [torch.get_rng_state().tolist(), torch.is_grad_enabled(), groups,
            str(torch.get_default_device()), str(torch.get_default_dtype())]  # fmt: skip


def main(framework: str, rank: int, size: int, port: int) -> None:
    """Be one rank of ``size``."""
    start = rank_program.start_jax if framework == "jax" else rank_program.start_torch
    compute, x = start(rank, size, port)
    compute(x)
    job = find_job()
    assert job is not None
    before = settings(framework)
    found = []
    for _ in range(2):
        with join(*job, 30, Clock.elapsed()) as rendezvous:
            found.append(measure_network(rendezvous, seconds=2))
    same = settings(framework) == before
    compute(x)  # the ranks are still together
    if rank == 0:
        first, again = found
        assert first is not None
        assert again is not None
        times = [[each.kind, each.nbytes, each.seconds] for each in first.times]
        print("found", json.dumps({
            "times": times, "missing": first.missing, "participants": first.participants,
            "transport": first.transport, "same": same, "stored": again.stored,
        }), flush=True)  # fmt: skip
    time.sleep(0.5)
    os._exit(0)  # a job that ends in order waits for ranks that have gone


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
