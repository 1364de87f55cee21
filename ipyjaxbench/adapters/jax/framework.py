"""JAX: asynchronous everywhere, compiled on first use, arrays that can be given away."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.monitoring
import jax.profiler
import numpy as np
from jax._src import xla_bridge

from ipyjaxbench.adapters.jax import cold_call as fresh
from ipyjaxbench.adapters.jax import descriptions, devices, state, synchronization, trees
from ipyjaxbench.adapters.jax import placement as places
from ipyjaxbench.adapters.jax.caveats import Cautions
from ipyjaxbench.adapters.jax.compilation import JaxWatch
from ipyjaxbench.adapters.jax.diagnosis.call_graph import is_jitted
from ipyjaxbench.adapters.jax.diagnosis.explain import explain
from ipyjaxbench.adapters.jax.graphs.compiled_work import Works
from ipyjaxbench.adapters.jax.graphs.tracer import graph
from ipyjaxbench.adapters.jax.microbenchmarks import JaxProbe
from ipyjaxbench.adapters.jax.profiler import profile
from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch
from ipyjaxbench.adapters.jax.retracing.listener import Learner
from ipyjaxbench.adapters.jax.transfers import JaxCrossings
from ipyjaxbench.device.inventory import Home
from ipyjaxbench.device.memory_environment import MEMORY_VARIABLES, too_late
from ipyjaxbench.device.memory_settings import MemorySetting
from ipyjaxbench.device.placement import Located, Weight
from ipyjaxbench.device.protocol import Tell
from ipyjaxbench.frameworks.compilation import Fresh, Watch, Work
from ipyjaxbench.frameworks.framework import Framework, Wait
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.frameworks.state.undo import Room, State
from ipyjaxbench.graphs.components import Load
from ipyjaxbench.graphs.diagnosis import Diagnosis
from ipyjaxbench.graphs.graph import Graph
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.host.system import host_memory, usable_cpus
from ipyjaxbench.reports.note import Note
from ipyjaxbench.retracing.cache_key import Miss
from ipyjaxbench.retracing.protocol import CallWatch
from ipyjaxbench.timing.device_time import Profile
from ipyjaxbench.timing.validity.code_facts import Seen
from ipyjaxbench.usercode import objects
from ipyjaxbench.usercode.call import Call

_CONVERTED = 5


class Jax(Framework):
    """`jax.Array` on any platform."""

    name = "jax"
    module = "jax"
    immutable = True
    keeps_copies = True

    def __init__(self) -> None:
        # Private, since nothing public tells whether a backend exists without making one.
        self._initialised: Callable[[], bool] = xla_bridge.backends_are_initialized
        self._initialised()
        self._cautions = Cautions()
        self._works = Works()
        self._looked_at: set[str] = set()  # functions whose traces JAX keeps since %jaxpr
        self.builders = (
            (jax.jit, ""),
            (jax.pmap, ""),
            *((f, "jax.jit") for f in (jax.vmap, jax.grad, jax.value_and_grad)),
            *((f, "jax.jit") for f in (jax.jacfwd, jax.jacrev, jax.hessian, jax.checkpoint)),
        )
        self._in_flight = synchronization.InFlight(_local_devices)
        if not callable(getattr(jax.monitoring, "register_event_duration_secs_listener", None)):
            self.gaps = ("this version does not tell when it compiles; phases are unknown.",)

    def version(self) -> str:
        """JAX's version."""
        return str(jax.__version__)

    def started(self) -> bool:
        """Whether a backend exists; asking JAX for devices would make one."""
        return self._initialised()

    def owns(self, kind: type) -> bool:
        """Concrete arrays, not tracers."""
        return objects.extends(kind, jax.Array) and not objects.extends(kind, jax.core.Tracer)

    def compiles(self, value: object) -> bool:
        """The results of `jax.jit` and ahead-of-time compiled functions."""
        return is_jitted(value) or objects.is_of(value, jax.stages.Compiled)

    def parts(self, value: object) -> tuple[()] | None:
        """Of what says where data lie none; pytrees are objects that the walk enters."""
        return () if objects.is_of(value, jax.sharding.Mesh, jax.sharding.Sharding) else None

    def placement(self, array: Any) -> Placement:
        """Type, devices and bytes, all of which outlive a donated buffer."""
        return places.placed(array)

    def free_memory(self) -> int:
        """What devices tell, and the host where it is one of them."""
        return min(map(_free_on, _local_devices()), default=host_memory())

    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait:
        """One array by its method, a pytree by JAX's batched call, anything else by its devices."""
        return synchronization.waiter(value, arrays) or (lambda _: self.drain())

    def prepare(self) -> None:
        """Compile the tiny programs that `drain` runs, one for each initialised device."""
        if self.started():
            self._in_flight.prepare()

    def drain(self) -> None:
        """Run a tiny program on each initialised device: it comes back when all before it has."""
        if self.started():
            self._in_flight.wait()

    def runs_ahead(self) -> bool:
        """Wherever it computes."""
        return self.started()

    def is_running(self) -> bool | None:
        """Told on CPUs, by whether such a program is ready at once."""
        return self._in_flight.is_any() if self.started() else False

    def profile(self, run: Callable[[], object]) -> Profile:
        """Trace with `jax.profiler`."""
        return profile(run) if self.started() else Profile(reason="nothing was computed yet")

    def watch(self, functions: Sequence[object]) -> Watch:  # noqa: ARG002
        """Listen to `jax.monitoring`."""
        return JaxWatch(self._looked_at)

    def fresh(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[Fresh]:
        """Every cache asked under another key; eager operations are compiled too."""
        return fresh.fresh([*named.values(), *unnamed])

    def original(self, function: object) -> object | None:
        """What `jax.jit` was given."""
        return getattr(function, "__wrapped__", None) if self.compiles(function) else None

    def random_state(self, values: Sequence[object], *, later: bool = False) -> None:
        """JAX has no hidden random state."""

    def alive(self, array: Any) -> bool:
        """False once the array was donated or deleted."""
        return not array.is_deleted()

    def cautions(self, seen: Seen) -> Iterator[Note]:
        """Numbers made narrower, debugging options, several processes, rounded products."""
        if self.started():
            yield from self._cautions.about(seen)

    def gives_away(self, function: Any) -> bool:
        """Whether the function was jitted with donated arguments, as far as JAX tells."""
        if objects.is_of(function, jax.stages.Compiled):
            return any(leaf.donated for leaf in jax.tree.leaves(function.args_info))
        if not self.compiles(function):
            return False
        info = getattr(function, "_jit_info", None)
        if info is None:  # before 0.5 nothing tells: it may
            return True
        return bool(info.donate_argnums or info.donate_argnames)

    def copy(self, value: Any) -> Any | None:
        """The same pytree with new buffers; None if over a tenth of the free memory is needed."""
        arrays = [leaf for leaf in trees.leaves(value) if isinstance(leaf, jax.Array)]
        if any(a.is_deleted() for a in arrays):
            return None
        if sum(self.placement(a).nbytes for a in arrays) > self.free_memory() / 10:
            return None
        fresh = trees.mapped(lambda a: a.copy() if isinstance(a, jax.Array) else a, value)
        return jax.block_until_ready(fresh)

    def host(self, array: Any) -> Any | None:
        """A copy; dtypes that NumPy lacks become float32. Random keys have no numbers to show."""
        if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
            return None
        host = np.asarray(array)
        return host if host.dtype.kind in "biufc" else host.astype(np.float32)

    def threads(self) -> int | None:
        """XLA's pool on the CPU has one for each that is usable, unless a flag says otherwise."""
        alone = "--xla_cpu_multi_thread_eigen=false" in os.environ.get("XLA_FLAGS", "")
        return 1 if alone else usable_cpus()

    def aligned(self, threads: int) -> AbstractContextManager[object]:  # noqa: ARG002
        """Precision alone: XLA's threads are set when it starts."""
        context: AbstractContextManager[object] = jax.default_matmul_precision("highest")
        return context

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:
        """Its jaxpr, or what is lowered and compiled of it."""
        __tracebackhide__ = True
        found = graph(call, options)
        self._looked_at.update(found.warm if found else ())
        return found

    def load(self, call: Call) -> Load | None:
        """Of a call that was made before: no trace is left that it did not leave itself."""
        before = set(self._looked_at)
        try:
            return super().load(call)
        finally:
            self._looked_at.intersection_update(before)

    has_devices = True

    def home(self) -> Home:
        """Its devices; none of them is asked for before it has started."""
        if not self.started():
            return Home(self.name, self.version(), started=False)
        return devices.home(self.version())

    def probe(self, device: str) -> JaxProbe | None:
        """Any device of this process."""
        probes = map(JaxProbe, _local_devices())
        return next((probe for probe in probes if probe.device == device), None)

    def start(self) -> bool:
        """Asking for devices makes them."""
        return bool(jax.devices())

    def set_memory(self, *, prealloc: bool, fraction: float | None) -> Iterator[MemorySetting]:
        """Variables of the environment, which it reads when it first looks for devices."""
        if not self.started():
            return MEMORY_VARIABLES[self.name].set(prealloc=prealloc, fraction=fraction)
        if not devices.has_gpus():
            return iter([MemorySetting(self.name, "has started without a GPU: nothing to set")])
        return iter([too_late(self.name, prealloc=prealloc, fraction=fraction)])

    def located(self, name: str, array: Any) -> Located:
        """With its sharding."""
        return places.located(name, array)

    def named_parts(self, value: object) -> Iterator[tuple[str, object]] | None:
        """Variables of Flax NNX."""
        return places.named_parts(value)

    def weight(self, array: Any) -> Weight:
        """With its sharding."""
        return places.weight(array)

    def held(self) -> Sequence[Any]:
        """All that JAX holds and that was not deleted, but for the parts of others."""
        if not self.started():
            return ()
        arrays = [array for array in jax.live_arrays() if not array.is_deleted()]
        parts = places.unnamed_parts(arrays)
        return [array for array in arrays if id(array) not in parts]

    def holder(self, array: Any) -> object:
        """The numbers of a key."""
        return getattr(array, "_base_array", array)

    def made_at(self, array: Any) -> Sequence[tuple[str, str, int]]:
        """As JAX keeps it with each array."""
        frames = getattr(getattr(array, "traceback", None), "frames", ())
        return [(each.file_name, each.function_name, each.line_num) for each in frames]

    def described(self, value: object) -> str:
        """Meshes, shardings, and shapes without numbers."""
        return descriptions.described(value) if objects.is_of(value, *descriptions.KINDS) else ""

    def is_tracing(self, args: object) -> bool:
        """Whether one of them is a tracer."""
        return any(isinstance(leaf, jax.core.Tracer) for leaf in trees.leaves(args))

    def learn_signatures(self, learn: Callable[[Miss], None]) -> bool:
        """From the frames of JAX that take calls which were not traced before."""
        self._learner = Learner(learn)
        return True

    def call_watch(self) -> CallWatch:
        """Events of `jax.monitoring`, one call at a time."""
        return JaxCallWatch()

    def crossing_watch(self, tell: Tell) -> JaxCrossings:
        """Where arrays are read on the host and put on devices."""
        return JaxCrossings(tell)

    def explain(self, error: BaseException) -> Diagnosis | None:
        """From the traceback alone, and by tracing again what was traced."""
        return explain(error)

    def conversion(self, array: Any) -> tuple[float, float] | None:
        """The fastest of a few new arrays; one on a single CPU device shares its memory."""
        place = self.placement(array)
        shares = len(place.devices) == 1 and place.devices[0].startswith("cpu")
        if array.is_deleted() or shares or place.nbytes > self.free_memory() / 10:
            return None
        host, now, taken = np.array(array), Clock.elapsed().now, []
        for _ in range(_CONVERTED):
            fresh = jax.device_put(host, array.sharding).block_until_ready()
            start = now()
            np.asarray(fresh)
            middle = now()
            np.asarray(fresh)
            taken.append((middle - start, now() - middle))
        first, again = zip(*taken, strict=True)
        return min(first) * 1e-9, min(again) * 1e-9

    def changes(self, array: Any) -> None:
        """JAX arrays never change."""

    def revived(self, value: Any, copies: Mapping[int, Any]) -> Any:
        """The same pytree; the same object where none of its arrays is gone."""
        if not any(id(leaf) in copies for leaf in trees.leaves(value)):
            return value
        return trees.mapped(lambda leaf: copies.get(id(leaf), leaf), value)

    def states(self, value: object, room: Room) -> Sequence[State] | None:
        """References; arrays never change."""
        return state.states(value, room)

    def work(
        self, function: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Work | None:
        """Read the jaxpr and the executable that the function has for these arguments."""
        if not is_jitted(function) or jax.config.jax_disable_jit:
            return None
        return self._works.of_call(function, args, kwargs)


def _local_devices() -> list[Any]:
    backends = xla_bridge.backends()
    return [d for backend in backends.values() for d in backend.local_devices()]


def _free_on(device: Any) -> int:
    told = device.memory_stats() or {}
    if "bytes_limit" not in told:
        return host_memory()
    return int(told["bytes_limit"] - told.get("bytes_in_use", 0))
