"""Collectives of torch.distributed's default process group, as `measure_network` times them."""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.frameworks import Collectives

_ITEM = 4  # bytes of a float32


class TorchCollectives(Collectives):
    """On an accelerator where the group has a backend for it, such as NCCL; else on the host."""

    def participants(self) -> int:
        """Return the processes of the default group."""
        return int(dist.get_world_size())

    def transport(self) -> str:
        """Return the backend of the device that is used."""
        return _backend()[1]

    def make(self, kind: str, nbytes: int) -> Callable[[], object]:
        """Allocate tensors; what the backend lacks raises when it is first called, everywhere."""
        device = _device(_backend()[0])
        run = _operation(kind, nbytes // _ITEM, device)
        if device.type == "cpu":
            return run

        def wait_too() -> None:
            run()
            accelerators.synchronize(device)

        return wait_too


def _operation(kind: str, number: int, device: torch.device) -> Callable[[], object]:
    whole = _zeros(number, device)
    if kind == "all-reduce":
        return lambda: dist.all_reduce(whole)
    if kind == "broadcast":
        return lambda: dist.broadcast(whole, 0)
    part = _zeros(number // dist.get_world_size(), device)
    if kind == "all-gather":
        gather = _renamed("all_gather_single", "all_gather_into_tensor")
        return lambda: gather(whole, part)
    scatter = _renamed("reduce_scatter_single", "reduce_scatter_tensor")
    return lambda: scatter(part, whole)


def _zeros(number: int, device: torch.device) -> Any:
    return torch.zeros(number, dtype=torch.float32, device=device, requires_grad=False)


def _renamed(name: str, before: str) -> Any:
    """Return a function by its name of 2.13, which warns of the one before."""
    return getattr(dist, name, None) or getattr(dist, before)


def _backend() -> tuple[str, str]:
    """Return the kind of device whose backend is the fastest, and that backend."""
    found = dict(each.split(":") for each in str(dist.get_backend_config()).split(","))
    fast = ((kind, name) for kind, name in found.items() if name not in ("gloo", "mpi", "fake"))
    return next(fast, ("cpu", found.get("cpu", dist.get_backend())))


def _device(kind: str) -> torch.device:
    return torch.device("cpu") if kind == "cpu" else torch.device(kind, _current_device(kind))


def _current_device(kind: str) -> int:
    return int(getattr(torch, kind).current_device())
