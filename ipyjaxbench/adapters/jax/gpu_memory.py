"""What JAX took of each GPU's memory when it started, and how to have it otherwise."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ipyjaxbench.device import how_to_allocate_on_demand
from ipyjaxbench.host import query_gpu_driver
from ipyjaxbench.reports import Note

_NO = ("false", "False", "0")
_POOLS = ("", "default", "bfc", "cuda_async")  # allocators that preallocate, unless told not to
_SLACK = 4  # a pool that grows doubles what it takes: it holds no more than this times the peak


def memory_notes(devices: Iterable[Any]) -> Iterator[Note]:
    """Yield the driver's version, and whether JAX preallocated memory, if the allocator tells."""
    driver = query_gpu_driver()
    if driver:
        yield Note("gpu-driver", f"NVIDIA driver {driver}")
    allocator = os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "").lower()
    if allocator == "platform":
        yield Note("memory-grows", "JAX allocates GPU memory on demand and gives it back at once")
    elif allocator in _POOLS:
        yield _pool_note([_grows(device) for device in devices])


def _pool_note(answers: list[bool | None]) -> Note:
    """Return what pools tell; variables tell less, for they may have changed since the start."""
    may_grow = os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE") in _NO
    if True in answers or (may_grow and False not in answers):
        return Note("memory-grows", "JAX allocates GPU memory on demand and keeps it")
    return Note(
        "memory-preallocated",
        f"JAX preallocated {_share()} of each GPU at startup. To allocate on demand, restart the"
        f" kernel and {how_to_allocate_on_demand('jax')} before the first use",
    )


def _grows(device: Any) -> bool | None:
    """Whether a device's pool grows as it is needed; None where that is not known."""
    try:
        stats: Mapping[str, int] = device.memory_stats() or {}
    except Exception:  # noqa: BLE001  a device that is lost has many ways to say so
        return None
    names = ("pool_bytes", "bytes_limit", "peak_bytes_in_use")
    pool, limit, peak = (stats.get(name) for name in names)
    if pool is None or limit is None or peak is None:
        return None
    if pool < limit:
        return True
    return False if _SLACK * peak < pool else None


def _share() -> str:
    """Return the share of each GPU that variables name."""
    variables = ("XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION")
    share = next((os.environ[name] for name in variables if os.environ.get(name)), ".75")
    try:
        return f"{float(share):.0%}"
    except ValueError:  # changed since then: JAX would not have started
        return "most"
