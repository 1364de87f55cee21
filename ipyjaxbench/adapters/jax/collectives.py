"""Collectives over all devices of all processes, as `measure_network` times them."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ipyjaxbench.adapters.jax.own_work import own_settings
from ipyjaxbench.adapters.jax.placement import platform_of
from ipyjaxbench.frameworks import Collectives

_AXIS = "all"
_OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "all-reduce": lambda x: lax.psum(x, _AXIS),
    "all-gather": lambda x: lax.all_gather(x, _AXIS, tiled=True),
    "reduce-scatter": lambda x: lax.psum_scatter(x, _AXIS, tiled=True),
    "broadcast": lambda x: lax.pbroadcast(x, (_AXIS,), 0),
}


class JaxCollectives(Collectives):
    """One participant for each device; programs are compiled ahead of time, for each size."""

    def participants(self) -> int:
        """Return the devices of all processes."""
        return len(jax.devices())

    def transport(self) -> str:
        """Return what carries data between CPUs; else the platform, whose XLA chooses."""
        platform = platform_of(jax.devices()[0])
        if platform != "cpu":
            return str(platform)
        return str(jax.config.jax_cpu_collectives_implementation or "no collectives")

    def make(self, kind: str, nbytes: int) -> Callable[[], object]:
        """Compile a program of one collective; XLA has no broadcast on CPUs."""
        mesh = Mesh(np.array(jax.devices()), (_AXIS,))
        number = nbytes // 4 // mesh.size
        own = number if kind == "all-gather" else number * mesh.size
        with own_settings():
            x = _zeros(mesh, own)
            program = jax.jit(_shard_map(_OPERATIONS[kind], mesh)).lower(x).compile()
        return lambda: program(x).block_until_ready()


def _zeros(mesh: Mesh, number: int) -> Any:
    """Return an array with so many numbers on each device."""
    own = np.zeros(number, np.float32)
    sharding = NamedSharding(mesh, PartitionSpec(_AXIS))
    return jax.make_array_from_callback((number * mesh.size,), sharding, lambda _: own)


def _shard_map(function: Callable[[Any], Any], mesh: Mesh) -> Callable[[Any], Any]:
    parts = {"in_specs": PartitionSpec(_AXIS), "out_specs": PartitionSpec(_AXIS)}
    new = getattr(jax, "shard_map", None)
    if new is not None:
        return new(function, mesh=mesh, check_vma=False, **parts)  # type: ignore[no-any-return]
    from jax.experimental.shard_map import shard_map  # before 0.6

    return shard_map(function, mesh=mesh, check_rep=False, **parts)  # type: ignore[no-any-return]
