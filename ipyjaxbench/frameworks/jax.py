"""JAX: asynchronous everywhere, compiled on first use, arrays that can be given away."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from operator import methodcaller
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jax
import jax.monitoring
import jax.profiler
import numpy as np
from jax._src import monitoring, xla_bridge

from ipyjaxbench.clock import Clock
from ipyjaxbench.compiled import UNNAMED, Program
from ipyjaxbench.device_time import Profile
from ipyjaxbench.frameworks import _jax_fresh, _xplane
from ipyjaxbench.frameworks._base import (
    TAKEN,
    Framework,
    Fresh,
    Wait,
    Watch,
    Work,
    host_memory,
    in_words,
)
from ipyjaxbench.frameworks._jax_cautions import Cautions
from ipyjaxbench.frameworks._jaxpr import Tally, TooLargeError
from ipyjaxbench.frameworks._seen import Seen
from ipyjaxbench.notes import Note
from ipyjaxbench.placement import Placement

_CLOCK = Clock.elapsed()
_one_array: Wait = methodcaller("block_until_ready")
_pytree: Wait = jax.block_until_ready

#: Events of `jax.monitoring`, innermost first: where two overlap the moment belongs to the first.
_EVENTS = {
    "/jax/compilation_cache/cache_retrieval_time_sec": "cache load",
    "/jax/core/compile/backend_compile_duration": "compile",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/jaxpr_trace_duration": "trace",
}
#: Sides of the matrix whose product shows what a device can do.
_PEAK_SIZE, _PEAK_SIZE_ELSEWHERE, _PEAK_READINGS = {"cpu": 512}, 4096, 10
_COMPILE = "/jax/core/compile/backend_compile_duration"
_LOAD = "/jax/compilation_cache/cache_retrieval_time_sec"  # fires for hits only


class Jax(Framework):
    """`jax.Array` on any platform."""

    name = "jax"
    module = "jax"
    immutable = True

    def __init__(self) -> None:
        # Private, since nothing public tells whether a backend exists without making one.
        self._initialised: Callable[[], bool] = xla_bridge.backends_are_initialized
        self._initialised()
        self._cautions = Cautions()
        self._peaks: dict[tuple[Any, str], float] = {}
        self.builders = (
            (jax.jit, ""),
            (jax.pmap, ""),
            *((f, "jax.jit") for f in (jax.vmap, jax.grad, jax.value_and_grad)),
            *((f, "jax.jit") for f in (jax.jacfwd, jax.jacrev, jax.hessian, jax.checkpoint)),
        )
        self._canaries: list[tuple[Callable[[Any], Any], Any]] = []
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
        return issubclass(kind, jax.Array) and not issubclass(kind, jax.core.Tracer)

    def compiles(self, value: object) -> bool:
        """The results of `jax.jit` and ahead-of-time compiled functions."""
        return isinstance(value, jax.stages.Wrapped | jax.stages.Compiled)

    def parts(self, value: object) -> None:
        """Pytrees are containers, dataclasses or objects: the walk enters them."""

    def placement(self, array: Any) -> Placement:
        """Type, devices and bytes, all of which outlive a donated buffer."""
        dtype = array.dtype
        itemsize = getattr(dtype, "itemsize", 0)
        return Placement(
            name="",
            framework=self.name,
            arrays=1,
            dtype=str(dtype),
            shape=tuple(array.shape),
            devices=tuple(sorted(f"{d.platform}:{d.id}" for d in array.sharding.device_set)),
            nbytes=int(np.prod(array.shape, dtype=np.int64)) * itemsize,
        )

    def free_memory(self) -> int:
        """What devices tell, and the host where it is one of them."""
        return min(map(_free_on, _local_devices()), default=host_memory())

    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait:
        """One array by its method, a pytree by JAX's batched call, anything else by its arrays."""
        if len(arrays) == 1 and arrays[0] is value:
            return _lenient(_one_array)
        if _holds_all(value, arrays):
            return _pytree
        if _holds_all(_attributes(value), arrays):
            return _one_object
        return lambda _: self.drain()

    def prepare(self) -> None:
        """Compile the tiny programs that `drain` runs, one for each initialised device."""
        if self._canaries or not self.started():
            return
        with jax.transfer_guard("allow"), jax.disable_jit(disable=False):
            inputs = [jax.device_put(np.int32(0), device) for device in _local_devices()]
            # Compiled ahead of time: a jitted function compiles anew in each context of the
            # user's, and that would be taken for a wait.
            self._canaries = [(jax.jit(_canary).lower(x).compile(), x) for x in inputs]

    def drain(self) -> None:
        """Run a tiny program on each initialised device: it comes back when all before it has.

        `jax.live_arrays` and `jax.effects_barrier` do not wait for results that were dropped;
        they are all there is before `prepare`.
        """
        if not self.started():
            return
        if self._canaries:
            # A compiled program refuses to run while the user has jit disabled.
            with jax.disable_jit(disable=False) if jax.config.jax_disable_jit else nullcontext():
                jax.block_until_ready([program(x) for program, x in self._canaries])
        else:
            jax.block_until_ready([a for a in jax.live_arrays() if not a.is_deleted()])
        jax.effects_barrier()

    def profile(self, run: Callable[[], object]) -> Profile:
        """Trace with `jax.profiler` into a folder that is removed again."""
        if getattr(jax.profiler, "ProfileData", None) is None:
            return Profile(reason="this version does not read profiles (jax 0.10 does)")
        if not self.started():
            return Profile(reason="nothing was computed yet")
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            try:
                jax.profiler.start_trace(folder, profiler_options=_of_devices_only())
            except Exception as error:  # noqa: BLE001  another trace, or whatever a plugin raises
                return Profile(reason=_why(error))
            failed = ""
            try:
                run()
            finally:
                failed = _stopped()
            return Profile(reason=failed) if failed else _read(Path(folder))

    def watch(self, functions: Sequence[object]) -> Watch:  # noqa: ARG002
        """Listen to `jax.monitoring`."""
        return _JaxWatch()

    def fresh(
        self, named: Mapping[str, object], unnamed: Sequence[object]
    ) -> AbstractContextManager[Fresh]:
        """Every cache asked under another key; eager operations are compiled too."""
        return _jax_fresh.fresh([*named.values(), *unnamed])

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

    def gives_away(self, function: object) -> bool:
        """Whether the function was jitted with donated arguments, as far as JAX tells."""
        if isinstance(function, jax.stages.Compiled):
            return any(leaf.donated for leaf in jax.tree.leaves(function.args_info))
        if not self.compiles(function):
            return False
        info = getattr(function, "_jit_info", None)
        if info is None:  # before 0.5 nothing tells: it may
            return True
        return bool(info.donate_argnums or info.donate_argnames)

    def copy(self, value: Any) -> Any | None:
        """The same pytree with new buffers; None if over a tenth of the free memory is needed."""
        arrays = [leaf for leaf in jax.tree.leaves(value) if isinstance(leaf, jax.Array)]
        if any(a.is_deleted() for a in arrays):
            return None
        if sum(self.placement(a).nbytes for a in arrays) > self.free_memory() / 10:
            return None
        fresh = jax.tree.map(lambda a: a.copy() if isinstance(a, jax.Array) else a, value)
        return jax.block_until_ready(fresh)

    def changes(self, array: Any) -> None:
        """JAX arrays never change."""

    def work(
        self, function: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Work | None:
        """Read the jaxpr and the executable that the function has for these arguments."""
        if not isinstance(function, jax.stages.Wrapped) or jax.config.jax_disable_jit:
            return None
        program = _known_program(function, args, kwargs)
        if program is None:
            return None
        jaxpr, compiled = program
        places = [s.device_set for s in jax.tree.leaves(compiled.output_shardings)]
        devices = set().union(*places)
        cost = compiled.cost_analysis() or {}
        cost = cost[0] if isinstance(cost, list) else cost  # a list before 0.5
        if len(devices) != 1 or "flops" not in cost:
            return None
        try:
            tally = Tally().program(jaxpr)
        except TooLargeError:
            return None
        (device,) = devices
        return Work(
            flops=tally.flops,
            written=tally.written,
            unused=tally.unused,
            constant=tally.constant,
            compiled=cost["flops"] + cost.get("transcendentals", 0.0),
            constant_bytes=sum(getattr(c, "nbytes", 0) for c in tally.constants.values()),
            peak=lambda: self._peak(device, tally.products),
        )

    def _peak(self, device: Any, products: Mapping[str, float]) -> float:
        """FLOP/s of the fastest matrix product in any of the dtypes that matter."""
        least = 0.01 * sum(products.values())
        dtypes = {dtype for dtype, flops in products.items() if flops > least} or {"float32"}
        for dtype in dtypes:
            if (device, dtype) not in self._peaks:
                self._peaks[device, dtype] = _measured_peak(device, dtype)
        return max(self._peaks[device, dtype] for dtype in dtypes)


def _known_program(
    function: Any, args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[Any, Any] | None:
    """The jaxpr and the executable that earlier calls made; None where asking would make them."""
    with _JaxWatch() as watch, jax.transfer_guard("allow"):
        traced = function.trace(*args, **kwargs)
        lowered = traced.lower()
        # A trace may be told where only its look-up was timed; what is lowered anew is new.
        if "lower" in watch.phases():
            return None
        return traced.jaxpr, lowered.compile()


def _measured_peak(device: Any, dtype: str) -> float:
    n = _PEAK_SIZE.get(device.platform, _PEAK_SIZE_ELSEWHERE)
    times = []
    with jax.transfer_guard("allow"), jax.disable_jit(disable=False):
        x = jax.device_put(np.ones((n, n), dtype), device)
        product = jax.jit(jax.numpy.matmul).lower(x, x).compile()
        for _ in range(_PEAK_READINGS):
            start = _CLOCK.now()
            product(x, x).block_until_ready()
            times.append(_CLOCK.now() - start)
    return 2 * n**3 / min(times) * 1e9


def _holds_all(tree: object, arrays: Sequence[Any]) -> bool:
    return {id(leaf) for leaf in jax.tree.leaves(tree)}.issuperset(map(id, arrays))


def _attributes(value: object) -> dict[str, object]:
    return getattr(value, "__dict__", {})


def _one_object(value: object) -> object:
    """Wait for a plain object or dataclass, which is no pytree while its attributes are one."""
    return jax.block_until_ready(_attributes(value) or value)


def _canary(x: Any) -> Any:
    return x + 1


def _of_devices_only() -> Any:
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.enable_hlo_proto = False
    return options


def _why(error: Exception) -> str:
    taken = "already been started" in str(error) or "nother profiling session" in str(error)
    return TAKEN if taken else in_words(error)


def _stopped() -> str:
    """End the trace; why that failed, in words."""
    try:
        jax.profiler.stop_trace()
    except Exception as error:  # noqa: BLE001  the file cannot be written, or a server has the profiler
        _forget_trace()
        return _why(error)
    return ""


def _forget_trace() -> None:
    """JAX would go on to say that a trace is running, and the user could start none.

    Private, since nothing public ends a trace whose file cannot be written.
    """
    try:
        from jax._src import profiler

        profiler._profile_state.reset()
    except (ImportError, AttributeError):  # it moved
        return


def _read(folder: Path) -> Profile:
    try:
        lines = [line for path in folder.rglob("*.xplane.pb") for line in _lines(path)]
        named = _xplane.hlo_operation
        return Profile(_xplane.operations(lines, named, unseen="jit__canary"))
    except Exception as error:  # noqa: BLE001  a format that moved
        return Profile(reason=in_words(error))


def _lines(path: Path) -> Iterator[_xplane.Line]:
    for plane in jax.profiler.ProfileData.from_file(str(path)).planes:
        for line in plane.lines if _xplane.told(plane.name) else ():
            events = [
                _xplane.Event(e.name, e.start_ns, e.start_ns + e.duration_ns, dict(e.stats))
                for e in line.events
            ]
            yield _xplane.Line(plane.name, line.name, events)


def _lenient(wait: Wait) -> Wait:
    """``wait`` for one array, that takes whatever a later call may return instead."""

    def wait_for(value: Any) -> object:
        try:
            return wait(value)
        except AttributeError:
            return jax.block_until_ready(value)

    return wait_for


def _local_devices() -> list[Any]:
    backends = xla_bridge.backends()
    return [d for backend in backends.values() for d in backend.local_devices()]


def _free_on(device: Any) -> int:
    told = device.memory_stats() or {}
    if "bytes_limit" not in told:
        return host_memory()
    return int(told["bytes_limit"] - told.get("bytes_in_use", 0))


class _JaxWatch(Watch):
    """Intervals of tracing, lowering and compiling, as `jax.monitoring` reports them."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, float, str]] = []
        self._programs: list[Program] = []
        self._loading: set[int] = set()  # threads in which a program came from the disk cache

    def __enter__(self) -> "_JaxWatch":
        jax.monitoring.register_event_duration_secs_listener(self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        _unregister(self._heard)

    def _heard(self, event: str, seconds: float, **told: Any) -> None:
        if event not in _EVENTS:
            return
        # An event is told when it ends, in every version; spans came later (0.5.3).
        end = _CLOCK.now() * 1e-9
        phase = _EVENTS[event]
        if event == _LOAD:
            self._loading.add(threading.get_ident())
        if event == _COMPILE:
            # It ends after a load from the disk cache too: then nothing was compiled.
            loaded = threading.get_ident() in self._loading
            self._loading.discard(threading.get_ident())
            name = str(told.get("fun_name") or UNNAMED)  # told from 0.6 on
            name = name.removeprefix("jit(").removesuffix(")") if name.startswith("jit(") else name
            self._programs.append(
                Program(name, seconds, "disk cache" if loaded else "compiled", Jax.name)
            )
            phase = "cache load" if loaded else phase
        self._spans.append((end - seconds, end, phase))

    def compilations(self) -> int:
        return len(self._programs)

    def programs(self) -> tuple[Program, ...]:
        return tuple(self._programs)

    def phases(self) -> dict[str, float | None]:
        """Each moment counted once: summing the events would count nested ones twice."""
        return {phase: spent for phase, spent in disjoint(self._spans).items() if spent > 0}


def _unregister(listener: Callable[..., None]) -> None:
    public = getattr(jax.monitoring, "unregister_event_duration_listener", None)
    if public is not None:
        public(listener)
    else:  # before 0.8.3
        monitoring._unregister_event_duration_listener_by_callback(listener)


def disjoint(spans: Sequence[tuple[float, float, str]]) -> dict[str, float]:
    """Seconds per phase; where intervals overlap the innermost phase has the moment.

    Args:
        spans: start, end and phase of each interval, in seconds.

    Returns:
        Seconds per phase in the order in which they happen; their sum is the union's length.

    Example:
        >>> disjoint([(0.0, 3.0, "trace"), (1.0, 2.0, "compile")])
        {'trace': 2.0, 'lower': 0.0, 'compile': 1.0, 'cache load': 0.0}
    """
    innermost_first = list(_EVENTS.values())
    total = dict.fromkeys(reversed(innermost_first), 0.0)
    edges = [(start, 1, phase) for start, _, phase in spans]
    edges += [(end, -1, phase) for _, end, phase in spans]
    running = dict.fromkeys(innermost_first, 0)
    before = 0.0
    for moment, step, phase in sorted(edges):
        inner = next((p for p in innermost_first if running[p]), None)
        if inner is not None:
            total[inner] += moment - before
        running[phase] += step
        before = moment
    return total
