"""Copies of JAX's arrays: where they are read on the host, and where data is put on devices."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import jax
import numpy as np
from jax._src import array as jax_array
from jax._src.interpreters import pxla

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.device import (
    HOST,
    KEPT,
    SHARES,
    Crossing,
    CrossingWatch,
    Tell,
    TransferWatch,
    is_of_numpy,
    is_operator,
    module_of,
    name_of,
    receiver,
    short,
)
from ipyjaxbench.host import Clock, host_memory
from ipyjaxbench.usercode import is_a, is_of

_now = Clock.elapsed().now
_JAX = str(Path(jax.__file__).parent)
#: Functions whose result is nothing but what they were given, on a device or on the host.
_PUTS = {"asarray", "array", "device_put", "copy", "ascontiguousarray", "asanyarray"}
#: Methods that read an array on the host.
_READS = {"item", "tolist", "tobytes", "__array__"}


class JaxCrossings(CrossingWatch):
    """The property that reads an array, the function that puts data, and calls seen from outside.

    A jitted function that was called before takes NumPy arrays without any Python, and NumPy reads
    the memory of an array on the CPU in place: both are seen at their calls alone.
    """

    def __init__(self, tell: Tell) -> None:
        super().__init__(tell)
        # Addresses and shapes of what was put since the call began.
        self._put: list[tuple[set[int], tuple[int, ...]]] = []
        # Addresses of what the call was given; None where calls are not seen.
        self._given: set[int] | None = None
        self._read: set[int] = set()  # identities of what was read since then
        self._own = False  # whether a copy is made to measure another one

    def _listen(self) -> None:
        # Both are private: JAX tells of copies by lines on standard error alone.
        kind = jax_array.ArrayImpl
        if not (hasattr(kind, "_npy_value") and self._replace(kind, "_value", self._reading)):
            self.gaps += ("this JAX does not tell when arrays are read on the host",)
        if not self._replace(pxla, "batched_device_put", self._putting):
            self.gaps += ("this JAX does not tell when data is put on devices",)

    def _reading(self, old: Any) -> property:
        def value(array: Any) -> Any:
            if array.is_deleted() or self._own:
                return old.fget(array)
            kept = array._npy_value is not None
            start = _now()
            array.block_until_ready()
            middle = _now()
            numbers = old.fget(array)
            end = _now()
            why = KEPT if kept else "" if array._npy_value is not None else SHARES
            self._read.add(id(array))
            self._told(_devices([array]), HOST, array, end - middle, middle - start, why)
            return numbers

        return property(value)

    def _putting(self, old: Any) -> Callable[..., Any]:
        def put(aval: Any, sharding: Any, parts: Any, devices: Any, *args: Any, **more: Any) -> Any:
            __tracebackhide__ = True
            parts, devices = list(parts), list(devices)
            if self._own:
                return old(aval, sharding, parts, devices, *args, **more)
            mine = [part for part in parts if isinstance(part, jax.Array)]
            start = _now()
            jax.block_until_ready([part for part in mine if not part.is_deleted()])
            middle = _now()
            made = old(aval, sharding, parts, devices, *args, **more)
            jax.block_until_ready(made)
            spent, waited = _now() - middle, middle - start
            if mine:
                moved = [
                    (part, device)
                    for part, device in zip(parts, devices, strict=False)
                    if isinstance(part, jax.Array) and part.devices() != {device}
                ]
                if moved:
                    source = _devices([part for part, _ in moved])
                    target = _names(device for _, device in moved)
                    nbytes = sum(part.nbytes for part, _ in moved)
                    self._told(source, target, moved[0][0], spent, waited, nbytes=nbytes)
            elif parts and np.ndim(parts[0]):  # numbers alone are what programs are made of
                host = [np.asarray(part) for part in parts]
                self._put.append(({each.ctypes.data for each in host}, tuple(aval.shape)))
                # JAX's own copy, such as one of another type, may be shared: it is a copy still.
                known = self._given is None or host[0].ctypes.data in self._given
                why = SHARES if len(parts) == 1 and known and _shares(made, host[0]) else ""
                nbytes = sum(each.nbytes for each in host)
                self._told(HOST, _names(devices), host[0], spent, 0, why, nbytes)
            return made

        return put

    def call(
        self,
        function: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        make: Callable[[], Any],
    ) -> Any:
        """NumPy's functions of JAX's arrays, and JAX's of NumPy's."""
        __tracebackhide__ = True
        given = _leaves((receiver(function), args, dict(kwargs)))
        mine = [each for each in given if _is_array(each)]
        theirs = [each for each in given if is_of(each, np.ndarray)]
        if mine and (is_of_numpy(function) or name_of(function) in _READS):
            return self._to_host(function, mine, make)
        jaxs = _is_of_jax(function) or (mine and is_operator(function))
        if not jaxs or name_of(function).endswith("_like"):
            return make()
        before, self._given = self._given, {each.ctypes.data for each in theirs}
        try:
            return self._to_device(function, mine, theirs, make) if theirs else make()
        finally:
            self._given = before

    def _to_host(self, function: Any, mine: Sequence[Any], make: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        self._read.clear()
        alive = [each for each in mine if not each.is_deleted()]
        start = _now()
        jax.block_until_ready(alive)
        middle = _now()
        result = make()
        spent = _now() - middle
        for each in alive:
            if id(each) not in self._read and _on_host(each):
                is_copy = name_of(function) in _PUTS and not _shares(each, result)
                why = "" if is_copy else SHARES
                took = spent if name_of(function) in _PUTS | _READS else None
                self._told(_devices([each]), HOST, each, took, middle - start, why)
        return result

    def _to_device(
        self, function: Any, mine: Sequence[Any], theirs: Sequence[Any], make: Callable[[], Any]
    ) -> Any:
        __tracebackhide__ = True
        self._put.clear()
        start = _now()
        result = make()
        known = {id(each) for each in mine}
        made = [each for each in _leaves(result) if _is_array(each) and id(each) not in known]
        if not made:
            return result
        jax.block_until_ready([each for each in made if not each.is_deleted()])
        spent = _now() - start
        for each in self._not_put(theirs):
            took: int | None = spent
            if name_of(function) in _PUTS and len(made) == 1:
                why = SHARES if _shares(made[0], each) else ""
            else:
                why, took = self._once_more(each)
            taken = jax.ShapeDtypeStruct(each.shape, jax.dtypes.canonicalize_dtype(each.dtype))
            nbytes = each.size * taken.dtype.itemsize
            self._told(HOST, _devices(made[:1]), taken, took, 0, why, nbytes)
        return result

    def _not_put(self, given: Sequence[Any]) -> list[Any]:
        """Those that were not told when they were put: as they are, or changed to another type."""
        addresses = {each.ctypes.data for each in given}
        as_they_are = {address for put, _ in self._put for address in put & addresses}
        changed = [shape for put, shape in self._put if not put & addresses]
        rest = []
        for each in given:
            if each.ctypes.data in as_they_are or not each.size:
                continue
            if each.shape in changed:
                changed.remove(each.shape)
            else:
                rest.append(each)
        return rest

    def _once_more(self, host: Any) -> tuple[str, int | None]:
        """What the same copy takes when it is made alone; nothing is told where room is short."""
        if host.nbytes > host_memory() / 10:
            return "", None
        self._own, start = True, _now()
        try:
            with jax.transfer_guard("allow"):
                made = jax.block_until_ready(jax.device_put(host))
            return (SHARES if _shares(made, host) else ""), _now() - start
        finally:
            self._own = False
            self.measuring += _now() - start

    def _told(
        self,
        source: str,
        target: str,
        array: Any,
        spent: int | None,
        waited: int,
        why: str = "",
        nbytes: int | None = None,
    ) -> None:
        size = array.nbytes if nbytes is None else nbytes
        seconds = None if spent is None else spent * 1e-9
        self._tell(
            Crossing(source, target, str(array.dtype), tuple(array.shape), int(size), seconds,
                     waited * 1e-9, why)
        )  # fmt: skip


def _leaves(value: Any) -> list[Any]:
    return trees.leaves(value)


def _is_array(value: Any) -> bool:
    return is_of(value, jax.Array) and not is_of(value, jax.core.Tracer)


def _is_of_jax(function: Any) -> bool:
    if is_a(function, jax.stages.Wrapped, jax.stages.Compiled):
        return True
    if type(function) is FunctionType:  # what `jax.vmap` gives has the name of what it was given
        return function.__code__.co_filename.startswith(_JAX)
    return module_of(function) in ("jax", "jaxlib")


def _on_host(array: Any) -> bool:
    """Whether NumPy reads its memory in place."""
    devices = list(array.devices())
    return len(devices) == 1 and devices[0].platform == "cpu"


def _shares(array: Any, host: Any) -> bool:
    """Whether a NumPy array begins where an array of JAX does."""
    if not is_of(host, np.ndarray) or array.is_deleted() or not _on_host(array):
        return False
    return bool(array.unsafe_buffer_pointer() == host.ctypes.data)


def _devices(arrays: Iterable[Any]) -> str:
    return _names(device for each in arrays for device in each.devices())


def _names(devices: Iterable[Any]) -> str:
    found = sorted({(device.platform, device.id) for device in devices})
    return short([f"{platform}:{number}" for platform, number in found])


class JaxTransfers(TransferWatch):
    """Where arrays are read on the host and put on devices."""

    def watch(self, on_copy: Tell) -> JaxCrossings:
        """Reads, puts, and calls seen from outside."""
        return JaxCrossings(on_copy)
