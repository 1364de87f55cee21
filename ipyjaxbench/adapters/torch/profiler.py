"""A pass under PyTorch's profiler."""

import gc
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from ipyjaxbench.adapters.shared.clock_marks import MARK, ClockMarks
from ipyjaxbench.adapters.shared.stderr import drop_lines
from ipyjaxbench.adapters.torch import accelerators
from ipyjaxbench.adapters.torch.compile_passes import profile_compilation
from ipyjaxbench.adapters.torch.exchanges import exchanges, is_in_job
from ipyjaxbench.host import GPU_NOT_PROFILED, PROFILER_IN_USE, summarize_error
from ipyjaxbench.timing import CompilePasses, Exchanged, Interval, Profile, Profiler

#: What the profiler's library logs, as "USDT:2026-11-21 06:38:36 29:29 Handler.cpp:52] start".
LOGGED = re.compile(rb"[A-Z]+:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \d+:\d+ \w+\.cpp:\d+\]")
#: Frames of autograd and of the profiler around operators.
_AROUND = ("autograd::", "torch::autograd", "profiler::")
#: Collectives on the host are annotations of PyTorch's own, on threads of their own.
_COLLECTIVES = ("gloo:", "ucc:", "mpi:")
_COMPILED = "## Call CompiledFxGraph "
_DEFAULT_STREAM = 7  # CUPTI's number of CUDA's default stream; AMD's has no such number
_GRAPH_LAUNCHES = ("cudaGraphLaunch", "hipGraphLaunch")


class TorchProfiler(Profiler):
    """Kineto: kernels where an accelerator is used, operators on the CPU else."""

    def profile(
        self,
        run: Callable[[], object],
        *,
        sources: bool = False,  # noqa: ARG002  it does not know them
    ) -> Profile:
        """Profile with kineto."""
        __tracebackhide__ = True
        kinds = {device.type for device in accelerators.used_accelerators()}
        unseen = kinds - {"cuda", "xpu"}
        if unseen:
            return Profile(reason=f"PyTorch's profiler does not see {', '.join(sorted(unseen))}")
        try:
            if is_profiling():
                return Profile(reason=PROFILER_IN_USE)
            session = torch.autograd.profiler.profile(
                use_kineto=True,
                use_device=min(kinds, default=None),
                record_shapes=is_in_job(),  # those of collectives
            )
            with drop_lines(LOGGED):
                session.__enter__()
        except Exception as error:  # noqa: BLE001  a driver that does not let itself be profiled
            return Profile(reason=summarize_error(error))
        failed, marks = "", ClockMarks(torch.autograd.profiler.record_function)
        try:
            marks.make()
            run()
        finally:
            try:
                with drop_lines(LOGGED):
                    session.__exit__(None, None, None)
            except Exception as error:  # noqa: BLE001
                failed = summarize_error(error)
        if failed:
            return Profile(reason=failed)
        events = session.function_events
        if "cuda" in kinds and torch.version.cuda is not None and not sees_cuda(events):
            return Profile(reason=GPU_NOT_PROFILED)
        return Profile(
            operations(events, exchanges(session.kineto_results)),
            replayed=replays_graphs(events),
            offset=marks.offset(_marks(events)),
        )

    def profile_compilation(self, run: Callable[[], object]) -> CompilePasses:
        """Read dynamo's own marks."""
        __tracebackhide__ = True
        return profile_compilation(run)


def is_profiling() -> bool:
    """Whether a profiler is on, or warms up: starting another one would end it."""
    profiler = torch.autograd.profiler
    if profiler._is_profiler_enabled or torch._C._autograd._profiler_enabled():
        return True
    sessions = (o for o in gc.get_referrers(profiler.profile) if type(o) is profiler.profile)
    return any(session.entered and session.kineto_results is None for session in sessions)


def operations(
    events: Iterable[Any], exchanged: Mapping[int, Exchanged | None]
) -> tuple[Interval, ...]:
    """Return kernels and copies on accelerators; without any of them, operators on the CPU.

    What collectives on the CPU exchange is given by their number.
    """
    on_host, on_devices, tells_streams = [], [], torch.version.hip is None
    for event in events:
        if event.is_user_annotation and not event.name.startswith(_COLLECTIVES):
            continue
        start, end = event.time_range.start * 1e3, event.time_range.end * 1e3
        kind = event.device_type.name.lower()
        if kind == "cpu":
            name = event.name if event.is_user_annotation else _operator(event.name)
            if name:
                sent = exchanged.get(event.id) if event.is_user_annotation else None
                on_host.append(Interval(name, start, end, kind, str(event.thread), sent))
        else:
            name, device = event.name.removeprefix("void "), f"{kind}:{event.device_index}"
            stream = event.device_resource_id
            aside = tells_streams and kind == "cuda" and stream != _DEFAULT_STREAM
            on_devices.append(Interval(name, start, end, device, str(stream), aside=aside))
    return tuple(on_devices or on_host)


def sees_cuda(events: Iterable[Any]) -> bool:
    """Whether CUPTI told anything: at least the wait for the GPU with which each session ends."""
    return any(
        event.name.startswith("cuda") or event.device_type.name == "CUDA" for event in events
    )


def _marks(events: Iterable[Any]) -> list[tuple[float, float]]:
    """Return begin and end of each mark."""
    on_host = (e for e in events if e.name == MARK and e.device_type.name == "CPU")
    return [(e.time_range.start * 1e3, e.time_range.end * 1e3) for e in on_host]


def replays_graphs(events: Iterable[Any]) -> bool:
    """Whether kernels were launched as graphs."""
    return any(event.name in _GRAPH_LAUNCHES for event in events)


def _operator(name: str) -> str:
    """Return the operator that an event on the CPU stands for; "" where it is something else."""
    if name.startswith(_COMPILED):
        return f"compiled graph {name.removeprefix(_COMPILED)[:8]}"
    return name if "::" in name and not name.startswith(_AROUND) else ""
