"""PyTorch's devices, what its allocator holds of their memory, and which is the default."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch

from ipyjaxbench import units
from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.adapters.torch.microbenchmarks import TorchProbe
from ipyjaxbench.adapters.torch.precision import MIXED, matmul_precision
from ipyjaxbench.device import (
    MEMORY_VARIABLES,
    Device,
    DeviceInventory,
    FrameworkDevices,
    MemoryRequest,
    MemorySetting,
    Probe,
    gpu_kind,
)
from ipyjaxbench.errors import by_caller
from ipyjaxbench.host import Gpu, query_gpus
from ipyjaxbench.reports import Note

_ALLOCATOR_VARIABLE = "PYTORCH_CUDA_ALLOC_CONF"
_EXPANDABLE = "expandable_segments:True"
_KNOWS_NEUTRAL_NAME = torch.__version__ >= (2, 9)
_MIN_FRAGMENTED_SHARE = 0.1  # of what is reserved


class TorchDevices(DeviceInventory):
    """The CPU, and accelerators that this process has used; no other one is asked."""

    has_devices = True

    def devices(self) -> FrameworkDevices:
        """Return the CPU, and accelerators that this process has used; no other one is asked."""
        answers: list[tuple[Device, Sequence[Note]]] = [(Device("cpu"), ())]
        notes: list[Note] = []
        if torch.cuda.is_initialized():
            gpus = query_gpus()
            answers += [_cuda(index, gpus) for index in range(torch.cuda.device_count())]
            notes.append(_version())
            if torch.version.cuda and all(device.users is None for device, _ in answers):
                text = (
                    "other processes on the GPUs are unknown: NVML (nvidia-ml-py) gives no answer"
                )
                notes.append(Note("gpu-users-unknown", text))
        elif torch.version.cuda is not None and (gpus := query_gpus()):
            count = units.count(len(gpus), "GPU")
            start = by_caller("%fwdevices --start", "devices(start=True)")
            text = f"{count}, not initialized by PyTorch yet; `{start}` shows them"
            notes.append(Note("gpus-not-used", text))
        for kind, module in accelerators.modules().items():
            if kind != "cuda" and accelerators.is_started(module):
                names = (f"{kind}:{index}" for index in range(module.device_count()))
                answers += [(_other(kind, name), ()) for name in names]
        if torch.backends.mps.is_available():
            answers.append((Device("mps:0"), ()))
        return self._started(answers, _default(), notes)

    def start(self) -> bool:
        """Have CUDA, XPU or what was added look for devices; the CPU is there anyway."""
        for module in accelerators.modules().values():
            start: Callable[[], object] | None = getattr(module, "init", None)
            if start is not None and module.is_available():
                start()
        return True

    def set_memory(self, request: MemoryRequest) -> Iterator[MemorySetting]:
        """Set what may be taken of each GPU, for as long as the process lives."""
        yield from MEMORY_VARIABLES["torch"].set(MemoryRequest(request.prealloc))
        fraction = request.fraction
        if fraction is None:
            return
        if not torch.cuda.is_available():
            yield MemorySetting("torch", "sees no GPU; nothing changed")
            return
        ask: Callable[[int], float] | None = getattr(
            torch.cuda, "get_per_process_memory_fraction", None
        )
        for index in range(torch.cuda.device_count()):
            before = 1.0 if ask is None else ask(index)
            torch.cuda.set_per_process_memory_fraction(fraction, index)
            yield MemorySetting(
                "torch",
                f"limited to {fraction:.0%} of cuda:{index} from now on; keeps what it already has",
                f"torch.cuda.set_per_process_memory_fraction({float(before)}, {index})",
            )

    def threads(self) -> int:
        """Return those of one operation on the CPU."""
        return int(torch.get_num_threads())

    @contextmanager
    def align_settings(self, threads: int) -> Iterator[None]:
        """Set both, which can be done at any time."""
        before, precision = torch.get_num_threads(), matmul_precision()
        own = []  # each backend's setting; where they are not mixed, it may not have one
        if precision == MIXED:
            matmuls = torch.backends.mkldnn.matmul, torch.backends.cuda.matmul
            own = [(each, each.fp32_precision) for each in matmuls]
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision("highest")
        try:
            yield
        finally:
            torch.set_num_threads(before)
            if precision != MIXED:
                torch.set_float32_matmul_precision(precision)
            for matmul, setting in own:
                matmul.fp32_precision = setting

    def probe(self, device: str) -> Probe:
        """Return work for any device that it has."""
        where = torch.device(device)
        wait = None if where.type == "cpu" else partial(accelerators.synchronize, where)
        return TorchProbe(where, wait)


def _cuda(index: int, gpus: Sequence[Gpu]) -> tuple[Device, list[Note]]:
    """Return one GPU, and notes on its memory, or on why it does not answer."""
    name = f"cuda:{index}"
    try:
        known = torch.cuda.get_device_properties(index)
        counts = accelerators.counts_memory("cuda")
        stats = torch.cuda.memory_stats(index) if counts else None
    # A device that is lost, or that an assertion failed on, has many ways to say so.
    except Exception as error:  # noqa: BLE001
        return Device(name), [Device(name).failure(error)]
    kind = gpu_kind(known.name, f"{known.major}.{known.minor}")
    if stats is None:
        return Device(name, kind, limit=known.total_memory, users=_users(index, gpus)), []
    device = _add_memory(name, kind, stats, known.total_memory, _users(index, gpus))
    return device, list(_allocator(name, stats))


def _users(index: int, gpus: Sequence[Gpu]) -> int | None:
    """Return how many other processes use a GPU, which NVML may number otherwise than CUDA."""
    try:
        number = int(torch.cuda._get_nvml_device_index(index))
        return gpus[number].others
    except Exception:  # noqa: BLE001  it is private, and asks the driver in its own way
        return None


def _allocator(name: str, stats: Mapping[str, int]) -> Iterator[Note]:
    """Yield what PyTorch keeps of the memory that tensors gave back."""
    reserved = stats.get("reserved_bytes.all.current", 0)
    used = stats.get("allocated_bytes.all.current", 0)
    pieces = stats.get("inactive_split_bytes.all.current", 0)
    if not reserved:
        return
    yield Note(
        "memory-reserved",
        f"{name}: PyTorch's allocator reserved {units.size(reserved)}, tensors use "
        f"{units.size(used)}; torch.cuda.empty_cache() frees up to "
        f"{units.size(max(reserved - used - pieces, 0))}",
    )
    variable = next((name for name in _allocator_variables() if name in os.environ), None)
    settings = os.environ.get(variable or "", "").replace(" ", "")
    if pieces > _MIN_FRAGMENTED_SHARE * reserved and _EXPANDABLE not in settings:
        whole = ",".join(filter(None, [settings, _EXPANDABLE]))
        yield Note(
            "memory-fragmented",
            f"{name}: {units.size(pieces)} are lost to fragmentation. To reduce it, set "
            f"{variable or _ALLOCATOR_VARIABLE}={whole} in the environment and restart",
        )


def _allocator_variables() -> Iterator[str]:
    """Yield where settings of the allocator are looked for; the first that is set counts."""
    yield _ALLOCATOR_VARIABLE
    if torch.version.hip is not None:
        yield "PYTORCH_HIP_ALLOC_CONF"
    if _KNOWS_NEUTRAL_NAME:
        yield "PYTORCH_ALLOC_CONF"


def _version() -> Note:
    """Return the version that PyTorch was built for, and the latest that the driver takes."""
    if torch.version.cuda is None:
        return Note("gpu-driver", f"built for ROCm {torch.version.hip}")
    ask: Callable[[], int] | None = getattr(torch._C, "_cuda_getDriverVersion", None)
    driver = ask() if ask is not None else 0  # such as 12080
    upto = f"; the driver supports up to {driver // 1000}.{driver % 1000 // 10}" if driver else ""
    return Note("gpu-driver", f"built for CUDA {torch.version.cuda}{upto}")


def _other(kind: str, name: str) -> Device:
    """Return an accelerator that is not CUDA's, with what its functions tell of it."""
    stats, properties = (
        accelerators.function(kind, each) for each in ("memory_stats", "get_device_properties")
    )
    try:
        known = properties(name) if properties else None
        space = accelerators.free_and_total(torch.device(name))
        limit = getattr(known, "total_memory", None) or (space[1] if space else None)
        kind = getattr(known, "name", "")
        return _add_memory(name, kind, stats(name), limit) if stats else Device(name, kind)
    except Exception:  # noqa: BLE001  as above
        return Device(name)


def _add_memory(
    name: str, kind: str, stats: Mapping[str, int], limit: int | None, users: int | None = None
) -> Device:
    used, peak = (stats.get(f"allocated_bytes.all.{which}", 0) for which in ("current", "peak"))
    return Device(name, kind, used=used, peak=peak, limit=limit, users=users)


def _default() -> tuple[str, str]:
    """Read from the contexts: asking for "cuda" without a number would start CUDA."""
    stack: Callable[[], list[Any]] | None = getattr(
        torch.overrides, "_get_current_function_mode_stack", None
    )
    if stack is None:
        return "", ""
    contexts = [mode for mode in stack() if isinstance(mode, torch.utils._device.DeviceContext)]
    if not contexts:
        return "cpu", ""
    everywhere = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    why = "torch.set_default_device" if contexts[-1] is everywhere else "with torch.device"
    return str(contexts[-1].device), why
