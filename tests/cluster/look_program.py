"""One rank of a real job, which looks where its values live; run by `test_look_real_jobs`.

It looks when it is told to by a line on its input, and prints what it found as JSON. Until then,
and after that, it takes part in nothing.
"""

import json
import os
import sys
from typing import Any

from ipyjaxbench.cluster import locate_here


def make_jax(rank: int, size: int, port: int) -> dict[str, Any]:
    """Join a job of JAX's, of two devices in each process; return arrays of all kinds."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    jax.config.update("jax_num_cpu_devices", 2)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", size, rank)
    line = Mesh(np.array(jax.devices()), ("d",))
    square = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))
    here = Mesh(np.array(jax.local_devices()), ("own",))
    second = Mesh(np.array(jax.devices()[2:]), ("d",))

    def cut(mesh: Any, *spec: str | None) -> Any:
        whole = np.arange(32, dtype=np.float32).reshape(8, 4)
        return jax.make_array_from_callback(
            whole.shape, NamedSharding(mesh, P(*spec)), whole.__getitem__, dtype=whole.dtype
        )

    return {
        "rows": cut(line, "d"),
        "tiles": cut(square, "data", "model"),
        "by_process": cut(square, "data"),
        "by_device": cut(square, None, "model"),
        "whole": cut(square),
        "second": cut(second, "d"),
        "own": cut(here, "own"),
        "one": jnp.ones((3, 3)),
        "host": np.ones(5),
        "uneven": np.ones(4 + rank),
    }


def make_torch(rank: int, size: int, port: int) -> dict[str, Any]:
    """Join a job of torch's; return tensors of all kinds."""
    import numpy as np
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

    where = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=size)
    mesh = init_device_mesh("cpu", (size,), mesh_dim_names=("dp",))
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Linear(7, 3))
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 5)).sum().backward()
    optimizer.step()
    whole = torch.arange(24.0).reshape(8, 3)
    return {
        "rows": distribute_tensor(whole, mesh, [Shard(0)]),
        "columns": distribute_tensor(whole, mesh, [Shard(1)]),
        "whole": distribute_tensor(whole, mesh, [Replicate()]),
        "partial": DTensor.from_local(torch.ones(4), mesh, [Partial()]),
        "plain": torch.ones(3, 4),
        "host": np.ones(5),
        "uneven": np.ones(4 + rank),
        "model": model,
        "optimizer": optimizer,
    }


def main(framework: str, rank: int, size: int, port: int) -> None:
    """Be one rank of ``size``."""
    names = {"jax": make_jax, "torch": make_torch}[framework](rank, size, port)
    if rank == 0:
        names["lone"] = names["host"]
    print("ready", flush=True)
    for line in sys.stdin:
        print("found", json.dumps(locate_here(line.strip(), names)), flush=True)
    os._exit(0)  # a job that ends in order waits for ranks that have gone


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
