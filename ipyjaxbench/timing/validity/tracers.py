"""What is around the code, belongs to no framework, and changes what the figure means."""

import os
import sys
from collections.abc import Iterator, Sequence
from types import FunctionType, MethodType

from ipyjaxbench.frameworks import Placement
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.validity import setting_notes

_TOOLS = range(6)  # the identifiers that `sys.monitoring` gives to tools


def active_tracers() -> Iterator[Note]:
    """Note tracers, debuggers and profilers that are active in this thread."""
    tracer, profiler = sys.gettrace(), sys.getprofile()
    if tracer is not None:
        yield setting_notes.watched(f"A tracer or debugger ({_name_of(tracer)})")
    if profiler is not None:
        yield setting_notes.watched(f"A profiler ({_name_of(profiler)})")
    if sys.version_info >= (3, 12):
        for tool in _TOOLS:
            name = sys.monitoring.get_tool(tool)
            # One that has a name and waits for no event, as an idle debugger, costs nothing.
            if name is not None and sys.monitoring.get_events(tool):
                yield setting_notes.watched(f"A tool ({name})")


def environment_settings(placements: Sequence[Placement]) -> Iterator[Note]:
    """Note variables that all frameworks obey."""
    if any(place.on_gpu for place in placements) and os.environ.get("CUDA_LAUNCH_BLOCKING") == "1":
        yield setting_notes.setting_on(
            "CUDA_LAUNCH_BLOCKING",
            "Python waits for every kernel to finish",
            "restart without it",
        )


def _name_of(hook: object) -> str:
    named = hook if isinstance(hook, FunctionType | MethodType) else type(hook)
    return f"{named.__module__}.{named.__qualname__}"
