"""Where Python waits for JAX's devices."""

from typing import Any

import jax
from jax._src import api, array as jax_array

from ipyjaxbench.adapters.jax.placement import base_array, is_host
from ipyjaxbench.steps import DeviceWaits, WaitPoint
from ipyjaxbench.usercode import is_of


class JaxWaits(DeviceWaits):
    """Arrays that are read or waited for; NumPy reads those on the CPU in place."""

    def points(self) -> tuple[WaitPoint, ...]:
        """Return what reads go through, and what waits; only the last is public."""
        kind, batched = jax_array.ArrayImpl, getattr(api, "xc", None)
        return (
            WaitPoint(kind, "_value"),
            WaitPoint(kind, "item"),  # on the CPU it reads the memory in place
            WaitPoint(kind, "block_until_ready"),
            WaitPoint(batched, "batched_block_until_ready"),
            WaitPoint(jax, "effects_barrier"),
        )

    def computes_in_call(self, array: Any) -> bool:
        """Ask the array: on the CPU, programs with callbacks run in the call, others beside it."""
        return all(map(is_host, array.devices())) and bool(base_array(array).is_ready())

    def is_read_in_place(self, value: object) -> bool:
        """Whether it is an array; where it is not on the host, `points` see it read."""
        return is_of(value, jax.Array) and not is_of(value, jax.core.Tracer)

    def wait(self, array: Any) -> None:
        """Wait for it, unless it was given away."""
        if not array.is_deleted():
            array.block_until_ready()
