"""Sets what TensorFlow may take of each GPU's memory, before it has started them."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

from ipyjaxbench import units
from ipyjaxbench.device import MemoryRequest, MemorySetting, too_late
from ipyjaxbench.host import query_gpus

_NAME = "tensorflow"
_VARIABLE = "TF_FORCE_GPU_ALLOW_GROWTH"
#: All that TensorFlow reads; it logs that it cannot read another one, such as "1", and goes on.
_VALUES = {"true": True, "false": False}


def grows(chosen: Iterable[bool | None]) -> bool:
    """Whether memory is allocated on demand: the environment decides before what was chosen."""
    forced = _forced()
    return all(chosen) if forced is None else forced


def _forced() -> bool | None:
    return _VALUES.get(os.environ.get(_VARIABLE, ""))


def set_memory(request: MemoryRequest, *, started: bool) -> Iterator[MemorySetting]:
    """Set growth, or a limit where a share is asked for; devices that have started stay as is."""
    gpus = tf.config.get_visible_devices("GPU")
    if not gpus:
        yield MemorySetting(_NAME, "sees no GPU; nothing changed")
    elif started:
        yield too_late(_NAME, request)
    elif request.fraction is not None:
        yield from (_limit(gpu, request.fraction) for gpu in gpus)
        if not request.prealloc:
            yield MemorySetting(
                _NAME,
                "a fixed share is preallocated: --no-prealloc has no effect with --mem-fraction",
            )
    else:
        yield from (_let_grow(gpu) for gpu in gpus)


def _let_grow(gpu: Any) -> MemorySetting:
    if tf.config.get_logical_device_configuration(gpu):
        return MemorySetting(
            _NAME,
            f"{_short(gpu)} is already split into logical devices, which cannot allocate on demand",
        )
    if _forced() is False:
        return MemorySetting(
            _NAME, f"{_VARIABLE}=false overrides what is set of {_short(gpu)}; unchanged"
        )
    tf.config.experimental.set_memory_growth(gpu, enable=True)
    return MemorySetting(
        _NAME,
        f"allocates memory of {_short(gpu)} on demand",
        f"tf.config.experimental.set_memory_growth({_code_of(gpu)}, False)  # before first use",
    )


def _limit(gpu: Any, fraction: float) -> MemorySetting:
    """Set a limit in bytes; the whole is what NVIDIA's driver says, since TensorFlow does not."""
    if tf.config.get_logical_device_configuration(gpu):
        return MemorySetting(
            _NAME, f"{_short(gpu)} is already split into logical devices; unchanged"
        )
    sizes = {None if each.sliced else each.memory for each in query_gpus()}
    whole = sizes.pop() if len(sizes) == 1 else None
    if whole is None:  # the driver may number GPUs otherwise, and tells nothing of MIG's slices
        return MemorySetting(
            _NAME,
            f"memory size of {_short(gpu)} unknown. Set the limit in MiB yourself:"
            f" tf.config.set_logical_device_configuration({_code_of(gpu)},"
            " [tf.config.LogicalDeviceConfiguration(memory_limit=...)])",
        )
    limit = int(whole * fraction)
    tf.config.set_logical_device_configuration(
        gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=limit / 2**20)]
    )
    return MemorySetting(
        _NAME,
        f"limited to {units.size(limit)} of {_short(gpu)}",
        f"tf.config.set_logical_device_configuration({_code_of(gpu)},"
        " [tf.config.LogicalDeviceConfiguration()])  # before first use",
    )


def _short(gpu: Any) -> str:
    return str(gpu.name).removeprefix("/physical_device:")


def _code_of(gpu: Any) -> str:
    """Return it as a person would type it."""
    return f"tf.config.list_physical_devices('GPU')[{_short(gpu).rpartition(':')[2]}]"
