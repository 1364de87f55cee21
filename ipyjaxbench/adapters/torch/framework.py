"""PyTorch: synchronous on the CPU, asynchronous on every accelerator, one wait per device."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.adapters.torch.placement import (
    SHAPES_ONLY,
    has_no_numbers,
    is_shape,
    named_parts,
    shape_of,
)
from ipyjaxbench.adapters.torch.sharding import is_mesh
from ipyjaxbench.frameworks import Framework, Placement, Wait
from ipyjaxbench.host import host_memory
from ipyjaxbench.usercode import is_of

if TYPE_CHECKING:
    from ipyjaxbench.adapters.shared.gpu_driver import Driver

_HERE = "ipyjaxbench.adapters.torch"


class Torch(Framework):
    """`torch.Tensor` on any device."""

    name = "torch"
    module = "torch"
    spins = True
    capabilities: ClassVar = {
        "ArrayInspector": f"{_HERE}.arrays:TorchArrays",
        "Caveats": f"{_HERE}.caveats:TorchCaveats",
        "Collectives": f"{_HERE}.collectives:TorchCollectives",
        "Compilation": f"{_HERE}.compilation:TorchCompilation",
        "Coordination": f"{_HERE}.coordination:TorchCoordination",
        "DeviceInventory": f"{_HERE}.devices:TorchDevices",
        "DeviceWaits": f"{_HERE}.waits:TorchWaits",
        "GraphTracer": f"{_HERE}.graphs.tracer:TorchTracer",
        "MemoryMeter": f"{_HERE}.memory:TorchMemory",
        "MutableState": f"{_HERE}.state:TorchState",
        "Profiler": f"{_HERE}.profiler:TorchProfiler",
        "Retracing": f"{_HERE}.retracing.listener:TorchRetracing",
        "TransferWatch": f"{_HERE}.transfers:TorchTransfers",
    }

    def __init__(self) -> None:
        self._tensor = torch.Tensor
        self._driver: Driver | None = None

    def version(self) -> str:
        """Return PyTorch's version, with its build."""
        return str(torch.__version__)

    def started(self) -> bool:
        """Return True: the CPU needs no start, and `drain` asks accelerators one by one."""
        return True

    def owns(self, kind: type) -> bool:
        """Whether these are tensors or parameters."""
        return issubclass(kind, self._tensor)

    def parts(self, value: Any) -> Iterable[object] | None:
        """Return parameters and buffers of modules, tensors of an optimiser's state."""
        if is_of(value, torch.nn.Module):
            return [*value.parameters(), *value.buffers()]
        if is_of(value, torch.optim.Optimizer):
            return [value.param_groups, list(value.state.values())]
        return () if is_mesh(value) else None

    named_parts = staticmethod(named_parts)

    def placement(self, array: Any) -> Placement:
        """Return type, device and bytes of the elements (a view may hold on to more)."""
        with torch._C.DisableTorchFunctionSubclass():  # no code of a subclass is run
            is_empty = has_no_numbers(array)
            return Placement(
                name="",
                framework=self.name,
                arrays=1,
                dtype=str(array.dtype).removeprefix("torch."),
                shape=shape_of(array),
                devices=(SHAPES_ONLY if is_shape(array) else str(array.device),),
                nbytes=0 if is_empty else array.numel() * array.element_size(),
                recorded=array.grad_fn is not None,
            )

    def free_memory(self) -> int:
        """Return what the fullest accelerator in use has left; the host where none tells."""
        free = accelerators.free_memory()
        return host_memory() if free is None else free

    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait | None:  # noqa: ARG002
        """Wait for the devices of the tensors, all their streams."""
        with torch._C.DisableTorchFunctionSubclass():
            used = {a.device for a in arrays if a.device.type not in ("cpu", "meta")}
        if not used:
            return None

        def wait(_: object) -> None:
            __tracebackhide__ = True
            for device in used:
                accelerators.synchronize(device)

        return wait

    def prepare(self) -> None:
        """Look for the driver of GPUs, where all accelerators in use are GPUs."""
        used = [*accelerators.used_accelerators()]
        if used and all(device.type == "cuda" for device in used):
            from ipyjaxbench.adapters.shared.gpu_driver import find_driver

            self._driver = find_driver(len(used))

    def drain(self) -> None:
        """Wait for every accelerator that this process uses; each has its own queue."""
        accelerators.drain()

    def synchronize(self) -> None:
        """Wait for GPUs by their driver where it can, in less time than PyTorch takes."""
        self._driver.wait() if self._driver else self.drain()

    def runs_ahead(self) -> bool:
        """Whether an accelerator is in use."""
        return any(accelerators.used_accelerators())

    def is_running(self) -> bool | None:
        """Whether streams in use are busy; that others are idle only a clock shows."""
        in_use = list(accelerators.used_accelerators())
        if not in_use:
            return False
        return True if any(map(accelerators.is_busy, in_use)) else None
