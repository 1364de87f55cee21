"""TensorFlow: eager on the CPU is synchronous; GPUs and the async executor are not."""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context as tf_context
from tensorflow.python.framework import ops
from tensorflow.python.ops import stateful_random_ops

from ipyjaxbench.adapters.tensorflow import devices, gpu_memory
from ipyjaxbench.adapters.tensorflow import placement as places
from ipyjaxbench.adapters.tensorflow import state as variable_states
from ipyjaxbench.adapters.tensorflow.caveats import Cautions
from ipyjaxbench.adapters.tensorflow.compilation import TraceWatch, clones, tracing_seconds
from ipyjaxbench.adapters.tensorflow.diagnosis.explain import explain
from ipyjaxbench.adapters.tensorflow.graphs.tracer import graph
from ipyjaxbench.adapters.tensorflow.microbenchmarks import TensorFlowProbe
from ipyjaxbench.adapters.tensorflow.profiler import profile
from ipyjaxbench.adapters.tensorflow.retracing.call_watch import TensorFlowCallWatch
from ipyjaxbench.adapters.tensorflow.retracing.listener import Learner
from ipyjaxbench.adapters.tensorflow.transfers import TensorFlowCrossings
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
from ipyjaxbench.host.system import host_memory, of_kind, usable_cpus
from ipyjaxbench.reports.note import Note
from ipyjaxbench.retracing.cache_key import Miss
from ipyjaxbench.timing.device_time import Profile
from ipyjaxbench.timing.validity.code_facts import Seen
from ipyjaxbench.usercode import objects
from ipyjaxbench.usercode.call import Call


class TensorFlow(Framework):
    """`tf.Tensor` and `tf.Variable`, eager."""

    name = "tensorflow"
    module = "tensorflow"

    def __init__(self) -> None:
        self._kinds = (tf.Tensor, tf.Variable)
        self._cautions = Cautions()
        self.builders = ((tf.function, ""),)
        if tracing_seconds() is None:
            self.gaps = ("this version does not tell how long tracing takes.",)
        self.started()

    def version(self) -> str:
        """TensorFlow's version."""
        return str(tf.__version__)

    def started(self) -> bool:
        """Whether the eager context exists; listing devices would make it."""
        context = tf_context._context
        return context is not None and context._context_handle is not None

    def owns(self, kind: type) -> bool:
        """Tensors and variables, not symbolic ones of a graph being built."""
        return objects.extends(kind, *self._kinds)

    def compiles(self, value: object) -> bool:
        """The results of `tf.function`."""
        return objects.is_of(value, tf.types.experimental.PolymorphicFunction)

    def parts(self, value: Any) -> Iterable[object] | None:
        """Variables of modules and of Keras layers and models."""
        if objects.is_of(value, tf.Module):
            return list(value.variables)
        keras: Any = sys.modules.get("keras")
        if keras is not None and objects.is_of(value, keras.layers.Layer):
            return [variable.value for variable in value.weights]
        return None

    def placement(self, array: Any) -> Placement:
        """Type, the last parts of the device's name, and bytes."""
        shape = tuple(-1 if n is None else int(n) for n in array.shape)
        dtype = array.dtype
        elements = 1
        for n in shape:
            elements *= n
        kind, _, index = array.device.rpartition("device:")[2].lower().partition(":")
        return Placement(
            name="",
            framework=self.name,
            arrays=1,
            dtype=dtype.name.removesuffix("_ref"),
            shape=shape,
            devices=(f"{kind or 'cpu'}:{index or 0}",),
            nbytes=abs(elements) * dtype.size,
        )

    def free_memory(self) -> int:
        """The host's: TensorFlow does not tell how much a device has."""
        return host_memory()

    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait | None:  # noqa: ARG002
        """Wait for all devices where any of them runs ahead of Python."""
        return (lambda _: tf.test.experimental.sync_devices()) if _runs_ahead() else None

    def prepare(self) -> None:
        """There is nothing to make ready."""

    def drain(self) -> None:
        """Wait for all devices where any of them runs ahead of Python."""
        if self.runs_ahead():
            tf.test.experimental.sync_devices()

    def runs_ahead(self) -> bool:
        """On accelerators, and on the CPU where the user has set it so."""
        return self.started() and tf.executing_eagerly() and _runs_ahead()

    def is_running(self) -> bool | None:
        """Nothing tells it but the time that waiting takes, where operations run ahead at all."""
        return None if self.runs_ahead() else False

    def profile(self, run: Callable[[], object]) -> Profile:
        """Trace with `tf.profiler`."""
        return profile(run) if self.started() else Profile(reason="nothing was computed yet")

    def watch(self, functions: Sequence[object]) -> Watch:
        """Ask the functions in play how often they were traced."""
        return TraceWatch([f for f in functions if self.compiles(f)])

    def fresh(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[Fresh] | None:
        """The same functions made anew: each has traces of its own."""
        return clones(named, unnamed) if named or unnamed else None

    def original(self, function: object) -> object | None:
        """What `tf.function` was given."""
        return getattr(function, "python_function", None) if self.compiles(function) else None

    def host(self, array: Any) -> Any | None:
        """A copy; dtypes that NumPy lacks become float32."""
        read = getattr(array, "numpy", None)  # symbolic tensors have none
        if read is None:
            return None
        host = read()
        return host if host.dtype.kind in "biufc" else host.astype("float32")

    def graph(self, call: Call, options: GraphOptions) -> Graph | None:
        """That of a new tf.function; what it draws as it is traced is put back."""
        restore = self.random_state([*call.args, *call.kwargs.values()], later=True)
        try:
            return graph(call, options)
        finally:
            if restore is not None:
                restore()

    has_devices = True

    def home(self) -> Home:
        """Its devices; none of them is asked for before it has started."""
        return devices.home(self.version(), started=self.started())

    def probe(self, device: str) -> TensorFlowProbe | None:
        """Any device, where operations run as they are written."""
        if not tf.executing_eagerly():
            return None
        return TensorFlowProbe(device, tf.test.experimental.sync_devices if _runs_ahead() else None)

    def start(self) -> bool:
        """Asking for devices makes them."""
        return bool(tf.config.list_logical_devices())

    def set_memory(self, *, prealloc: bool, fraction: float | None) -> Iterator[MemorySetting]:
        """Growth or a limit of each GPU, before it has started them."""
        return gpu_memory.set_memory(started=self.started(), prealloc=prealloc, fraction=fraction)

    def located(self, name: str, array: Any) -> Located:
        """With the replicas of a variable."""
        return places.located(self.placement(array), name, array)

    def weight(self, array: Any) -> Weight | None:
        """Device and bytes; of variables with their replicas."""
        if type(array) is not ops.EagerTensor:
            return super().weight(array)
        place = self.placement(array)
        return Weight(place.devices, place.nbytes)

    def held(self) -> Sequence[Any]:
        """None: no list of tensors is kept. For GPUs, `home` tells what all of them take."""
        return ()

    def named_parts(self, value: object) -> Iterable[tuple[str, object]] | None:
        """Of modules, and tensors that are made of several."""
        return places.named_parts(value)

    def is_tracing(self, args: object) -> bool:  # noqa: ARG002
        """Whether a graph is being made."""
        return not tf.executing_eagerly()

    def learn_signatures(self, learn: Callable[[Miss], None]) -> bool:
        """From TensorFlow's callbacks for new graphs."""
        self._learner = Learner(learn)
        return self._learner.listens

    def call_watch(self) -> TensorFlowCallWatch:
        """Counts of traces, one call at a time."""
        return TensorFlowCallWatch(_runs_ahead)

    def crossing_watch(self, tell: Tell) -> TensorFlowCrossings:
        """What tensors are read, made and sent by."""
        return TensorFlowCrossings(tell)

    def explain(self, error: BaseException) -> Diagnosis | None:
        """What was raised while a graph was made; that function is traced once more."""
        return explain(error)

    def threads(self) -> int | None:
        """Those of one operation on the CPU, as far as they were set; else all CPUs."""
        return tf.config.threading.get_intra_op_parallelism_threads() or usable_cpus()

    @contextmanager
    def aligned(self, threads: int) -> Iterator[None]:  # noqa: ARG002
        """Precision alone: threads are set before TensorFlow starts."""
        allowed = tf.config.experimental.tensor_float_32_execution_enabled()
        tf.config.experimental.enable_tensor_float_32_execution(enabled=False)
        try:
            yield
        finally:
            tf.config.experimental.enable_tensor_float_32_execution(enabled=allowed)

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore | None:
        """The seeds that eager operations draw, and the state of generators.

        A kernel is cached with its seed and holds a state of its own. So that later calls do not
        advance kernels that the user's next operation will use, they draw other seeds.
        """
        if not self.started():
            return None
        context = tf_context.context()
        drawn = vars(context).get("_rng")  # set by tf.random.set_seed
        state = drawn.getstate() if drawn is not None else None
        shared = stateful_random_ops.global_generator
        own = of_kind(values, tf.random.Generator)
        generators = own if shared is None else [shared, *own]
        states = [tf.identity(generator.state) for generator in generators]
        if drawn is not None and later:
            drawn.seed(random.Random(repr(state)).getrandbits(64))

        def restore() -> None:
            if drawn is not None:
                drawn.setstate(state)
            for generator, before in zip(generators, states, strict=True):
                generator.state.assign(before)

        return restore

    def alive(self, array: Any) -> bool:  # noqa: ARG002
        """TensorFlow gives no memory away."""
        return True

    def cautions(self, seen: Seen) -> Iterator[Note]:
        """Debugging modes, a tape around the code, several workers, rounded products."""
        if self.started():
            yield from self._cautions.about(seen)

    def gives_away(self, function: object) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def copy(self, value: Any) -> None:
        """Never needed."""

    def changes(self, array: Any) -> None:
        """Not told."""

    def changes_in_place(self, method: str) -> bool:
        """Those of variables."""
        return method in ("assign", "assign_add", "assign_sub")

    def states(self, value: object, room: Room) -> Sequence[State] | None:
        """Values of variables."""
        return variable_states.states(value, room) if self.started() else None

    def work(
        self,
        function: object,
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> None:
        """Not told."""


def _runs_ahead() -> bool:
    """Whether operations may still run when Python goes on: on accelerators, or told to."""
    return not tf.config.experimental.get_synchronous_execution() or _has_accelerators()


@cache
def _has_accelerators() -> bool:
    """Asking starts TensorFlow's devices, which then stay what they are."""
    return any(device.device_type != "CPU" for device in tf.config.list_logical_devices())
