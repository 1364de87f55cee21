"""PyTorch: synchronous on the CPU, asynchronous on every accelerator, one wait per device."""

import gc
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch

from ipyjaxbench.device_time import Interval, Profile
from ipyjaxbench.frameworks import _torch_compile
from ipyjaxbench.frameworks._base import (
    TAKEN,
    Framework,
    Fresh,
    Restore,
    Wait,
    Watch,
    host_memory,
    in_words,
    of_kind,
)
from ipyjaxbench.frameworks._seen import Seen
from ipyjaxbench.frameworks._stderr import without_lines
from ipyjaxbench.frameworks._torch_cautions import Cautions
from ipyjaxbench.notes import Note
from ipyjaxbench.placement import Placement

#: What the profiler's library logs, as "USDT:2026-11-21 06:38:36 29:29 Handler.cpp:52] start".
_LOGGED = re.compile(rb"[A-Z]+:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \d+:\d+ \w+\.cpp:\d+\]")
#: Frames of autograd and of the profiler around operators.
_AROUND = ("autograd::", "torch::autograd", "profiler::")
_COMPILED = "## Call CompiledFxGraph "


class Torch(Framework):
    """`torch.Tensor` on any device."""

    name = "torch"
    module = "torch"

    def __init__(self) -> None:
        self._tensor = torch.Tensor
        self._cautions = Cautions()
        self.builders = ((torch.compile, ""),)

    def version(self) -> str:
        """PyTorch's version, with its build."""
        return str(torch.__version__)

    def started(self) -> bool:
        """The CPU needs no start; accelerators are asked one by one in `drain`."""
        return True

    def owns(self, kind: type) -> bool:
        """Tensors and parameters."""
        return issubclass(kind, self._tensor)

    def compiles(self, value: object) -> bool:
        """The results of `torch.compile`, and modules compiled in place."""
        return _torch_compile.is_compiled(value)

    def parts(self, value: object) -> Iterable[object] | None:
        """Parameters and buffers of modules, tensors of an optimiser's state."""
        if isinstance(value, torch.nn.Module):
            return [*value.parameters(), *value.buffers()]
        if isinstance(value, torch.optim.Optimizer):
            return [value.param_groups, list(value.state.values())]
        return None

    def placement(self, array: Any) -> Placement:
        """Type, device and bytes of the elements (a view may hold on to more)."""
        return Placement(
            name="",
            framework=self.name,
            arrays=1,
            dtype=str(array.dtype).removeprefix("torch."),
            shape=tuple(array.shape),
            devices=(str(array.device),),
            nbytes=array.numel() * array.element_size(),
            recorded=array.grad_fn is not None,
        )

    def free_memory(self) -> int:
        """What CUDA devices in use tell; the host where there are none."""
        cuda = [device for device in _devices_in_use() if device.type == "cuda"]
        return min((torch.cuda.mem_get_info(d)[0] for d in cuda), default=host_memory())

    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait | None:  # noqa: ARG002
        """Wait for the devices of the tensors, all their streams."""
        devices = {array.device for array in arrays if array.device.type not in ("cpu", "meta")}
        if not devices:
            return None

        def wait(_: object) -> None:
            for device in devices:
                _synchronize(device)

        return wait

    def prepare(self) -> None:
        """There is nothing to make ready."""

    def drain(self) -> None:
        """Wait for every accelerator that this process uses; each has its own queue."""
        for device in _devices_in_use():
            _synchronize(device)

    def profile(self, run: Callable[[], object]) -> Profile:
        """Profile with kineto: kernels where an accelerator is used, operators on the CPU else."""
        kinds = {device.type for device in _devices_in_use()}
        unseen = kinds - {"cuda", "xpu"}
        if unseen:
            return Profile(reason=f"PyTorch's profiler does not see {', '.join(sorted(unseen))}")
        try:
            if _is_profiling():
                return Profile(reason=TAKEN)
            session = torch.autograd.profiler.profile(
                use_kineto=True, use_device=min(kinds, default=None)
            )
            with without_lines(_LOGGED):
                session.__enter__()
        except Exception as error:  # noqa: BLE001  a driver that does not let itself be profiled
            return Profile(reason=in_words(error))
        failed = ""
        try:
            run()
        finally:
            failed = _ended(session)
        return Profile(reason=failed) if failed else Profile(_operations(session.function_events))

    def watch(self, functions: Sequence[object]) -> Watch:
        """Read dynamo's own record of compilations."""
        return _torch_compile.DynamoWatch([f for f in functions if self.compiles(f)])

    def fresh(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[Fresh] | None:
        """The same functions compiled anew, with an empty disk cache."""
        return _torch_compile.fresh(named, unnamed) if named or unnamed else None

    def original(self, function: object) -> object | None:
        """What `torch.compile` was given."""
        return _torch_compile.original(function) if self.compiles(function) else None

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore:  # noqa: ARG002
        """The CPU's generator, those of devices in use, and generators among the values."""
        own = of_kind(values, torch.Generator)
        generators = [torch.default_generator, *own, *_device_generators()]
        states = [generator.get_state() for generator in generators]

        def restore() -> None:
            for generator, state in zip(generators, states, strict=True):
                generator.set_state(state)

        return restore

    def alive(self, array: Any) -> bool:  # noqa: ARG002
        """PyTorch gives no memory away."""
        return True

    def cautions(self, seen: Seen) -> Iterator[Note]:
        """What autograd recorded, debugging modes, several processes, rounded products."""
        yield from self._cautions.about(seen)

    def gives_away(self, function: object) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def copy(self, value: Any) -> None:
        """Never needed."""

    def changes(self, array: Any) -> int | None:
        """Autograd's version counters of the tensor and its gradient, raised by in-place work."""
        if array.is_inference():
            return None
        gradient = array.grad if array.is_leaf else None
        version: int = array._version
        return version if gradient is None else version + 1 + gradient._version

    def work(
        self,
        function: object,
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> None:
        """Not told."""


def _devices_in_use() -> Iterator[torch.device]:
    """Accelerators with a context in this process: waiting for others would make one."""
    for kind in (torch.cuda, torch.xpu):
        if kind.is_initialized():
            name = kind.__name__.rpartition(".")[2]
            for index in range(kind.device_count()):
                if index == kind.current_device() or kind.memory_reserved(index):
                    yield torch.device(name, index)
    if torch.backends.mps.is_available():
        yield torch.device("mps", 0)
    if "torch_xla" in sys.modules:
        yield torch.device("xla", 0)


def _synchronize(device: torch.device) -> None:
    if device.type == "xla":
        sys.modules["torch_xla"].sync(wait=True)
    elif device.type == "mps":
        torch.mps.synchronize()
    else:
        getattr(torch, device.type).synchronize(device)


def _is_profiling() -> bool:
    """Whether a profiler is on, or warms up: starting another one would end it."""
    profiler = torch.autograd.profiler
    if profiler._is_profiler_enabled or torch._C._autograd._profiler_enabled():
        return True
    sessions = (o for o in gc.get_referrers(profiler.profile) if type(o) is profiler.profile)
    return any(session.entered and session.kineto_results is None for session in sessions)


def _ended(session: Any) -> str:
    """End a session of the profiler; why that failed, in words."""
    try:
        with without_lines(_LOGGED):
            session.__exit__(None, None, None)
    except Exception as error:  # noqa: BLE001
        return in_words(error)
    return ""


def _operations(events: Iterable[Any]) -> tuple[Interval, ...]:
    """Kernels and copies on accelerators; without any of them, operators on the CPU."""
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
    """The operator that an event on the CPU stands for; empty where it is something else."""
    if name.startswith(_COMPILED):
        return f"compiled graph {name.removeprefix(_COMPILED)[:8]}"
    return name if "::" in name and not name.startswith(_AROUND) else ""


def _device_generators() -> list[torch.Generator]:
    if not torch.cuda.is_initialized():
        return []
    return [torch.cuda.default_generators[d.index] for d in _devices_in_use() if d.type == "cuda"]
