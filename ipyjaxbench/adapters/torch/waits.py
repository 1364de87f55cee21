"""Where Python waits for PyTorch's accelerators."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch

from ipyjaxbench import units
from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.adapters.torch.compile_callbacks import while_compiling
from ipyjaxbench.host import usable_cpus
from ipyjaxbench.steps import DeviceWaits, WaitPoint
from ipyjaxbench.usercode import is_of

_READS = (
    "item", "tolist", "numpy", "cpu", "nonzero", "__float__", "__int__", "__bool__", "__index__",
    "__complex__", "__repr__", "__format__", "__array__",
)  # fmt: skip
_MOVES = ("to", "copy_")


class TorchWaits(DeviceWaits):
    """Tensors that are read, blocking copies, and functions that wait by their name."""

    def points(self) -> tuple[WaitPoint, ...]:
        """Return them; a tensor in the host's memory is never waited for."""
        kinds = accelerators.modules()
        names = [*((name, _is_elsewhere) for name in _READS), *((name, _moves) for name in _MOVES)]
        names += [(kind, _sends) for kind in kinds]
        return (
            *(WaitPoint(torch.Tensor, name, waits) for name, waits in names),
            *(WaitPoint(module, "synchronize") for module in kinds.values()),
            # Not those of torch.Event and torch.Stream, which cannot be replaced.
            *(WaitPoint(owner, "synchronize") for owner in _owners(kinds.values())),
            WaitPoint(getattr(torch, "accelerator", None), "synchronize"),
        )

    def while_compiling(self, on_change: Callable[[bool], None]) -> AbstractContextManager[None]:
        """Ask torch.compile, which would compile what takes the place of these functions."""
        return while_compiling(on_change)

    def computes_in_call(self, array: Any) -> bool:
        """Whether it is in the host's memory: operations there are computed when they return."""
        return bool(array.device.type == "cpu")

    def loader_advice(self, value: object) -> str:
        """Advise workers, or more of them, for a loader of PyTorch's."""
        if not is_of(value, torch.utils.data.DataLoader):
            return ""
        loader: Any = value
        workers, most = loader.num_workers, usable_cpus()  # PyTorch warns of more workers
        if workers == 0:
            made = f"DataLoader(..., num_workers={min(2, most)})"
            return f"{made}: batches are made beside the loop"
        if workers >= most:
            cpus = units.count(most, "CPU")
            return f"make a sample cheaper: {workers} workers do not keep up on {cpus}"
        return (
            f"DataLoader(..., num_workers={min(2 * workers, most)}): {workers} do not keep up; or"
            " make a sample cheaper"
        )


def _owners(modules: Iterable[Any]) -> Iterator[Any]:
    """Yield the classes of events and streams that kinds have of their own."""
    own = (getattr(module, name, None) for module in modules for name in ("Event", "Stream"))
    yield from (each for each in own if each not in (None, torch.Event, torch.Stream))


def _is_elsewhere(tensor: Any, *_: object, **__: object) -> bool:
    return not torch.compiler.is_compiling() and tensor.device.type not in ("cpu", "meta")


def _sends(tensor: Any, *_: object, non_blocking: bool = False, **__: object) -> bool:
    """Whether a copy to an accelerator waits: not one from pinned memory that is told not to."""
    if torch.compiler.is_compiling():
        return False
    return not (non_blocking and (_is_accelerator(tensor) or accelerators.is_pinned(tensor)))


def _moves(tensor: Any, *args: object, non_blocking: bool = False, **kwargs: object) -> bool:
    """Whether a copy waits: one to or from an accelerator, as in `_sends`."""
    others = (*args, kwargs.get("device"), kwargs.get("other"), kwargs.get("src"))
    named = [at for at in map(_is_accelerator, others) if at is not None]
    crosses = bool(named) and (named[0] or bool(_is_accelerator(tensor)))
    return crosses and _sends(tensor, non_blocking=non_blocking)


def _is_accelerator(value: object) -> bool | None:
    """Whether a place or a tensor's is an accelerator; None where it is no place."""
    if isinstance(value, torch.Tensor | torch.device):
        kind = value.device.type if isinstance(value, torch.Tensor) else value.type
    elif isinstance(value, str):
        kind = value.partition(":")[0]
    else:
        return True if type(value) is int else None
    return kind not in ("cpu", "meta")
