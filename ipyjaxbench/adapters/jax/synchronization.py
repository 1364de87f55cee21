"""What JAX has started and not finished: how to wait for it, and whether there is any."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax._src import dispatch, xla_bridge

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.own_work import own_settings
from ipyjaxbench.adapters.jax.placement import is_host, platform_of
from ipyjaxbench.frameworks import Wait
from ipyjaxbench.usercode import is_opaque

if TYPE_CHECKING:
    from ipyjaxbench.adapters.shared.gpu_driver import Driver

_OF_DRIVERS = ("cuda", "rocm", "gpu")
#: Live arrays, from which on a call of ours follows the look: the next one takes longer, by 1.3 ms
#: after a look at 20,000.
_MANY = 100


class InFlight:
    """Asks devices by a tiny program on each, which comes back when all before it has.

    On XLA's CPU client such a program runs at once, in the caller's thread, if and only if nothing
    that this thread has started is in flight; else it is queued, and its result is not ready.
    Measured with JAX 0.10.2 on 2 CPUs:

    - after calls that were waited for its result was ready in all 10,369 cases, and beside 16 busy
      processes in all 16,848;
    - after calls whose results were dropped it was ready in up to 4 % (6 % in one case), and beside
      16 busy processes in at most 1 of 1,575, where the work was asynchronous at all.

    So a "yes" is certain, and a single "no" is not. What another thread has started is seen
    where an array of it is alive.

    On GPUs the driver is asked instead, where there is one: such a program takes 75 to 200 µs.
    """

    def __init__(
        self,
        devices: Callable[[], Sequence[Any]],
        on_failure: Callable[[Exception], object] = lambda _: None,
    ) -> None:
        self._devices = devices
        self._on_failure = on_failure  # called with what a callback of the user's has raised
        self._told = ""  # of these, what cannot be forgotten
        self._programs: list[tuple[Callable[[Any], Any], Any]] = []  # where no driver waits
        self._driver: Driver | None = None
        self._has_threads = False
        self._has_host_work = False

    def prepare(self) -> None:
        """Look for the driver of GPUs, and compile the tiny programs for other devices."""
        if self._programs or self._driver:
            return
        devices = self._devices()
        gpus = [device for device in devices if platform_of(device) in _OF_DRIVERS]
        self._driver = _find_driver(len(gpus)) if gpus else None
        others = [device for device in devices if device not in gpus] if self._driver else devices
        with own_settings():
            inputs = [jax.device_put(np.int32(0), device) for device in others]
            # Compiled ahead of time: a jitted function compiles anew in each context of the
            # user's, and that would be taken for a wait.
            self._programs = [(jax.jit(_canary).lower(x).compile(), x) for x in inputs]

    @property
    def inputs(self) -> list[Any]:
        """What the tiny programs are given: arrays of our own."""
        return [x for _, x in self._programs]

    def wait(self) -> None:
        """Wait until nothing runs.

        `jax.live_arrays` and `jax.effects_barrier` do not wait for results that were dropped;
        they are all there is before `prepare`.
        """
        if self._programs:
            jax.block_until_ready(self._run())
        if self._has_threads or self._driver or not self._programs:
            _wait_for_alive()
        self._wait_for_gpus()

    def synchronize(self) -> None:
        """Wait for what devices were given; where a driver waits for GPUs, for these alone.

        The host is waited for, too, once `is_any` has found work on it.
        """
        self._wait_for_gpus() if self._driver and not self._has_host_work else self.wait()

    def _wait_for_gpus(self) -> None:
        if self._driver:
            self._driver.wait()
        self._wait_for_callbacks()

    def _wait_for_callbacks(self) -> None:
        try:
            jax.effects_barrier()
        except Exception as error:  # noqa: BLE001  whatever it raises, JAX wraps
            # JAX keeps what failed, and would raise it for all code after it.
            forget_callbacks()
            if str(error) != self._told:
                self._told = "" if can_forget_callbacks() else str(error)
                self._on_failure(error)

    def is_any(self) -> bool | None:
        """Whether something runs; None where only the time that `synchronize` takes can tell."""
        if not self._driver and not all(map(is_host, self._devices())):
            return None  # a tiny program is never ready at once there
        started = self._run()
        ready = [array.is_ready() for array in started]  # all are asked before one is waited for
        jax.block_until_ready(started)
        if not all(ready):
            self._has_host_work = True
            return True
        if self._driver:
            return None  # arrays on GPUs become ready when the host learns of it, which is late
        alive = jax.live_arrays()
        if any(not array.is_ready() for array in _alive(alive)):
            self._has_threads = True
            return True
        if len(alive) > _MANY:
            del alive
            jax.block_until_ready(self._run())
        return False if self._programs else None

    def _run(self) -> list[Any]:
        # A compiled program refuses to run while the user has jit disabled.
        with jax.disable_jit(disable=False) if jax.config.jax_disable_jit else nullcontext():
            return [program(x) for program, x in self._programs]


def _find_driver(gpus: int) -> "Driver | None":
    from ipyjaxbench.adapters.shared.gpu_driver import find_driver

    return find_driver(gpus)


def waiter(value: object, arrays: Sequence[Any]) -> Wait | None:
    """Return the cheapest way to wait for values built like one; None where it misses an array.

    One array is waited for by its method, a pytree by JAX's batched call.
    """
    if len(arrays) == 1 and arrays[0] is value:
        return _one_array
    if _holds_all(value, arrays):
        return _pytree
    return _one_object if _holds_all(_attributes(value), arrays) else None


def _one_array(value: Any) -> object:
    """Wait for one array, or whatever a later call may return instead."""
    __tracebackhide__ = True
    try:
        return value.block_until_ready()
    except AttributeError:
        return _pytree(value)
    except RuntimeError as error:
        return _wait_for_undonated(value, error)


def _pytree(value: Any) -> object:
    __tracebackhide__ = True
    try:
        return jax.block_until_ready(value)
    except RuntimeError as error:
        return _wait_for_undonated(value, error)


def _one_object(value: object) -> object:
    """Wait for a plain object or dataclass, which is no pytree while its attributes are one."""
    __tracebackhide__ = True
    return _pytree(_attributes(value) or value)


def _wait_for_undonated(value: Any, error: RuntimeError) -> object:
    """Wait for what is left of values that a later call was given; its result shows the rest."""
    __tracebackhide__ = True
    arrays = [leaf for leaf in trees.leaves(value) if isinstance(leaf, jax.Array)]
    left = _alive(arrays)
    if len(left) == len(arrays):
        raise error  # of a computation that failed
    return jax.block_until_ready(left)


def _wait_for_alive() -> None:
    """Wait for all arrays that anyone holds; what some raise is for those who use them."""
    arrays = _alive(jax.live_arrays())
    try:
        jax.block_until_ready(arrays)
    except Exception:  # noqa: BLE001  of a computation that failed
        for array in arrays:
            with suppress(Exception):
                array.block_until_ready()


def can_forget_callbacks() -> bool:
    """Whether this version of JAX can be told to keep no callback that failed."""
    return hasattr(dispatch, "runtime_tokens") and hasattr(dispatch.runtime_tokens, "clear")


def forget_callbacks() -> None:
    """Have JAX wait for no callback that was started until now, where it can be told so."""
    if can_forget_callbacks():
        dispatch.runtime_tokens.clear()


def _alive(arrays: Sequence[Any]) -> list[Any]:
    return [array for array in arrays if not array.is_deleted()]


def _holds_all(tree: object, arrays: Sequence[Any]) -> bool:
    leaves = trees.leaves(tree)
    holds_all = {id(leaf) for leaf in leaves}.issuperset(map(id, arrays))
    return holds_all and not any(map(is_opaque, leaves))


def _attributes(value: object) -> dict[str, object]:
    return getattr(value, "__dict__", {})


def _canary(x: Any) -> Any:
    return x + 1


def has_started() -> bool:
    """Whether JAX has looked for devices: it has no public way to ask without looking."""
    return bool(xla_bridge.backends_are_initialized())


def local_devices() -> list[Any]:
    """Return the devices of this process, of all backends that were started."""
    backends = xla_bridge.backends()
    return [d for backend in backends.values() for d in backend.local_devices()]
