"""What NVIDIA's driver says of its GPUs, where ``nvidia-ml-py`` is installed.

Asking creates no CUDA context and takes no memory on a GPU.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IDLE = "idle"
#: Bits of `nvmlDeviceGetCurrentClocksEventReasons`, in words.
_REASONS = {
    0x1: IDLE,
    0x2: "a clock limit was set",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "kept in step with other GPUs",
    0x20: "heat",
    0x40: "heat, by hardware",
    0x80: "power brake",
    0x100: "display clocks",
    0x200: "board limit",
    0x400: "reliability limit",
}
_SM = 1  # NVML_CLOCK_SM
_CUDA, _MAPS = "libcuda.so", Path("/proc/self/maps")  # the library, and what a process has loaded
_ready: Any = None  # the binding that was initialised; once per process, since it takes long


@dataclass(frozen=True)
class Gpu:
    """One GPU at one moment.

    Attributes:
        name: such as "NVIDIA H100 80GB HBM3".
        clock: of its multiprocessors, in MHz; None where it is not known, as below.
        max_clock: the highest that there is.
        reasons: why the clock is not higher, in words.
        ours: whether this process uses it; None where processes are not known, as in containers.
        others: other processes that hold a part of it; None where that is not known.
        memory: bytes that it has; None where that is not known.
        sliced: whether MIG cuts it; all of this is of the whole GPU, and this process has a slice.
    """

    name: str
    clock: int | None = None
    max_clock: int | None = None
    reasons: tuple[str, ...] = ()
    ours: bool | None = None
    others: int | None = None
    memory: int | None = None
    sliced: bool = False


def load_gpu_driver() -> None:
    """Load the driver's library, so that `query_gpus` is quick afterwards."""
    _nvml()


def query_gpu_driver() -> str:
    """Return the driver's version, such as "570.86.10"; empty where it cannot be asked."""
    version = _ask(_nvml(), "nvmlSystemGetDriverVersion") or ""
    return version.decode(errors="replace") if isinstance(version, bytes) else str(version)


def query_gpus() -> tuple[Gpu, ...]:
    """Return all GPUs that the driver shows, in its order; empty where it cannot be asked."""
    nvml = _nvml()
    count = _ask(nvml, "nvmlDeviceGetCount") or 0
    handles = [_ask(nvml, "nvmlDeviceGetHandleByIndex", index) for index in range(count)]
    users = [_users(nvml, handle) for handle in handles]
    # In a container the driver may name the host's numbers, where ours is not among them.
    has_own = any(os.getpid() in pids for pids in users)
    return tuple(
        _gpu(nvml, handle, pids, has_own=has_own)
        for handle, pids in zip(handles, users, strict=True)
    )


class EnergyCounter:
    """What GPUs have used since their driver was loaded, brought up to date every 0.1 s or so."""

    def __init__(self, nvml: Any, handles: Sequence[Any]) -> None:
        self._nvml, self._handles = nvml, handles

    def joules(self) -> float | None:
        """Return the sum over the GPUs; None where one of them does not count."""
        found = [_ask(self._nvml, "nvmlDeviceGetTotalEnergyConsumption", h) for h in self._handles]
        return None if None in found else sum(found) / 1e3


def find_energy_counter() -> EnergyCounter | str:
    """Return that of the GPUs that this process alone uses, or in words why there is none."""
    gpus, nvml = query_gpus(), _nvml()
    own = [index for index, gpu in enumerate(gpus) if gpu.ours]
    if not gpus:
        return "NVIDIA's driver gives no answer (it takes `pip install nvidia-ml-py`, and a GPU)"
    if not own and not _has_cuda():
        return "this process uses no GPU"
    if not own and len(gpus) > 1:
        return f"the driver does not say which of {len(gpus)} GPUs this process uses"
    own = own or [0]
    if any(gpus[index].sliced for index in own):
        return "MIG cuts the GPU into slices, which the driver counts together"
    if others := sum(gpus[index].others or 0 for index in own):
        use = "another process uses" if others == 1 else f"{others:,} other processes use"
        return f"{use} the GPU too"
    counter = EnergyCounter(nvml, [nvml.nvmlDeviceGetHandleByIndex(index) for index in own])
    return "this GPU does not count it" if counter.joules() is None else counter


def _has_cuda() -> bool:
    """Whether this process has loaded CUDA, without which it uses no GPU; True if unknown."""
    try:
        return _CUDA in _MAPS.read_text(errors="replace")
    except OSError:  # not on Windows
        return True


def _gpu(nvml: Any, handle: Any, users: set[int], *, has_own: bool) -> Gpu:
    name = _ask(nvml, "nvmlDeviceGetName", handle)
    if isinstance(name, bytes):  # bindings before 11.5
        name = name.decode(errors="replace")
    reasons = _ask(nvml, "nvmlDeviceGetCurrentClocksEventReasons", handle)
    if reasons is None:  # its name before CUDA 12.2
        reasons = _ask(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", handle)
    return Gpu(
        name=name or "GPU",
        clock=_ask(nvml, "nvmlDeviceGetClockInfo", handle, _SM),
        max_clock=_ask(nvml, "nvmlDeviceGetMaxClockInfo", handle, _SM),
        reasons=tuple(word for bit, word in _REASONS.items() if (reasons or 0) & bit),
        ours=os.getpid() in users if has_own else None,
        others=len(users - {os.getpid()}) if has_own else None,
        memory=getattr(_ask(nvml, "nvmlDeviceGetMemoryInfo", handle), "total", None),
        sliced=(_ask(nvml, "nvmlDeviceGetMigMode", handle) or [0])[0] == 1,  # now, and then
    )


def _users(nvml: Any, handle: Any) -> set[int]:
    processes = _ask(nvml, "nvmlDeviceGetComputeRunningProcesses", handle) or ()
    return {process.pid for process in processes}


def _nvml() -> Any:
    """Return the initialised binding; None where there is none, or no driver."""
    global _ready
    # Whatever a broken driver or binding raises, the measurement continues without it.
    try:
        import pynvml

        if pynvml is not _ready:
            pynvml.nvmlInit()
            _ready = pynvml
    except Exception:  # noqa: BLE001
        return None
    return pynvml


def _ask(nvml: Any, function: str, *args: Any) -> Any:
    """Return a function's answer; None where this binding, driver or GPU has none."""
    try:
        return getattr(nvml, function)(*args)
    except Exception:  # noqa: BLE001  each driver has its own way to say no
        return None
