"""Has a process of its own join a job, for the benchmark of accuracy."""

import os
from collections.abc import Callable
from typing import Any


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
