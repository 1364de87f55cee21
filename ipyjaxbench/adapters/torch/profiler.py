"""A pass under PyTorch's profiler."""

import gc
import re
from collections.abc import Callable, Iterable
from typing import Any

import torch

from ipyjaxbench.adapters.shared.stderr import drop_lines
from ipyjaxbench.adapters.torch import devices
from ipyjaxbench.host import PROFILER_IN_USE, summarize_error
from ipyjaxbench.timing import Interval, Profile, Profiler

#: What the profiler's library logs, as "USDT:2026-11-21 06:38:36 29:29 Handler.cpp:52] start".
_LOGGED = re.compile(rb"[A-Z]+:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \d+:\d+ \w+\.cpp:\d+\]")
#: Frames of autograd and of the profiler around operators.
_AROUND = ("autograd::", "torch::autograd", "profiler::")
_COMPILED = "## Call CompiledFxGraph "


class TorchProfiler(Profiler):
    """Kineto: kernels where an accelerator is used, operators on the CPU else."""

    def profile(self, run: Callable[[], object]) -> Profile:
        """Profile with kineto."""
        __tracebackhide__ = True
        kinds = {device.type for device in devices.used_accelerators()}
        unseen = kinds - {"cuda", "xpu"}
        if unseen:
            return Profile(reason=f"PyTorch's profiler does not see {', '.join(sorted(unseen))}")
        try:
            if _is_profiling():
                return Profile(reason=PROFILER_IN_USE)
            session = torch.autograd.profiler.profile(
                use_kineto=True, use_device=min(kinds, default=None)
            )
            with drop_lines(_LOGGED):
                session.__enter__()
        except Exception as error:  # noqa: BLE001  a driver that does not let itself be profiled
            return Profile(reason=summarize_error(error))
        failed = ""
        try:
            run()
        finally:
            try:
                with drop_lines(_LOGGED):
                    session.__exit__(None, None, None)
            except Exception as error:  # noqa: BLE001
                failed = summarize_error(error)
        return Profile(reason=failed) if failed else Profile(operations(session.function_events))


def _is_profiling() -> bool:
    """Whether a profiler is on, or warms up: starting another one would end it."""
    profiler = torch.autograd.profiler
    if profiler._is_profiler_enabled or torch._C._autograd._profiler_enabled():
        return True
    sessions = (o for o in gc.get_referrers(profiler.profile) if type(o) is profiler.profile)
    return any(session.entered and session.kineto_results is None for session in sessions)


def operations(events: Iterable[Any]) -> tuple[Interval, ...]:
    """Return kernels and copies on accelerators; without any of them, operators on the CPU."""
    on_host, on_devices = [], []
    for event in events:
        if event.is_user_annotation:
            continue
        start, end = event.time_range.start * 1e3, event.time_range.end * 1e3
        kind = event.device_type.name.lower()
        if kind == "cpu":
            name = _operator(event.name)
            if name:
                on_host.append(Interval(name, start, end, kind, str(event.thread)))
        else:
            device, stream = f"{kind}:{event.device_index}", str(event.device_resource_id)
            on_devices.append(
                Interval(event.name.removeprefix("void "), start, end, device, stream)
            )
    return tuple(on_devices or on_host)


def _operator(name: str) -> str:
    """Return the operator that an event on the CPU stands for; "" where it is something else."""
    if name.startswith(_COMPILED):
        return f"compiled graph {name.removeprefix(_COMPILED)[:8]}"
    return name if "::" in name and not name.startswith(_AROUND) else ""
