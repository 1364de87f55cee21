"""Where JAX's arrays live."""

import functools
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import SingleDeviceSharding

from ipyjaxbench.adapters.jax import descriptions
from ipyjaxbench.adapters.jax.devices import name_of
from ipyjaxbench.device.placement import Located, Weight
from ipyjaxbench.device.protocol import ArrayInspector
from ipyjaxbench.device.sharding import Region, Shard, Sharding
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.usercode import objects

_CONVERSIONS = 5
_KEPT = 512  # shardings: the arrays of a model have a few


class JaxArrays(ArrayInspector):
    """Arrays with their sharding; JAX lists all that are alive."""

    keeps_copies = True

    def located(self, name: str, array: Any) -> Located:
        """Type, place and sharding of one array.

        Not the address of its memory: asking for that leaves arrays among the live ones.
        """
        sharding, shape = array.sharding, tuple(array.shape)
        devices, memory = _devices(sharding)
        return Located(
            name=name,
            framework="jax",
            dtype=dtype_of(array.dtype),
            shape=shape,
            nbytes=math.prod(shape) * getattr(array.dtype, "itemsize", 0),
            devices=devices,
            memory=memory,
            weak=bool(getattr(array, "weak_type", False)),  # keys of random numbers lack it
            committed=bool(getattr(array, "committed", getattr(array, "_committed", False))),
            deleted=array.is_deleted(),
            sharding=_sharding(sharding, shape) if len(devices) > 1 else None,
        )

    def weight(self, array: Any) -> Weight:
        """Devices, bytes and sharding."""
        sharding, shape = array.sharding, array.shape
        devices, _ = _devices(sharding)
        nbytes = 0 if array.is_deleted() else math.prod(shape) * getattr(array.dtype, "itemsize", 0)
        return Weight(devices, nbytes, _sharding(sharding, shape) if len(devices) > 1 else None)

    def live_arrays(self) -> Sequence[Any]:
        """All that JAX holds and that was not deleted, but for the parts of others."""
        if not self.framework.started():
            return ()
        arrays = [array for array in jax.live_arrays() if not array.is_deleted()]
        parts = _unnamed_parts(arrays)
        return [array for array in arrays if id(array) not in parts]

    def base_array(self, array: Any) -> object:
        """The numbers of a key."""
        return getattr(array, "_base_array", array)

    def made_at(self, array: Any) -> Sequence[tuple[str, str, int]]:
        """As JAX keeps it with each array."""
        frames = getattr(getattr(array, "traceback", None), "frames", ())
        return [(each.file_name, each.function_name, each.line_num) for each in frames]

    def described(self, value: object) -> str:
        """Meshes, shardings, and shapes without numbers."""
        return descriptions.described(value) if objects.is_of(value, *descriptions.KINDS) else ""

    def to_numpy(self, array: Any) -> Any | None:
        """A copy; dtypes that NumPy lacks become float32. Random keys have no numbers to show."""
        if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
            return None
        host = np.asarray(array)
        return host if host.dtype.kind in "biufc" else host.astype(np.float32)

    def conversion(self, array: Any) -> tuple[float, float] | None:
        """The fastest of a few new arrays; one on a single CPU device shares its memory."""
        place = placed(array)
        shares = len(place.devices) == 1 and place.devices[0].startswith("cpu")
        if array.is_deleted() or shares or place.nbytes > self.framework.free_memory() / 10:
            return None
        host, now, taken = np.array(array), Clock.elapsed().now, []
        for _ in range(_CONVERSIONS):
            fresh = jax.device_put(host, array.sharding).block_until_ready()
            start = now()
            np.asarray(fresh)
            middle = now()
            np.asarray(fresh)
            taken.append((middle - start, now() - middle))
        first, again = zip(*taken, strict=True)
        return min(first) * 1e-9, min(again) * 1e-9


def placed(array: Any) -> Placement:
    """Type, devices and bytes, all of which outlive a donated buffer."""
    shape, dtype = tuple(array.shape), array.dtype
    return Placement(
        name="",
        framework="jax",
        arrays=1,
        dtype=dtype_of(dtype),
        shape=shape,
        devices=_alphabetical(array.sharding),
        nbytes=math.prod(shape) * getattr(dtype, "itemsize", 0),
    )


def _unnamed_parts(arrays: Sequence[Any]) -> set[int]:
    """Identities of arrays that are the parts of others, which JAX keeps once it was asked."""
    cut = [array for array in arrays if type(array.sharding) is not SingleDeviceSharding]
    whole = [array for array in cut if len(array.sharding.device_set) > 1]
    if not whole:
        return set()
    alone = {(a.shape, a.dtype) for a in arrays if len(a.sharding.device_set) == 1}
    return {
        id(part)
        for array in whole
        # Asking makes the parts of those that have none yet.
        if (array.sharding.shard_shape(array.shape), array.dtype) in alone
        for part in getattr(array, "_arrays", ())
    }


def named_parts(value: Any) -> Iterator[tuple[str, object]] | None:
    """The value of a variable of Flax NNX, which keeps it in a slot of its own."""
    variable: Any = getattr(sys.modules.get("flax.nnx"), "Variable", None)
    if variable is None or not objects.is_of(value, variable):
        return None
    get = getattr(value, "get_raw_value", None)  # before Flax 0.12 it was a property alone
    return iter([("value", get() if get else value.raw_value)])


@functools.cache
def dtype_of(dtype: Any) -> str:
    """Its name, which NumPy puts together anew each time."""
    return str(dtype)


@functools.lru_cache(_KEPT)
def _devices(sharding: Any) -> tuple[tuple[str, ...], str]:
    """Devices in their order, and which of their memories."""
    kind = sharding.memory_kind or ""
    memory = "" if kind in ("device", "unpinned_host", "") else kind.replace("_", " ")
    return tuple(name_of(d) for d in sorted(sharding.device_set, key=lambda d: d.id)), memory


@functools.lru_cache(_KEPT)
def _alphabetical(sharding: Any) -> tuple[str, ...]:
    return tuple(sorted(map(name_of, sharding.device_set)))


@functools.lru_cache(_KEPT)
def _sharding(sharding: Any, shape: tuple[int, ...]) -> Sharding:
    indices = sharding.devices_indices_map(shape)
    mesh = getattr(sharding, "mesh", None)
    spec = getattr(sharding, "spec", ())
    local = {device.id for device in sharding.addressable_devices}
    return Sharding(
        shape=shape,
        shards=tuple(Shard(name_of(d), _region(i, shape)) for d, i in indices.items()),
        mesh=tuple((str(name), int(size)) for name, size in mesh.shape.items()) if mesh else (),
        spec=tuple(_axes(each) for each in spec),
        hidden=sum(device.id not in local for device in indices),
    )


def _axes(entry: Any) -> tuple[str, ...]:
    if entry is None or not isinstance(entry, str | tuple):
        return ()
    return (entry,) if isinstance(entry, str) else tuple(map(str, entry))


def _region(indices: Sequence[slice], shape: Sequence[int]) -> Region:
    return tuple(
        (cut.start or 0, size if cut.stop is None else cut.stop)
        for cut, size in zip(indices, shape, strict=True)
    )
