"""TensorFlow's devices, what it takes of their memory, and which is the default."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context as tf_context

from ipyjaxbench import units
from ipyjaxbench.adapters.tensorflow import gpu_memory
from ipyjaxbench.adapters.tensorflow.asynchronous import may_run_ahead
from ipyjaxbench.adapters.tensorflow.microbenchmarks import TensorFlowProbe
from ipyjaxbench.device import (
    Device,
    DeviceInventory,
    FrameworkDevices,
    MemoryRequest,
    MemorySetting,
    Probe,
    gpu_kind,
    how_to_allocate_on_demand,
)
from ipyjaxbench.host import query_gpus, usable_cpus
from ipyjaxbench.reports import Note


class TensorFlowDevices(DeviceInventory):
    """The devices that there are; asking for them would start TensorFlow and its GPUs."""

    has_devices = True

    def devices(self) -> FrameworkDevices:
        """Return the devices that there are; asking would start TensorFlow and its GPUs."""
        if not self.framework.started():
            return replace(super().devices(), words=tuple(_planned_memory()))
        logical = tf.config.list_logical_devices()
        physical = tf.config.get_visible_devices()
        answers = [_device(device, physical) for device in logical]
        notes = (*_virtual(logical, physical), *_growth(physical), *_strategy())
        return self._started(answers, _default(logical), notes)

    def start(self) -> bool:
        """Ask for devices, which makes them."""
        return bool(tf.config.list_logical_devices())

    def set_memory(self, request: MemoryRequest) -> Iterator[MemorySetting]:
        """Set growth or a limit of each GPU, before it has started them."""
        return gpu_memory.set_memory(request, started=self.framework.started())

    def threads(self) -> int | None:
        """Return the CPU threads of one operation: as many as were set, or all CPUs."""
        return tf.config.threading.get_intra_op_parallelism_threads() or usable_cpus()

    def chip(self, device: str) -> str:
        """Return the number of a GPU in this process: TensorFlow counts those that are visible.

        Several that were made of one GPU keep their own numbers.
        """
        kind, _, index = device.partition(":")
        visible = tf.config.get_visible_devices("GPU") if kind == "gpu" else []
        if visible and len(visible) == len(tf.config.list_logical_devices("GPU")):
            physical = tf.config.list_physical_devices("GPU")
            device = f"gpu:{physical.index(visible[int(index)])}"
        return super().chip(device)

    @contextmanager
    def align_settings(self, threads: int) -> Iterator[None]:  # noqa: ARG002
        """Set precision alone: threads are set before TensorFlow starts."""
        allowed = tf.config.experimental.tensor_float_32_execution_enabled()
        tf.config.experimental.enable_tensor_float_32_execution(enabled=False)
        try:
            yield
        finally:
            tf.config.experimental.enable_tensor_float_32_execution(enabled=allowed)

    def probe(self, device: str) -> Probe | None:
        """Return work for any device, where operations run as they are written."""
        if not tf.executing_eagerly():
            return None
        return TensorFlowProbe(
            device, tf.test.experimental.sync_devices if may_run_ahead() else None
        )


def name_of(device: str) -> str:
    """Return the last parts of a name such as "/job:localhost/replica:0/task:0/device:CPU:1".

    Example:
        >>> name_of("/device:GPU:1")
        'gpu:1'
    """
    kind, _, index = device.rpartition("device:")[2].lower().partition(":")
    return f"{kind or 'cpu'}:{index or 0}"


def _device(logical: Any, physical: Sequence[Any]) -> tuple[Device, list[Note]]:
    """Return one device, and why it does not answer where it should."""
    name = name_of(logical.name)
    if logical.device_type == "CPU":
        return Device(name), []
    try:
        memory = tf.config.experimental.get_memory_info(logical.name.rpartition("device:")[2])
        details = [
            tf.config.experimental.get_device_details(p) for p in _physical_of(physical, logical)
        ]
    # A device that is lost, or that was plugged in by others, has many ways to say so.
    except Exception as error:  # noqa: BLE001
        is_lost = logical.device_type == "GPU"  # others need not know of memory
        return Device(name), [Device(name).failure(error)] if is_lost else []
    kinds = {_kind(each) for each in details}
    return Device(
        name=name,
        kind=kinds.pop() if len(kinds) == 1 else "",
        used=memory.get("current"),
        peak=memory.get("peak"),
        limit=_limit(_physical_of(physical, logical)),
    ), []


def _physical_of(physical: Sequence[Any], logical: Any) -> list[Any]:
    """Return what a device may be made of: that with its number, unless some are cut."""
    alike = [each for each in physical if each.device_type == logical.device_type]
    if any(tf.config.get_logical_device_configuration(each) for each in alike):
        return alike
    number = logical.name.rpartition(":")[2]
    return [each for i, each in enumerate(alike) if str(i) == number]


def _kind(details: dict[str, Any]) -> str:
    capability = details.get("compute_capability") or ()
    return gpu_kind(str(details.get("device_name", "")), ".".join(map(str, capability)))


def _limit(physical: Sequence[Any]) -> int | None:
    """Return the bytes that it was given, where all were given as much."""
    cuts = [tf.config.get_logical_device_configuration(each) or () for each in physical]
    limits = {cut.memory_limit for each in cuts for cut in each}
    megabytes = limits.pop() if len(limits) == 1 else None
    return int(megabytes) * 2**20 if megabytes else None


def _virtual(logical: Sequence[Any], physical: Sequence[Any]) -> Iterator[Note]:
    for kind in dict.fromkeys(each.device_type for each in physical):
        cut = sum(each.device_type == kind for each in logical)
        whole = sum(each.device_type == kind for each in physical)
        if cut > whole:
            made = units.count(cut, f"virtual {kind}")
            text = f"{made} on {whole} physical (tf.config.set_logical_device_configuration)"
            yield Note("virtual-devices", text)


def _growth(physical: Sequence[Any]) -> Iterator[Note]:
    """Yield what was taken of each GPU's memory at the start."""
    gpus = [each for each in physical if each.device_type == "GPU"]
    if not gpus:
        return
    if gpu_memory.grows(tf.config.experimental.get_memory_growth(gpu) for gpu in gpus):
        text = "TensorFlow allocates GPU memory on demand and keeps it"
        yield Note("memory-grows", text)
    elif not any(_limit([gpu]) for gpu in gpus):
        yield Note(
            "memory-preallocated",
            "TensorFlow preallocated most of each GPU's memory at startup. To allocate on demand,"
            f" restart the kernel and {how_to_allocate_on_demand('tensorflow')} before the first"
            " use",
        )


def _planned_memory() -> Iterator[Note]:
    """Yield what it will take of each GPU; its own list of GPUs would load their driver."""
    gpus = query_gpus() if tf.test.is_built_with_cuda() else ()
    chosen = getattr(tf_context._context, "_memory_growth_map", None) or {}
    if not gpus or gpu_memory.grows([any(chosen.values())]):
        return
    yield Note(
        "memory-will-be-preallocated",
        f"TensorFlow will preallocate most of the memory of {units.count(len(gpus), 'GPU')} at its"
        f" first use. To allocate on demand, {how_to_allocate_on_demand('tensorflow')} now",
    )


def _strategy() -> Iterator[Note]:
    if tf.distribute.has_strategy():
        strategy = tf.distribute.get_strategy()
        replicas = units.count(strategy.num_replicas_in_sync, "replica")
        yield Note("strategy", f"{type(strategy).__name__} with {replicas} is active")


def _default(logical: Sequence[Any]) -> tuple[str, str]:
    scope = tf_context.context().device_name
    if scope:
        return name_of(scope), "tf.device"
    gpus = [each for each in logical if each.device_type == "GPU"]
    return name_of(gpus[0].name) if gpus else "cpu:0", ""
