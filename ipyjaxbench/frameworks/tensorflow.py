"""TensorFlow: eager on the CPU is synchronous; GPUs and the async executor are not."""

import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context as tf_context
from tensorflow.python.eager.polymorphic_function import tracing_compilation
from tensorflow.python.ops import stateful_random_ops

from ipyjaxbench.compiled import UNNAMED, Program
from ipyjaxbench.device_time import Profile
from ipyjaxbench.frameworks import _xplane
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
from ipyjaxbench.frameworks._tensorflow_cautions import Cautions
from ipyjaxbench.notes import Note
from ipyjaxbench.placement import Placement

_EAGER = "EagerLocalExecute: "
_NODE = re.compile(r"[^:\s]+:(\w+)")  # an operation of a graph, as "matmul:MatMul"


class TensorFlow(Framework):
    """`tf.Tensor` and `tf.Variable`, eager."""

    name = "tensorflow"
    module = "tensorflow"

    def __init__(self) -> None:
        self._kinds = (tf.Tensor, tf.Variable)
        self._cautions = Cautions()
        self.builders = ((tf.function, ""),)
        if _tracing_seconds() is None:
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
        return issubclass(kind, self._kinds)

    def compiles(self, value: object) -> bool:
        """The results of `tf.function`."""
        return isinstance(value, tf.types.experimental.PolymorphicFunction)

    def parts(self, value: object) -> Iterable[object] | None:
        """Variables of modules and of Keras layers and models."""
        if isinstance(value, tf.Module):
            return list(value.variables)
        keras: Any = sys.modules.get("keras")
        if keras is not None and isinstance(value, keras.layers.Layer):
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
        if self.started() and tf.executing_eagerly() and _runs_ahead():
            tf.test.experimental.sync_devices()

    def profile(self, run: Callable[[], object]) -> Profile:
        """Trace with `tf.profiler` into a folder that is removed again."""
        try:
            from tensorflow.tsl.profiler.protobuf import xplane_pb2
        except ImportError:
            return Profile(reason="this version does not read profiles")
        if not self.started():
            return Profile(reason="nothing was computed yet")
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            try:
                tf.profiler.experimental.start(folder)
            except tf.errors.AlreadyExistsError:
                return Profile(reason=TAKEN)
            except Exception as error:  # noqa: BLE001  a driver that does not let itself be profiled
                return Profile(reason=in_words(error))
            failed = ""
            try:
                run()
            finally:
                failed = _stopped()
            return Profile(reason=failed) if failed else _read(Path(folder), xplane_pb2.XSpace)

    def watch(self, functions: Sequence[object]) -> Watch:
        """Ask the functions in play how often they were traced."""
        return _TraceWatch([f for f in functions if self.compiles(f)])

    def fresh(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[Fresh] | None:
        """The same functions made anew: each has traces of its own."""
        return _clones(named, unnamed) if named or unnamed else None

    def original(self, function: object) -> object | None:
        """What `tf.function` was given."""
        return getattr(function, "python_function", None) if self.compiles(function) else None

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

    def work(
        self,
        function: object,
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> None:
        """Not told."""


def _runs_ahead() -> bool:
    """Whether operations may still run when Python goes on: on accelerators, or told to."""
    if not tf.config.experimental.get_synchronous_execution():
        return True
    return any(device.device_type != "CPU" for device in tf.config.list_logical_devices())


@contextmanager
def _clones(named: Mapping[str, Any], unnamed: Sequence[object]) -> Iterator[Fresh]:
    """Functions with the same options and no traces yet; nothing public makes one."""
    stand_ins: dict[str, object] = {}
    kept = [_name(function) for function in unnamed]
    for name, function in named.items():
        clone = getattr(function, "_clone", None)
        try:
            stand_ins[name] = clone(None)  # type: ignore[misc]
        except Exception:  # noqa: BLE001  another version takes other arguments
            kept.append(name)
    told = [f"{name} kept its traces" for name in dict.fromkeys(kept)]
    yield Fresh(stand_ins, told)


def _name(function: object) -> str:
    original = getattr(function, "python_function", None)
    return str(getattr(original, "__name__", UNNAMED))


def _stopped() -> str:
    """End the trace; why that failed, in words."""
    try:
        tf.profiler.experimental.stop()
    except Exception as error:  # noqa: BLE001
        return in_words(error)
    return ""


def _read(folder: Path, space: Callable[[], Any]) -> Profile:
    try:
        lines = []
        for path in folder.rglob("*.xplane.pb"):
            profile = space()
            profile.ParseFromString(path.read_bytes())
            lines += [line for plane in profile.planes for line in _lines(plane)]
        return Profile(_xplane.operations(lines, _naming(lines)))
    except Exception as error:  # noqa: BLE001  a format that moved
        return Profile(reason=in_words(error))


def _lines(plane: Any) -> Iterator[_xplane.Line]:
    """A plane's lines with names and statistics looked up; times are in picoseconds there."""
    names, keys = plane.event_metadata, plane.stat_metadata

    def value(stat: Any) -> object:
        kind = stat.WhichOneof("value")
        return keys[stat.ref_value].name if kind == "ref_value" else getattr(stat, kind)

    def event(e: Any, origin: int) -> _xplane.Event:
        stats = {keys[s.metadata_id].name: value(s) for s in e.stats}
        start = origin + e.offset_ps / 1e3
        return _xplane.Event(names[e.metadata_id].name, start, start + e.duration_ps / 1e3, stats)

    for line in plane.lines if _xplane.told(plane.name) else ():
        # From the first line's moment on: nanoseconds since 1970 and their parts fill no float.
        origin = line.timestamp_ns - plane.lines[0].timestamp_ns
        yield _xplane.Line(plane.name, line.name, [event(e, origin) for e in line.events])


def _naming(lines: Sequence[_xplane.Line]) -> Callable[[_xplane.Event], str | None]:
    """Tells operations from what waits for them: eager calls of functions, and executors."""
    events = [event for line in lines for event in line.events]
    functions = {e.stats.get("eager_op") for e in events if e.stats.get("is_func")}

    def name(event: _xplane.Event) -> str | None:
        if "hlo_op" in event.stats:
            return event.name
        if event.name.startswith(_EAGER):
            called = event.name.removeprefix(_EAGER)
            return None if called in functions else called
        node = _NODE.fullmatch(event.name)
        return node[1] if node is not None and node[1] not in functions else None

    return name


class _TraceWatch(Watch):
    """Counts traces, and TensorFlow's own clock over them; XLA's compilations are not told."""

    def __init__(self, functions: Sequence[Any]) -> None:
        self._functions = functions
        self._begun = self._seconds = _tracing_seconds()
        self._before = self._told_traces()
        self._traces = sum(self._before)
        self._count = 0

    def _told_traces(self) -> list[int]:
        return [function.experimental_get_tracing_count() for function in self._functions]

    def __exit__(self, *_: object) -> None:
        """Nothing was registered."""

    def compilations(self) -> int:
        traces, seconds = sum(self._told_traces()), _tracing_seconds()
        # A function made inside of the code is not among those that can be asked.
        unasked = seconds is not None and self._seconds is not None and seconds > self._seconds
        self._count += max(traces - self._traces, int(unasked))
        self._traces, self._seconds = traces, seconds
        return self._count

    def _traced(self) -> list[Any]:
        now = zip(self._functions, self._told_traces(), self._before, strict=True)
        return [function for function, after, before in now for _ in range(after - before)]

    def programs(self) -> list[Program]:
        """Each trace by its function; the time of one is told where it is the only one."""
        traced, count = self._traced(), self.compilations()
        names = [_name(function) for function in traced] + [UNNAMED] * (count - len(traced))
        spent = self.phases().get("trace") if count == 1 else None
        return [Program(name, spent, "traced", TensorFlow.name) for name in names]

    def phases(self) -> dict[str, float | None]:
        if not self.compilations():
            return {}
        told = self._begun is not None and self._seconds is not None
        phases = {"trace": self._seconds - self._begun if told else None}  # type: ignore[operator]
        # XLA compiles when a traced function is first run; Python is not told how long it takes.
        if any(vars(function).get("_jit_compile") for function in self._traced()):
            phases["compile"] = None
        return phases


def _tracing_seconds() -> float | None:
    """What TensorFlow has spent on building graphs in this process; None where it hides it."""
    counter = getattr(tracing_compilation, "_graph_building_time_counter", None)
    return None if counter is None else counter.get_cell().value() * 1e-6
