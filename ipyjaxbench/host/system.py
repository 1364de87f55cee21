"""Small facts and wordings that several adapters need."""

import os
import re
from collections.abc import Sequence
from typing import Any

#: Why there is no profile when the user's own is running.
PROFILER_IN_USE = "another profiler is already running"
#: Why there is none of a GPU's work: CUPTI serves one profiler in a process, and whom it may.
GPU_NOT_PROFILED = (
    "the profiler saw nothing of the GPU. Either another profiler has CUPTI, or the driver lets"
    " administrators alone profile (NVreg_RestrictProfilingToAdminUsers)"
)

#: What a graph of TensorFlow's raises, and the lines before and behind what happened in it.
_OF_GRAPH = "Graph execution error:"
_AROUND = re.compile(
    r"\s*|Detected at node .*|  File .*|<stack traces unavailable>|\d+ root error\(s\) found\."
    r"|\s*\[\[.*|Hint: .*"
)
_HERE = "/job:localhost/replica:0/task:0/device:"
_NODE, _OPERATION = (
    re.compile(r"^\{\{[^}]*\}\} |^  \(0\) "),
    re.compile(r" \[Op:\w+\]( name: ?.*)?$"),
)


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
    message = str(error)
    first, *_ = f"{type(error).__name__}: {plain_message(message)}".splitlines()
    return (wrapped_error(message) or first)[:100]


def plain_message(message: str) -> str:
    """Return a message without what TensorFlow writes around it: nodes, and what made them.

    >>> plain_message("{{function_node __wrapped__Fill}} OOM when allocating [Op:Fill] name: ")
    'OOM when allocating'
    """
    lines = message.splitlines()
    if message.startswith(_OF_GRAPH):
        lines = [line for line in lines[1:] if not _AROUND.fullmatch(line)] or lines
    plain = "\n".join(_OPERATION.sub("", _NODE.sub("", line)) for line in lines)
    return plain.replace(_HERE, "")


def wrapped_error(message: str) -> str:
    r"""Return the line of the error whose traceback a message holds; "" where it holds none.

    A framework that calls Python back can hand on no more than the text of what that raises.

    >>> wrapped_error("INTERNAL: Traceback (most recent call last):\n  File …\nValueError: full")
    'ValueError: full'
    """
    _, _, traceback = message.rpartition("Traceback (most recent call last):")
    lines = traceback.splitlines() if traceback != message else []
    return next((line.strip() for line in lines[1:] if line[:1].strip()), "")


def filter_by_type(values: Sequence[object], *types: type) -> list[Any]:
    """Return those among a user's values that are of these types, by their real type.

    `isinstance` also asks for ``__class__``, where a proxy may run code or raise.
    """
    return [value for value in values if issubclass(type(value), types)]
