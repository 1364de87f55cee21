"""JAX: asynchronous everywhere, compiled on first use, arrays that can be given away."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import jax
import jax.monitoring

from ipyjaxbench.adapters.jax.dropped_results import HeldResults
from ipyjaxbench.adapters.jax.placement import alphabetical_devices, dtype_of, named_parts
from ipyjaxbench.adapters.jax.post_hook import PostHook
from ipyjaxbench.adapters.jax.synchronization import (
    InFlight,
    has_started,
    local_devices,
    waiter,
)
from ipyjaxbench.frameworks import Framework, Placement, Wait
from ipyjaxbench.host import host_memory
from ipyjaxbench.usercode import extends, is_of

_HERE = "ipyjaxbench.adapters.jax"


class Jax(Framework):
    """`jax.Array` on any platform."""

    name = "jax"
    module = "jax"
    immutable = True
    keeps_copies = True
    capabilities: ClassVar = {
        "ArrayInspector": f"{_HERE}.arrays:JaxArrays",
        "Caveats": f"{_HERE}.caveats:JaxCaveats",
        "Collectives": f"{_HERE}.collectives:JaxCollectives",
        "Compilation": f"{_HERE}.compilation:JaxCompilation",
        "Coordination": f"{_HERE}.coordination:JaxCoordination",
        "DeviceInventory": f"{_HERE}.devices:JaxDevices",
        "DeviceWaits": f"{_HERE}.waits:JaxWaits",
        "GraphTracer": f"{_HERE}.graphs.tracer:JaxTracer",
        "MemoryMeter": f"{_HERE}.memory:JaxMemory",
        "MutableState": f"{_HERE}.state:JaxState",
        "Profiler": f"{_HERE}.profiler:JaxProfiler",
        "Retracing": f"{_HERE}.retracing.listener:JaxRetracing",
        "TransferWatch": f"{_HERE}.transfers:JaxTransfers",
    }

    def __init__(self) -> None:
        self.started()  # what this version lacks shows here
        self._in_flight = InFlight(local_devices, self.keep_failure)
        if not callable(getattr(jax.monitoring, "register_event_duration_secs_listener", None)):
            self.gaps = ("this version does not report compilations; phases are unknown.",)

    def version(self) -> str:
        """Return JAX's version."""
        return str(jax.__version__)

    def started(self) -> bool:
        """Whether a backend exists; asking JAX for devices would make one."""
        return has_started()

    def owns(self, kind: type) -> bool:
        """Whether these are concrete arrays, not tracers."""
        return extends(kind, jax.Array) and not extends(kind, jax.core.Tracer)

    def parts(self, value: object) -> tuple[()] | None:
        """Return none of meshes and shardings; pytrees are objects that the walk enters."""
        return () if is_of(value, jax.sharding.Mesh, jax.sharding.Sharding) else None

    named_parts = staticmethod(named_parts)

    def placement(self, array: Any) -> Placement:
        """Return type, devices and bytes; JAX knows them of a donated buffer too."""
        shape, dtype = tuple(array.shape), array.dtype
        return Placement(
            name="",
            framework="jax",
            arrays=1,
            dtype=dtype_of(dtype),
            shape=shape,
            devices=alphabetical_devices(array.sharding),
            nbytes=math.prod(shape) * getattr(dtype, "itemsize", 0),
        )

    def free_memory(self) -> int:
        """Return the least that a device has left; the host is asked where it is one of them."""
        return min(map(_free_on, local_devices()), default=host_memory())

    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait:
        """Wait for one array by its method, a pytree by JAX's batched call, the rest by devices."""
        return waiter(value, arrays) or (lambda _: self.drain())

    def prepare(self) -> None:
        """Make ready what `drain` asks each initialised device with."""
        if self.started():
            self._in_flight.prepare()

    def drain(self) -> None:
        """Run a tiny program on each initialised device: it comes back when all before it has.

        The driver of GPUs waits for them where it can.
        """
        if self.started():
            self._in_flight.wait()

    def synchronize(self) -> None:
        """Wait for GPUs by their driver alone where it can, which takes some microseconds."""
        if self.started():
            self._in_flight.synchronize()

    @contextmanager
    def hold_results(self) -> Iterator[Callable[[], object]]:
        """Hold the results of calls that find their program; JAX reports no others."""
        held = HeldResults()
        with PostHook(held.add):
            yield held.wait

    def runs_ahead(self) -> bool:
        """Whether it has started: it runs ahead wherever it computes."""
        return self.started()

    def is_running(self) -> bool | None:
        """Whether such a program is ready at once, which shows on CPUs alone."""
        return self._in_flight.is_any() if self.started() else False

    def own_arrays(self) -> list[Any]:
        """Return what `drain` keeps to ask devices with; nobody else has use for it."""
        return self._in_flight.inputs

    def alive(self, array: Any) -> bool:
        """Return False once the array was donated or deleted."""
        return not array.is_deleted()


def _free_on(device: Any) -> int:
    try:
        stats = device.memory_stats() or {}
    except Exception:  # noqa: BLE001  a device that is lost, or a plugin that does not tell
        return host_memory()
    if "bytes_limit" not in stats:
        return host_memory()
    return int(stats["bytes_limit"] - stats.get("bytes_in_use", 0))
