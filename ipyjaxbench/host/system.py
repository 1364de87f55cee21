"""Small facts and wordings that several adapters need."""

import os
from collections.abc import Sequence
from typing import Any

#: Why there is no profile when the user's own is running.
PROFILER_IN_USE = "another profiler is already running"


def usable_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def host_memory() -> int:
    """Return the bytes that this process may still take."""
    import psutil

    return int(psutil.virtual_memory().available)


def summarize_error(error: Exception) -> str:
    """Return what went wrong inside of a framework, in one short line."""
    first, *_ = f"{type(error).__name__}: {error}".splitlines()
    return first[:100]


def filter_by_type(values: Sequence[object], *types: type) -> list[Any]:
    """Return those among a user's values that are of these types, by their real type.

    `isinstance` also asks for ``__class__``, where a proxy may run code or raise.
    """
    return [value for value in values if issubclass(type(value), types)]
