"""The memory that a call needs, by the events of PyTorch's allocators."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, NamedTuple

import torch

from ipyjaxbench.adapters.shared.stderr import drop_lines
from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.adapters.torch.line_times import LineTimes
from ipyjaxbench.adapters.torch.profiler import LOGGED, is_profiling
from ipyjaxbench.device import MemoryMeter, MemoryPeak
from ipyjaxbench.host import PROFILER_IN_USE, summarize_error

#: What PyTorch logs where memory is given back that was taken before it looked.
_UNKNOWN_BLOCK = re.compile(rb"\[W[\d:. ]+ CPUAllocator\.cpp:\d+\]")
#: Moments before and after the call: several, since each is known to some microseconds only.
_BEGIN = [f"ipyjaxbench: before the call {number}" for number in range(5)]
_END = [f"ipyjaxbench: after the call {number}" for number in range(5)]
_START, _TOTAL = attrgetter("ns"), attrgetter("total")
_NEGLIGIBLE = 1024  # bytes, such as those of Python numbers that become tensors


class _Allocation(NamedTuple):
    """Memory that was taken, or given back."""

    ns: int  # on the profiler's clock
    nbytes: int  # negative where it was given back
    total: int  # in use on the device after it


class TorchMemory(MemoryMeter):
    """The profiler's record of allocators: their own peaks could not be put back after a reset."""

    def measure(self, call: Callable[[], object]) -> Sequence[MemoryPeak]:
        """Record two calls: what the second gives back of the first is known to the CPU's, too."""
        __tracebackhide__ = True
        if is_profiling():
            return (_unknown(PROFILER_IN_USE),)
        kinds = {device.type for device in accelerators.used_accelerators()}
        for silent in {accelerators.allocator(kind) for kind in kinds} - {"native"}:
            return (_unknown(f"PyTorch's profiler does not see this allocator ({silent})"),)
        lines = LineTimes()
        try:
            session = torch.autograd.profiler.profile(use_kineto=True, profile_memory=True)
            with drop_lines(LOGGED):
                session.__enter__()
        except Exception as error:  # noqa: BLE001  a driver that does not let itself be profiled
            return (_unknown(summarize_error(error)),)
        with _ended(session), drop_lines(_UNKNOWN_BLOCK):
            call()
            marks = {name: lines.mark(name) for name in _BEGIN}
            with lines:
                value = call()
            marks |= {name: lines.mark(name) for name in _END}
            in_use = {str(d): accelerators.used_memory(d) for d in accelerators.used_accelerators()}
            del value
        events = [*_flatten(session.kineto_results.experimental_event_tree())]
        theirs = {e.name: e.start_time_ns for e in events if e.name in marks}
        if len(theirs) < len(marks):
            return (_unknown("this version's profiler does not record when the call began"),)
        lines.align((marks[name], theirs[name]) for name in marks)
        allocations = _allocations(events, theirs[_BEGIN[-1]], theirs[_END[0]])
        found = [
            _peak(device, own, in_use.get(device), lines) for device, own in allocations.items()
        ]
        large = (peak for peak in found if (peak.peak or 0) > _NEGLIGIBLE)
        return tuple(large) or tuple(found[:1]) or _NOTHING


@contextmanager
def _ended(session: Any) -> Iterator[None]:
    """End the profiler's session, without what its library logs."""
    try:
        yield
    finally:
        with drop_lines(LOGGED):
            session.__exit__(None, None, None)


def _flatten(events: Iterable[Any]) -> Iterator[Any]:
    """Yield all events of a tree."""
    levels = [iter(events)]
    while levels:
        event = next(levels[-1], None)
        if event is None:
            levels.pop()
            continue
        yield event
        levels.append(iter(event.children))


def _allocations(events: Iterable[Any], begun: int, ended: int) -> dict[str, list[_Allocation]]:
    """Return what the allocator of each device did between two moments, in order."""
    by_device: dict[str, list[_Allocation]] = {}
    for event in events:
        if event.tag.name == "Allocation" and begun <= event.start_time_ns <= ended:
            what = event.extra_fields
            device = "cpu" if what.device.type == "cpu" else str(what.device)
            by_device.setdefault(device, []).append(
                _Allocation(event.start_time_ns, what.alloc_size, what.total_allocated)
            )
    return {device: sorted(own, key=_START) for device, own in by_device.items()}


def _peak(
    device: str, own: Sequence[_Allocation], in_use: int | None, lines: LineTimes
) -> MemoryPeak:
    """Return the peak of one device; ``in_use`` is what its allocator counts at the end.

    What other threads give back is in no event, but in the totals of later ones.
    """
    before = own[0].total - own[0].nbytes
    highest = max(own, key=_TOTAL)
    peak = max(highest.total - before, 0)
    left = (own[-1].total if in_use is None else in_use) - before
    # On the CPU it knows of nothing that was taken before it looked.
    known = None if in_use is None else before
    line = lines.at(highest.ns) if peak else ""
    return MemoryPeak("torch", device, "allocator", peak, min(max(left, 0), peak), known, line)


def _unknown(reason: str) -> MemoryPeak:
    return MemoryPeak("torch", "", "allocator", reason=reason)


_NOTHING = (MemoryPeak("torch", "", "allocator", 0, 0),)
