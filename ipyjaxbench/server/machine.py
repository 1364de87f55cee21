"""``api/machine``: the machine of the server, told without importing a framework."""

import platform
from importlib import metadata
from typing import Any

from ipyjaxbench import units
from ipyjaxbench.device import DevicePeaks, Peaks, stored_peaks
from ipyjaxbench.host import Gpu, data_folder, describe_machine, host_memory, query_gpus
from ipyjaxbench.reports import Table

#: Frameworks, with the distributions that bring them.
_FRAMEWORKS = {
    "jax": ("jax",),
    "torch": ("torch",),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tf-nightly"),
    "numpy": ("numpy",),
}


def describe(*, measuring: bool) -> dict[str, Any]:
    """Return what the machine has.

    Args:
        measuring: whether something is measured now: then no device is asked.
    """
    machine = describe_machine()
    return {
        "host": platform.node(),
        "python": machine["python"],
        "cpu": machine["cpu"] or "",
        "cpus": machine["usable_cpus"],
        "memory": machine["memory"] or 0,
        "memory_free": host_memory(),
        "gpus": [] if measuring else [_describe_gpu(gpu) for gpu in query_gpus()],
        "frameworks": {name: v for name, of in _FRAMEWORKS.items() if (v := _version(of))},
        "peaks": [_describe(each) for each in stored_peaks()],
        "folder": str(data_folder("history")),
        "measuring": measuring,
    }


def _version(distributions: tuple[str, ...]) -> str:
    for name in distributions:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return ""


def _describe_gpu(gpu: Gpu) -> dict[str, Any]:
    """Return a GPU as rows of words, without what is not known."""
    clock = f"{gpu.clock} MHz" if gpu.clock else ""
    highest = f" of {gpu.max_clock} MHz" if clock and gpu.max_clock else ""
    rows = [
        ("memory", units.size(gpu.memory) if gpu.memory else ""),
        ("clock", f"{clock}{highest}"),
        ("not higher because of", ", ".join(gpu.reasons)),
        ("processes that use it", "" if gpu.others is None else str(gpu.others)),
    ]
    return {"device": gpu.name, "rows": [row for row in rows if row[1]]}


def _describe(peaks: DevicePeaks) -> dict[str, Any]:
    """Return a device's peaks in the words of their report."""
    blocks = Peaks((peaks,), peaks.taken, peaks.seconds).report().blocks
    rows = [row for block in blocks if isinstance(block, Table) for row in block.rows]
    name = f"{peaks.framework} {peaks.version} {peaks.device}"
    return {"device": name, "rows": rows, "taken": peaks.taken}
