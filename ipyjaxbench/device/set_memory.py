"""Sets what frameworks may take of a GPU's memory, because the user asks for it."""

from importlib.util import find_spec

from ipyjaxbench.device.about import installed_version
from ipyjaxbench.device.memory_settings import (
    MEMORY_VARIABLES,
    MemoryRequest,
    MemorySetting,
    MemorySettings,
)
from ipyjaxbench.device.protocol import DeviceInventory
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.host import query_gpus

_NO_GPU = "only GPUs are affected, and the NVIDIA driver reports none here"


def set_memory(*, prealloc: bool = True, fraction: float | None = None) -> MemorySettings:
    """Set what `MemoryRequest` asks of each framework that is installed; say what cannot be set."""
    request = MemoryRequest(prealloc, fraction)
    frameworks, _ = loaded()
    settings: list[MemorySetting] = []
    for each in frameworks:
        settings += each.capability(DeviceInventory).set_memory(request)
    modules = {each.module for each in frameworks}
    for module, variables in MEMORY_VARIABLES.items():
        if module not in modules and find_spec(module) is not None:
            settings += variables.set(request)
    note = "" if query_gpus() else _NO_GPU
    versions = {name: installed_version(name) for name in {each.framework for each in settings}}
    return MemorySettings(str(request), tuple(settings), note, versions)
