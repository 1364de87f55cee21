"""One rank of a job of two, which times a step without a collective in step and by itself.

``python -m tests.accuracy.overhead_job FRAMEWORK ROUNDS RANK SIZE PORT``; rank 0 prints as JSON the
medians of both. Each rank has a CPU of its own: ranks that share some disturb each other more when
they begin together, with or without us.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

import ipyjaxbench
from ipyjaxbench.cluster import join, measure_rank
from ipyjaxbench.frameworks import Job, find_job
from ipyjaxbench.host import Clock
from ipyjaxbench.timing import TimeOptions
from ipyjaxbench.usercode import Snippet, Source
from tests.accuracy.ranks_job import tell
from tests.cluster.engines import be_rank

_PAIRS = 10  # in each round
_SECONDS = 60


def step(framework: str) -> tuple[Callable[[Any], Any], Any]:
    """A function without a collective, in one thread, and its argument."""
    if framework == "jax":
        import jax
        import numpy as np

        return jax.jit(lambda a: a * 2 + 1), jax.device_put(np.ones((96, 96), np.float32))
    import torch

    torch.set_num_threads(1)
    return (lambda a: a * 2 + 1), torch.ones(96, 96)


def meet(job: Job, name: str) -> None:
    """Wait for the other rank."""
    job.put(f"{name}/{job.rank}", b"")
    job.get(f"{name}/{1 - job.rank}", _SECONDS * 1000)


def main(framework: str, rounds: int, number: int, size: int, port: int) -> None:
    """Be one rank of ``size``."""
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[number % len(cpus)]})
    be_rank(framework, number, size, port)
    adapter, job = find_job() or (None, None)
    assert adapter is not None
    assert job is not None
    compute, x = step(framework)
    names = {"compute": compute, "x": x}
    snippet = Snippet(Source.plain("compute(x)"), names)
    found: dict[str, list[float]] = {"alone": [], "in step": []}
    for pair in range(rounds * _PAIRS):
        meet(job, f"pair/{pair}")
        found["alone"].append(ipyjaxbench.measure_code("compute(x)", names).median)
        job.put(f"done/{pair}/{number}", b"")
        while job.peek(f"done/{pair}/{1 - number}") is None:  # as in a job, the other one computes
            ipyjaxbench.measure_code("compute(x)", names, budget=0.05)
        with join(adapter, job, _SECONDS, Clock.elapsed()) as rendezvous:
            measured = measure_rank(snippet, TimeOptions(), rendezvous)
        found["in step"] += [] if measured is None else [measured.ranks[0].measurement.median]
    tell(number, found)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
