"""PyTorch's accelerators: which are in use, what is waited for, and what all of a kind tell."""

import functools
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from ipyjaxbench.frameworks import GeneratorState

_USUAL = ("cuda", "xpu", "mps")
#: Before 2.7 asking which accelerator there is starts CUDA's driver: pytorch#146098.
_MAY_ASK = torch.__version__ >= (2, 7)  # takes 10 µs: too long for each wait
_UNCACHED = "PYTORCH_NO_CUDA_MEMORY_CACHING"
_has_context: Callable[[int], bool] | None = getattr(torch._C, "_cuda_hasPrimaryContext", None)
#: Found in use once, a device stays so; asking again takes 70 µs.
_in_use: set[torch.device] = set()


def added() -> str:
    """Return the kind of an accelerator that is none of PyTorch's usual ones; "" without one."""
    found = torch.accelerator.current_accelerator() if _MAY_ASK else None
    return "" if found is None or found.type in _USUAL else str(found.type)


def modules() -> dict[str, Any]:
    """Return the modules of the kinds that tell whether they are in use, by kind."""
    kind = added()
    return {"cuda": torch.cuda, "xpu": torch.xpu, **({kind: getattr(torch, kind)} if kind else {})}


def is_started(module: Any) -> bool:
    """Whether devices of a kind were used; True where its module does not tell."""
    tell: Callable[[], bool] | None = getattr(module, "is_initialized", None)
    return True if tell is None else tell()


def function(kind: str, name: str) -> Callable[..., Any] | None:
    """Return a function that all kinds may have; None where there is none for this kind.

    The module of an added accelerator need not have what `torch.accelerator` offers for it.
    """
    own: Callable[..., Any] | None = getattr(getattr(torch, kind, None), name, None)
    if own is not None or kind != added():
        return own
    return getattr(torch.accelerator, name, None)


def used_accelerators() -> Iterator[torch.device]:
    """Yield accelerators with a context in this process: waiting for others would make one."""
    for name, module in modules().items():
        if is_started(module):
            current = module.current_device()
            for device in _all_devices(name, module.device_count()):
                if device.index == current or _has_memory(device):
                    yield device
    if torch.backends.mps.is_available():
        yield torch.device("mps", 0)
    if "torch_xla" in sys.modules:
        yield torch.device("xla", 0)


def synchronize(device: torch.device) -> None:
    """Wait for all that was started on one accelerator."""
    if device.type == "xla":
        sys.modules["torch_xla"].sync(wait=True)
    elif device.type == "mps":
        torch.mps.synchronize()
    elif wait := function(device.type, "synchronize"):
        wait(device)


def is_busy(device: torch.device) -> bool:
    """Whether work is left on the current stream of an accelerator; no, where streams do not tell.

    A Mac's GPU has streams since PyTorch 2.15, which cannot be asked.
    """
    current = None if device.type == "mps" else function(device.type, "current_stream")
    return current is not None and not current(device).query()


def drain() -> None:
    """Wait for all that was started on any of them."""
    for device in used_accelerators():
        synchronize(device)


def is_pinned(tensor: Any) -> bool:
    """Whether it is in pinned memory of the host; without an accelerator in use nothing is."""
    is_possible = any(map(is_started, modules().values()))
    return bool(is_possible and tensor.device.type == "cpu" and tensor.is_pinned())


def free_memory() -> int | None:
    """Return the bytes that the fullest one in use has left; None where none tells."""
    found = [free_and_total(device) for device in used_accelerators()]
    return min((free for free, _ in filter(None, found)), default=None)


def free_and_total(device: torch.device) -> tuple[int, int] | None:
    """Return the bytes that one has left, and that it has in all; None where it does not tell."""
    if device.type in ("xpu", "mps", "xla"):  # some of these raise, others do not know
        return None
    tell = function(device.type, "mem_get_info") or function(device.type, "get_memory_info")
    try:
        return None if tell is None else tell(device)
    except RuntimeError:  # as NotImplementedError is one, and what a lost device raises
        return None


def allocator(kind: str) -> str:
    """Return the allocator of a kind: "native" counts, and tells the profiler what it does.

    "cudaMallocAsync" counts. A "pluggable" one, as RMM's, and none at all ("uncached") do neither.
    """
    if kind != "cuda":
        return "native"
    if _UNCACHED in os.environ:
        return "uncached"
    return str(torch.cuda.get_allocator_backend())


def counts_memory(kind: str) -> bool:
    """Whether the allocator of a kind counts what it gives; where it does not, it tells 0."""
    return allocator(kind) in ("native", "cudaMallocAsync")


def used_memory(device: torch.device) -> int | None:
    """Return the bytes that tensors have on one; None where its allocator does not count."""
    tell = function(device.type, "memory_allocated")
    if tell is None or device.type in ("mps", "xla") or not counts_memory(device.type):
        return None
    return int(tell(device))


def generators() -> Iterator[GeneratorState]:
    """Yield the states of random numbers of those in use."""
    for device in used_accelerators():
        get, put = (function(device.type, f"{verb}_rng_state") for verb in ("get", "set"))
        if get is not None and put is not None:
            yield GeneratorState(partial(get, device), partial(put, device=device))


@functools.cache
def _all_devices(kind: str, count: int) -> tuple[torch.device, ...]:
    return tuple(torch.device(kind, index) for index in range(count))


def _has_memory(device: torch.device) -> bool:
    """Whether a device has or had memory in use; True where that is not told."""
    if device not in _in_use:
        counts = counts_memory(device.type)
        tell = function(device.type, "memory_reserved") if counts else _has_context
        if tell is not None and not tell(device.index):
            return False
        _in_use.add(device)
    return True
