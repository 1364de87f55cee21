"""PyTorch: synchronous on the CPU, asynchronous on every accelerator, one wait per device."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import torch

from ipyjaxbench.adapters.torch import compilation as compiling
from ipyjaxbench.adapters.torch import devices, sharding
from ipyjaxbench.adapters.torch import placement as places
from ipyjaxbench.adapters.torch import state as tensor_states
from ipyjaxbench.adapters.torch.caveats import Cautions
from ipyjaxbench.adapters.torch.diagnosis.explain import explain
from ipyjaxbench.adapters.torch.graphs.tracer import graph
from ipyjaxbench.adapters.torch.microbenchmarks import TorchProbe
from ipyjaxbench.adapters.torch.profiler import profile
from ipyjaxbench.adapters.torch.retracing import listener
from ipyjaxbench.adapters.torch.retracing.call_watch import TorchCallWatch
from ipyjaxbench.adapters.torch.transfers import TorchCrossings
from ipyjaxbench.device.inventory import Home
from ipyjaxbench.device.memory_settings import MemorySetting
from ipyjaxbench.device.placement import Located, Weight
from ipyjaxbench.device.protocol import Tell
from ipyjaxbench.frameworks.compilation import Fresh, Watch
from ipyjaxbench.frameworks.framework import Framework, Restore, Wait
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.frameworks.state.undo import Room, State
from ipyjaxbench.graphs.diagnosis import Diagnosis
from ipyjaxbench.graphs.graph import Graph
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.host.system import host_memory, of_kind
from ipyjaxbench.reports.note import Note
from ipyjaxbench.retracing.cache_key import Miss
from ipyjaxbench.retracing.protocol import CallWatch
from ipyjaxbench.timing.device_time import Profile
from ipyjaxbench.timing.validity.code_facts import Seen
from ipyjaxbench.usercode import objects
from ipyjaxbench.usercode.call import Call

_NOT_IN_NUMPY = {torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2}


class Torch(Framework):
    """`torch.Tensor` on any device."""

    name = "torch"
    module = "torch"
    spins = True

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
        return compiling.is_compiled(value)

    def parts(self, value: Any) -> Iterable[object] | None:
        """Parameters and buffers of modules, tensors of an optimiser's state."""
        if objects.is_of(value, torch.nn.Module):
            return [*value.parameters(), *value.buffers()]
        if objects.is_of(value, torch.optim.Optimizer):
            return [value.param_groups, list(value.state.values())]
        return () if sharding.is_mesh(value) else None

    def placement(self, array: Any) -> Placement:
        """Type, device and bytes of the elements (a view may hold on to more)."""
        with torch._C.DisableTorchFunctionSubclass():  # no code of a subclass is run
            is_empty = places.has_no_numbers(array)
            return Placement(
                name="",
                framework=self.name,
                arrays=1,
                dtype=str(array.dtype).removeprefix("torch."),
                shape=places.shape_of(array),
                devices=(str(array.device),),
                nbytes=0 if is_empty else array.numel() * array.element_size(),
                recorded=array.grad_fn is not None,
            )

    def free_memory(self) -> int:
        """What CUDA devices in use tell; the host where there are none."""
        cuda = [device for device in devices.in_use() if device.type == "cuda"]
        return min((torch.cuda.mem_get_info(d)[0] for d in cuda), default=host_memory())

    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait | None:  # noqa: ARG002
        """Wait for the devices of the tensors, all their streams."""
        with torch._C.DisableTorchFunctionSubclass():
            used = {a.device for a in arrays if a.device.type not in ("cpu", "meta")}
        if not used:
            return None

        def wait(_: object) -> None:
            for device in used:
                devices.synchronize(device)

        return wait

    def prepare(self) -> None:
        """There is nothing to make ready."""

    def drain(self) -> None:
        """Wait for every accelerator that this process uses; each has its own queue."""
        devices.drain()

    def runs_ahead(self) -> bool:
        """On accelerators alone."""
        return any(devices.in_use())

    def is_running(self) -> bool | None:
        """What the streams in use tell; that others are idle only a clock shows."""
        in_use = list(devices.in_use())
        if not in_use:
            return False
        return True if any(map(devices.is_busy, in_use)) else None

    def profile(self, run: Callable[[], object]) -> Profile:
        """Profile with kineto: kernels where an accelerator is used, operators on the CPU else."""
        return profile(run, {device.type for device in devices.in_use()})

    def watch(self, functions: Sequence[object]) -> Watch:
        """Read dynamo's own record of compilations."""
        return compiling.DynamoWatch([f for f in functions if self.compiles(f)])

    def fresh(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[Fresh] | None:
        """The same functions compiled anew, with an empty disk cache."""
        return compiling.fresh(named, unnamed) if named or unnamed else None

    def original(self, function: object) -> object | None:
        """What `torch.compile` was given."""
        return compiling.original(function) if self.compiles(function) else None

    def host(self, array: Any) -> Any | None:
        """A copy without its graph; dtypes that NumPy lacks become float32."""
        if array.device.type == "meta" or array.layout is not torch.strided:
            return None
        array = array.detach().cpu().resolve_conj().resolve_neg()
        return (array.float() if array.dtype in _NOT_IN_NUMPY else array).numpy()

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:
        """Its ATen operations, found with fake tensors."""
        return graph(call, options)

    def crossing_watch(self, tell: Tell) -> TorchCrossings:
        """Methods of tensors."""
        return TorchCrossings(tell)

    def explain(self, error: BaseException) -> Diagnosis | None:
        """Why torch.compile would not take a function as one graph."""
        return explain(error)

    def is_tracing(self, args: object) -> bool:  # noqa: ARG002
        """Whether dynamo, `torch.export` or `torch.jit.trace` is at work."""
        return bool(torch.compiler.is_compiling() or torch.jit.is_tracing())

    def learn_signatures(self, learn: Callable[[Miss], None]) -> bool:
        """From a hook of dynamo, which is there with the first `torch.compile`, not before."""
        return listener.listen(learn)

    def call_watch(self) -> CallWatch:
        """Dynamo's hooks, one call at a time."""
        return TorchCallWatch(self.drain)

    has_devices = True

    def home(self) -> Home:
        """The CPU, and accelerators in use."""
        return devices.home(self.version())

    def probe(self, device: str) -> TorchProbe:
        """Any device that it has."""
        where = torch.device(device)
        wait = None if where.type == "cpu" else partial(devices.synchronize, where)
        return TorchProbe(where, wait)

    def start(self) -> bool:
        """Have accelerators looked for; the CPU is there anyway."""
        return devices.start()

    def set_memory(self, *, prealloc: bool, fraction: float | None) -> Iterator[MemorySetting]:
        """The share of each GPU, at any time; there is no preallocation."""
        return devices.set_memory(prealloc=prealloc, fraction=fraction)

    def located(self, name: str, array: Any) -> Located:
        """With its layout, and with its placements where it is a DTensor."""
        return places.located(name, array)

    def weight(self, array: Any) -> Weight:
        """Device and bytes, and placements where it is a DTensor."""
        return places.weight(array)

    def described(self, value: object) -> str:
        """Meshes of devices."""
        return sharding.described(value) if sharding.is_mesh(value) else ""

    def held(self) -> Sequence[Any]:
        """None: no list is kept, and Python's objects lack what autograd saved.

        For GPUs, `home` tells what all tensors take, with a name or without.
        """
        return ()

    def named_parts(self, value: object) -> Iterable[tuple[str, object]] | None:
        """Of modules and optimisers."""
        return places.named_parts(value)

    def threads(self) -> int:
        """Those of one operation on the CPU."""
        return int(torch.get_num_threads())

    @contextmanager
    def aligned(self, threads: int) -> Iterator[None]:
        """Both can be set at any time."""
        before = torch.get_num_threads(), torch.get_float32_matmul_precision()
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision("highest")
        try:
            yield
        finally:
            torch.set_num_threads(before[0])
            torch.set_float32_matmul_precision(before[1])

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
        with torch._C.DisableTorchFunctionSubclass():
            if array.is_inference():
                return None
            gradient = array.grad if array.is_leaf else None
            version: int = array._version
            return version if gradient is None else version + 1 + gradient._version

    def changes_in_place(self, method: str) -> bool:
        """Their names end in an underscore."""
        return method.endswith("_") and not method.startswith("_")

    def states(self, value: object, room: Room) -> Sequence[State] | None:
        """Numbers and gradients of tensors, and generators."""
        return tensor_states.states(value, room)

    def work(
        self,
        function: object,
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> None:
        """Not told."""


def _device_generators() -> list[torch.Generator]:
    if not torch.cuda.is_initialized():
        return []
    return [torch.cuda.default_generators[d.index] for d in devices.in_use() if d.type == "cuda"]
