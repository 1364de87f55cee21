"""JAX's arrays one by one: where they live, how they are cut, who made them; and meshes."""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import (
    AbstractMesh,
    Mesh,
    NamedSharding,
    Sharding as JaxSharding,
    SingleDeviceSharding,
)

from ipyjaxbench import units
from ipyjaxbench.adapters.jax.devices import count_devices, count_missing, has_started
from ipyjaxbench.adapters.jax.framework import Jax
from ipyjaxbench.adapters.jax.placement import base_array, device_name
from ipyjaxbench.device import (
    ArrayInspector,
    ArrayMemory,
    ArrayPlacement,
    Region,
    Shard,
    Sharding,
    Weight,
)
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import is_of

_CONVERSIONS = 5
_CACHED_SHARDINGS = 512  # the arrays of a model have a few
#: What these are; others would be asked for their class.
_DESCRIBED = (AbstractMesh, Mesh, JaxSharding, jax.ShapeDtypeStruct, jax.core.Tracer)


class JaxArrays(ArrayInspector):
    """Arrays with their sharding; JAX lists all that are alive."""

    def locate(self, name: str, array: Any) -> ArrayPlacement:
        """Return type, place and sharding of one array.

        Not the address of its memory: asking for that leaves arrays among the live ones.
        """
        sharding, shape = array.sharding, tuple(array.shape)
        devices, memory = _devices(sharding)
        return self._make_placement(
            name,
            array,
            devices=devices,
            memory=memory,
            weak=bool(getattr(array, "weak_type", False)),  # keys of random numbers lack it
            committed=bool(getattr(array, "committed", getattr(array, "_committed", False))),
            deleted=array.is_deleted(),
            sharding=_sharding(sharding, shape) if _is_cut(sharding) else None,
        )

    def weight(self, array: Any) -> Weight:
        """Return devices, bytes and sharding."""
        sharding, shape = array.sharding, array.shape
        devices, _ = _devices(sharding)
        nbytes = 0 if array.is_deleted() else _nbytes(array)
        return Weight(devices, nbytes, _sharding(sharding, shape) if _is_cut(sharding) else None)

    def memory(self, array: Any) -> ArrayMemory | None:
        """Return its memory by the address where it lies on one device.

        JAX lists some arrays twice once they were printed; NumPy may share those of the host.
        """
        found = super().memory(self.base_array(array))
        if found is None or len(found.devices) != 1:
            return found
        place = "cpu" if found.devices[0].startswith("cpu") else found.devices[0]
        try:
            address = self.base_array(array).unsafe_buffer_pointer()
        except (RuntimeError, ValueError, NotImplementedError):  # a platform without addresses
            return found
        return found._replace(key=f"{place}@{address}")

    def live_arrays(self) -> Sequence[Any]:
        """Return all that was not deleted and is the user's, but for the parts of others."""
        if not self.framework.started():
            return ()
        arrays = [array for array in jax.live_arrays() if not array.is_deleted()]
        framework = self.framework
        own = framework.own_arrays() if isinstance(framework, Jax) else ()
        hidden = _unnamed_parts(arrays) | set(map(id, own))
        return [array for array in arrays if id(array) not in hidden]

    def base_array(self, array: Any) -> Any:
        """Return the numbers of a key; any other array itself."""
        return base_array(array)

    def creation_frames(self, array: Any) -> Sequence[tuple[str, str, int]]:
        """Return what JAX keeps with each array."""
        frames = getattr(getattr(array, "traceback", None), "frames", ())
        return [(each.file_name, each.function_name, each.line_num) for each in frames]

    def describe(self, value: object) -> str:
        """Describe meshes, shardings, and shapes without numbers."""
        return _describe(value) if is_of(value, *_DESCRIBED) else ""

    def to_numpy(self, array: Any) -> Any | None:
        """Return a copy; dtypes that NumPy lacks become float32, random keys have no numbers."""
        if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
            return None
        host = np.asarray(array)
        return host if host.dtype.kind in "biufc" else host.astype(np.float32)

    def conversion(self, array: Any) -> tuple[float, float] | None:
        """Measure a few new arrays, the fastest counts; on a single CPU device memory is shared."""
        place = self.framework.placement(array)
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


def _nbytes(array: Any) -> int:
    return int(math.prod(array.shape) * getattr(array.dtype, "itemsize", 0))


def _unnamed_parts(arrays: Sequence[Any]) -> set[int]:
    """Return identities of arrays that are parts of others, which JAX keeps once it was asked."""
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


@functools.lru_cache(_CACHED_SHARDINGS)
def _devices(sharding: Any) -> tuple[tuple[str, ...], str]:
    """Return devices in their order, and which of their memories."""
    kind = sharding.memory_kind or ""
    memory = "" if kind in ("device", "unpinned_host", "") else kind.replace("_", " ")
    return tuple(device_name(d) for d in sorted(sharding.device_set, key=lambda d: d.id)), memory


@functools.lru_cache(_CACHED_SHARDINGS)
def _is_cut(sharding: Any) -> bool:
    """Whether it is on several devices, or on one of another process."""
    return len(sharding.device_set) > 1 or not sharding.is_fully_addressable


@functools.lru_cache(_CACHED_SHARDINGS)
def _sharding(sharding: Any, shape: tuple[int, ...]) -> Sharding:
    indices = sharding.devices_indices_map(shape)
    mesh = getattr(sharding, "mesh", None)
    spec = getattr(sharding, "spec", ())
    ranks: dict[Any, int | None] = {device: int(device.process_index) for device in indices}
    own: int | None = jax.process_index()
    if jax.process_count() == 1:
        own, ranks = None, dict.fromkeys(ranks)
    return Sharding(
        shape=shape,
        shards=tuple(
            Shard(device_name(d), _region(i, shape), ranks[d]) for d, i in indices.items()
        ),
        mesh=tuple((str(name), int(size)) for name, size in mesh.shape.items()) if mesh else (),
        spec=tuple(_axes(each) for each in spec),
        rank=own,
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


def _describe(value: object) -> str:
    """Return in words what a value is; empty for what is none of these."""
    match value:
        case AbstractMesh():
            here = count_devices()
            more = f"; JAX has {here}" if here and value.size > here else ""
            return f"an abstract mesh of {_count(value)}: {_mesh_axes(value.shape)}{more}"
        case Mesh():
            return _mesh(value)
        case NamedSharding(mesh=AbstractMesh()):
            return f"a sharding {value.spec} over {_describe(value.mesh)}"
        case NamedSharding():
            return f"a sharding {value.spec} over {_mesh(value.mesh)}"
        case JaxSharding():
            return f"a sharding over {units.count(len(value.device_set), 'device')}"
        case jax.ShapeDtypeStruct():
            return _shape(value)
        case jax.core.Tracer():
            kind = units.array(str(value.dtype), tuple(value.shape))
            return f"a tracer (no values while tracing): {kind}"
    return ""


def _shape(value: Any) -> str:
    kind = units.array(str(value.dtype), tuple(value.shape))
    size = units.size(_nbytes(value))
    cut = _describe(value.sharding) if value.sharding is not None else ""
    description = f"shape only: {kind}, would take {size}"
    return f"{description}, with {cut}" if cut else description


def _mesh(mesh: Any) -> str:
    devices = mesh.devices.flatten().tolist()
    process = jax.process_index() if has_started() else 0
    others = sum(device.process_index != process for device in devices)
    missing = count_missing(devices)
    description = f"a mesh of {_count(mesh)}: {_mesh_axes(mesh.shape)}"
    if missing:
        return f"{description}; {missing} not available here"
    return f"{description}, {others} in other processes" if others else description


def _mesh_axes(shape: Mapping[str, int]) -> str:
    return " × ".join(f"{name!r} ({size})" for name, size in shape.items()) or "without axes"


def _count(mesh: Any) -> str:
    return units.count(mesh.size, "device")
