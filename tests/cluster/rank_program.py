"""One rank of a real job, which times a step twice; run by `test_real_jobs`.

Rank 0 prints as JSON what was found in each measurement: medians and numbers of samples of all
ranks, the rank that the others wait for, or the error.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from ipyjaxbench.cluster import RankError, join, measure_rank
from ipyjaxbench.frameworks import find_job
from ipyjaxbench.host import Clock
from ipyjaxbench.timing import TimeOptions
from ipyjaxbench.usercode import Snippet, Source

SLOW_SECONDS = 0.05


def start_jax(rank: int, size: int, port: int) -> tuple[Callable[[Any], Any], Any]:
    """Join a job of JAX's; return a function with a collective in it, and its argument."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", size, rank)
    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("d",)), PartitionSpec("d"))
    whole = np.zeros((96, 96), np.float32)
    x = jax.make_array_from_callback(whole.shape, sharding, whole.__getitem__)
    return jax.jit(lambda a: (a @ a.T).sum()), x


def start_torch(rank: int, size: int, port: int) -> tuple[Callable[[Any], Any], Any]:
    """Join a job of torch's; return a function with a collective in it, and its argument."""
    import torch
    import torch.distributed as dist

    where = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=size)

    def compute(a: Any) -> Any:
        y = a @ a
        dist.all_reduce(y)
        return y

    return compute, torch.ones(96, 96)


def measure(code: str, names: dict[str, Any]) -> dict[str, Any]:
    """Time code in step with the other ranks."""
    job = find_job()
    assert job is not None
    try:
        with join(*job, 30, Clock.elapsed()) as rendezvous:
            snippet = Snippet(Source.plain(code), names)
            measured = measure_rank(snippet, TimeOptions(aim="quick"), rendezvous)
    except RankError as error:
        return {"error": str(error)}
    if measured is None:
        return {}
    return {
        "medians": [each.measurement.median for each in measured.ranks],
        "calls": [sum(n for n, _ in each.measurement.batches) for each in measured.ranks],
        "slowest": measured.slowest,
        "waits": measured.waits,
        "exchanged": [[e.kind, e.count, e.nbytes, e.alone] for e in measured.ranks[1].exchanged],
        "report": str(measured),
    }


def start_profiler(framework: str) -> Callable[[], object]:
    """Start the framework's profiler, as a user does who profiles this rank; return its end."""
    if framework == "jax":
        import jax.profiler

        folder = tempfile.TemporaryDirectory()
        jax.profiler.start_trace(folder.name)
        return jax.profiler.stop_trace
    import torch

    profiler = torch.profiler.profile()
    profiler.start()
    return profiler.stop


def main(framework: str, case: str, rank: int, size: int, port: int) -> None:
    """Be one rank of ``size``."""
    start = start_jax if framework == "jax" else start_torch
    compute, x = start(rank, size, port)

    def step(a: Any) -> Any:
        if case == "slow" and rank == 1:
            time.sleep(SLOW_SECONDS)
        return compute(a)

    names = {"step": step, "x": x}
    differs = case == "differs" and rank > 0
    stop = start_profiler(framework) if case == f"profiled {rank}" else None
    found = [measure("step(x) if 1 else 2" if differs else "step(x)", names)]
    if stop is not None:
        stop()
    found.append(measure("step(x)", names))  # the ranks are still together
    if rank == 0:
        print("found", json.dumps(found), flush=True)
    time.sleep(0.5)
    os._exit(0)  # a job that ends in order waits for ranks that have gone


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
