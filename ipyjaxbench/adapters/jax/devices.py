"""JAX's devices, what it takes of their memory, and which is the default."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import jax
from jax._src import config as jax_config, xla_bridge

from ipyjaxbench.adapters.jax.gpu_memory import memory_notes
from ipyjaxbench.adapters.jax.placement import device_name, is_host
from ipyjaxbench.adapters.jax.synchronization import has_started, local_devices
from ipyjaxbench.device import (
    MEMORY_VARIABLES,
    Device,
    DeviceInventory,
    FrameworkDevices,
    MemoryRequest,
    MemorySetting,
    Probe,
    gpu_kind,
    too_late,
)
from ipyjaxbench.host import Gpu, query_gpus, usable_cpus
from ipyjaxbench.reports import Note

_GPUS = ("gpu", "cuda", "rocm")


class JaxDevices(DeviceInventory):
    """The devices of all backends that were started; none is asked for before that."""

    has_devices = True

    def devices(self) -> FrameworkDevices:
        """Return devices of this process, with what JAX took of their memory."""
        if not has_started():
            return super().devices()
        gpus = query_gpus() if has_gpus() else ()
        answers = [_device(device, gpus) for device in local_devices()]
        notes = (*_virtual(), *(memory_notes(local_devices()) if has_gpus() else ()))
        return self._started(answers, _default(), notes)

    def start(self) -> bool:
        """Ask for devices, which makes them."""
        return bool(jax.devices())

    def set_memory(self, request: MemoryRequest) -> Iterator[MemorySetting]:
        """Set variables of the environment, which JAX reads when it first looks for devices."""
        if not has_started():
            return MEMORY_VARIABLES["jax"].set(request)
        if not has_gpus():
            return iter([MemorySetting("jax", "initialized without a GPU; nothing to change")])
        return iter([too_late("jax", request)])

    def threads(self) -> int | None:
        """Return one for each usable CPU, as XLA's pool has, unless a flag says otherwise."""
        alone = "--xla_cpu_multi_thread_eigen=false" in os.environ.get("XLA_FLAGS", "")
        return 1 if alone else usable_cpus()

    def chip(self, device: str) -> str:
        """Return the number of a GPU in this process: JAX counts those of a whole job."""
        found = (each for each in local_devices() if device_name(each) == device)
        number = getattr(next(found, None), "local_hardware_id", None)
        return super().chip(device if number is None else f"{device.partition(':')[0]}:{number}")

    def align_settings(self, threads: int) -> AbstractContextManager[object]:  # noqa: ARG002
        """Set precision alone: XLA's threads are set when it starts."""
        context: AbstractContextManager[object] = jax.default_matmul_precision("highest")
        return context

    def probe(self, device: str) -> Probe | None:
        """Return work for any device of this process."""
        from ipyjaxbench.adapters.jax.microbenchmarks import JaxProbe

        return next((JaxProbe(d) for d in local_devices() if device_name(d) == device), None)


def count_devices() -> int:
    """Return how many devices of the kind that it prefers it has; 0 before it has looked."""
    return jax.device_count() if has_started() else 0


def count_missing(devices: Sequence[Any]) -> int:
    """Return how many devices of a mesh are neither here nor in other processes."""
    if not has_started():
        return 0
    known = {d for backend in xla_bridge.backends().values() for d in backend.devices()}
    return sum(device not in known for device in devices)


def has_gpus() -> bool:
    """Whether it has started any."""
    return any(platform in _GPUS for platform in xla_bridge.backends())


def _device(device: Any, gpus: Sequence[Gpu]) -> tuple[Device, list[Note]]:
    """Return one device, and why it does not answer where it should."""
    name = device_name(device)
    try:
        stats = device.memory_stats() or {}
    # A device that is lost, or that others plugged in, has many ways to say so.
    except Exception as error:  # noqa: BLE001
        return Device(name), [Device(name).failure(error)]
    return Device(
        name=name,
        kind=_kind(device),
        process=int(device.process_index),
        coordinates=tuple(getattr(device, "coords", None) or ()),
        used=stats.get("bytes_in_use"),
        peak=stats.get("peak_bytes_in_use"),
        limit=stats.get("bytes_limit"),
        users=_users(device, gpus),
    ), []


def _kind(device: Any) -> str:
    kind = "" if device.device_kind == device.platform else str(device.device_kind)
    return gpu_kind(kind, getattr(device, "compute_capability", ""))  # of NVIDIA's


def _users(device: Any, gpus: Sequence[Gpu]) -> int | None:
    """Return how many others use a GPU; None where CUDA may number GPUs as the driver does not."""
    number: int | None = getattr(device, "local_hardware_id", None)
    renumbered = os.environ.get("CUDA_VISIBLE_DEVICES") is not None
    if device.platform not in _GPUS or number is None or renumbered or number >= len(gpus):
        return None
    return gpus[number].others


def _virtual() -> Iterator[Note]:
    cut = sum(is_host(device) for device in local_devices())
    if cut > 1:
        flag = "--xla_force_host_platform_device_count"
        by = flag if flag in os.environ.get("XLA_FLAGS", "") else "jax_num_cpu_devices"
        yield Note("virtual-devices", f"{cut} virtual devices on one CPU ({by})")


def _default() -> tuple[str, str]:
    chosen = jax.config.jax_default_device
    if chosen is not None:
        shown = chosen if isinstance(chosen, str) else device_name(chosen)
        return shown, _chosen_by(chosen)
    device = jax.local_devices()[0]
    for variable in ("JAX_PLATFORMS", "JAX_PLATFORM_NAME"):
        if os.environ.get(variable):
            return device_name(device), f"{variable}={os.environ[variable]}"
    platforms = jax.config.jax_platforms
    if platforms:
        return device_name(device), f"jax_platforms={platforms!r}"
    return device_name(device), ""


def _chosen_by(chosen: Any) -> str:
    everywhere: Callable[[], Any] | None = getattr(
        getattr(jax_config, "default_device", None), "get_global", None
    )
    if everywhere is None:  # this version does not tell
        return "jax_default_device"
    # A context manager hides what is set for the whole process.
    return "jax_default_device" if everywhere() is chosen else "with jax.default_device"
