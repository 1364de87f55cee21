"""Copies of JAX's arrays: where they are read on the host, and where data is put on devices."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import FrameType, FunctionType
from typing import Any

import jax
import numpy as np
from jax._src import array as jax_array
from jax._src.interpreters import pxla

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.placement import device_name, platform_of
from ipyjaxbench.device import (
    HOST,
    KEPT,
    SHARES,
    CopyWatch,
    TransferWatch,
    defining_package,
    is_of_numpy,
    is_operator,
    receiver,
    shorten_devices,
)
from ipyjaxbench.host import host_memory
from ipyjaxbench.usercode import is_a, is_file_of, is_of, is_users_file, name_of

#: Functions whose result is nothing but what they were given, on a device or on the host.
_PUTS = {"asarray", "array", "device_put", "copy", "ascontiguousarray", "asanyarray"}
#: Methods that read an array on the host.
_READS = {"item", "tolist", "tobytes", "__array__"}
#: Functions, with their modules, that call what the user has programs call. They are private: where
#: they are others, the row has the line of the program's call, or none.
_CALLING_BACK = {
    ("pure_callback_impl", "jax._src.callback"),
    ("io_callback_impl", "jax._src.callback"),
    ("debug_callback_impl", "jax._src.debugging"),
}


class JaxCopies(CopyWatch):
    """The property that reads an array, the function that puts data, and calls seen from outside.

    A jitted function that was called before takes NumPy arrays without any Python, and NumPy reads
    the memory of an array on the CPU in place: both are seen at their calls alone.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Addresses and shapes of what was put since the call began.
        self._put_since: list[tuple[set[int], tuple[int, ...]]] = []
        # Addresses of the call's NumPy arrays; None where calls are not seen.
        self._addresses: set[int] | None = None
        self._read_since: set[int] = set()  # identities of what was read since the call began

    def _listen(self) -> None:
        # Both are private: JAX tells of copies by lines on standard error alone.
        kind = jax_array.ArrayImpl
        if not (hasattr(kind, "_npy_value") and self._replace(kind, "_value", self._read)):
            self.gaps += ("arrays read on the host (this JAX version does not report them)",)
        if not self._replace(pxla, "batched_device_put", self._put):
            self.gaps += ("data put on devices (this JAX version does not report it)",)

    def _read(self, old: Callable[..., Any], array: Any) -> Any:
        if array.is_deleted():
            return old(array)
        has_copy = array._npy_value is not None
        numbers, waited, spent = self._time_copy(partial(old, array), array)
        why = KEPT if has_copy else "" if array._npy_value is not None else SHARES
        self._read_since.add(id(array))
        self._report(_devices([array]), HOST, array, spent, waited, why)
        return numbers

    def _put(
        self, old: Any, aval: Any, sharding: Any, parts: Any, devices: Any, *args: Any, **more: Any
    ) -> Any:
        __tracebackhide__ = True
        parts, devices = list(parts), list(devices)
        make = partial(old, aval, sharding, parts, devices, *args, **more)
        made, waited, spent = self._time_copy(make, *parts)
        arrays = [
            (part, device)
            for part, device in zip(parts, devices, strict=False)
            if isinstance(part, jax.Array)
        ]
        moved = [(part, device) for part, device in arrays if part.devices() != {device}]
        if moved:
            source = _devices(part for part, _ in moved)
            target = _names(device for _, device in moved)
            nbytes = sum(part.nbytes for part, _ in moved)
            self._report(source, target, moved[0][0], spent, waited, nbytes=nbytes)
        elif parts and not arrays and np.ndim(parts[0]):  # programs are made of numbers alone
            host = [np.asarray(part) for part in parts]
            self._put_since.append(({part.ctypes.data for part in host}, tuple(aval.shape)))
            # JAX's own copy, such as one of another type, may be shared: it is a copy still.
            known = self._addresses is None or host[0].ctypes.data in self._addresses
            why = SHARES if len(parts) == 1 and known and _shares(made, host[0]) else ""
            nbytes = sum(part.nbytes for part in host)
            self._report(HOST, _names(devices), host[0], spent, 0, why, nbytes)
        return made

    def call(self, function: Any, arguments: Sequence[Any], make: Callable[[], Any]) -> Any:
        """Report NumPy's functions of JAX's arrays, and JAX's of NumPy's."""
        __tracebackhide__ = True
        leaves = trees.leaves((receiver(function), arguments))
        arrays = [leaf for leaf in leaves if _is_array(leaf)]
        hosts = [leaf for leaf in leaves if is_of(leaf, np.ndarray)]
        name = name_of(function)
        if arrays and (is_of_numpy(function) or name in _READS):
            return self._to_host(name, arrays, make)
        is_jaxs = _is_of_jax(function) or (arrays and is_operator(function))
        if not is_jaxs or name.endswith("_like"):
            return make()
        before, self._addresses = self._addresses, {host.ctypes.data for host in hosts}
        try:
            return self._to_device(name, arrays, hosts, make) if hosts else make()
        finally:
            self._addresses = before

    def _to_host(self, name: str, arrays: Sequence[Any], make: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        self._read_since.clear()
        arrays = [array for array in arrays if not array.is_deleted()]
        start = self._now()
        self._wait(arrays)
        middle = self._now()
        result = make()
        spent = self._now() - middle
        for array in arrays:
            if id(array) not in self._read_since and _is_on_host(array):
                is_copy = name in _PUTS and not _shares(array, result)
                why = "" if is_copy else SHARES
                took = spent if name in _PUTS | _READS else None
                self._report(_devices([array]), HOST, array, took, middle - start, why)
        return result

    def _to_device(
        self, name: str, arrays: Sequence[Any], hosts: Sequence[Any], make: Callable[[], Any]
    ) -> Any:
        __tracebackhide__ = True
        self._put_since.clear()
        start = self._now()
        result = make()
        known = {id(array) for array in arrays}
        made = [leaf for leaf in trees.leaves(result) if _is_array(leaf) and id(leaf) not in known]
        if not made:
            return result
        self._wait(made)
        spent = self._now() - start
        for host in self._not_put(hosts):
            took: int | None = spent
            if name in _PUTS and len(made) == 1:
                why = SHARES if _shares(made[0], host) else ""
            else:
                why, took = self._copied_again(host)
            taken = jax.ShapeDtypeStruct(host.shape, jax.dtypes.canonicalize_dtype(host.dtype))
            self._report(HOST, _devices(made[:1]), taken, took, 0, why)
        return result

    def _not_put(self, hosts: Sequence[Any]) -> list[Any]:
        """Return those that were not reported when put: as they are, or changed in type."""
        addresses = {host.ctypes.data for host in hosts}
        as_they_are = {address for put, _ in self._put_since for address in put & addresses}
        changed = [shape for put, shape in self._put_since if not put & addresses]
        rest = []
        for host in hosts:
            if host.ctypes.data in as_they_are or not host.size:
                continue
            if host.shape in changed:
                changed.remove(host.shape)
            else:
                rest.append(host)
        return rest

    def _copied_again(self, host: Any) -> tuple[str, int | None]:
        """Measure the same copy alone; report nothing of it where memory is short."""
        if host.nbytes > host_memory() / 10:
            return "", None
        with jax.transfer_guard("allow"):
            made, _, spent = self._time_copy(partial(jax.device_put, host))
        self.measuring += spent
        return (SHARES if _shares(made, host) else ""), spent

    def _purpose(self, frame: FrameType | None) -> str:
        """Name the callback that gets what is put: XLA calls it in a thread of its own."""
        while frame is not None and not is_users_file(frame.f_code.co_filename):
            code = frame.f_code.co_name, frame.f_globals.get("__name__")
            if code in _CALLING_BACK:
                called = frame.f_locals.get("callback")
                name = name_of(getattr(called, "callback_func", None))
                return f"argument of {name or 'a callback'}"
            frame = frame.f_back
        return ""

    def _wait(self, values: Sequence[Any]) -> None:
        jax.block_until_ready([v for v in values if _is_array(v) and not v.is_deleted()])

    def _dtype(self, array: Any) -> tuple[str, int]:
        return str(array.dtype), getattr(array.dtype, "itemsize", 0)


def _is_array(value: Any) -> bool:
    return is_of(value, jax.Array) and not is_of(value, jax.core.Tracer)


def _is_of_jax(function: Any) -> bool:
    if is_a(function, jax.stages.Wrapped, jax.stages.Compiled):
        return True
    if type(function) is FunctionType:  # what `jax.vmap` gives has the name of what it was given
        return is_file_of(function.__code__.co_filename, "jax")
    return defining_package(function) in ("jax", "jaxlib")


def _is_on_host(array: Any) -> bool:
    """Whether NumPy reads its memory in place."""
    devices = list(array.devices())
    return len(devices) == 1 and devices[0].platform == "cpu"  # by its client, whatever its name


def _shares(array: Any, host: Any) -> bool:
    """Whether a NumPy array begins where an array of JAX does."""
    if not is_of(host, np.ndarray) or array.is_deleted() or not _is_on_host(array):
        return False
    return bool(array.unsafe_buffer_pointer() == host.ctypes.data)


def _devices(arrays: Iterable[Any]) -> str:
    return _names(device for array in arrays for device in array.devices())


def _names(devices: Iterable[Any]) -> str:
    ordered = sorted(set(devices), key=lambda device: (platform_of(device), device.id))
    return shorten_devices([*map(device_name, ordered)])


class JaxTransfers(TransferWatch):
    """Where arrays are read on the host and put on devices."""

    copies = JaxCopies
