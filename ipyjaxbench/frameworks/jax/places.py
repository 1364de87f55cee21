"""Where JAX's arrays live, and what its devices tell."""

import os
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax._src import xla_bridge

from ipyjaxbench.homes import Device, Home
from ipyjaxbench.located import Located
from ipyjaxbench.sharding import Region, Shard, Sharding

_GPUS = ("gpu", "cuda", "rocm")


def home(version: str) -> Home:
    """The devices of all backends that were started."""
    devices = [d for backend in xla_bridge.backends().values() for d in backend.local_devices()]
    default, why = _default()
    return Home(
        framework="jax",
        version=version,
        started=True,
        devices=tuple(map(_device, devices)),
        default=default,
        why=why,
        words=tuple(_words(devices)),
    )


def located(name: str, array: Any) -> Located:
    """Type, place and sharding of one array."""
    sharding, dtype = array.sharding, array.dtype
    deleted = array.is_deleted()
    kind = sharding.memory_kind or ""
    return Located(
        name=name,
        framework="jax",
        dtype=str(dtype),
        shape=tuple(array.shape),
        nbytes=int(np.prod(array.shape, dtype=np.int64)) * getattr(dtype, "itemsize", 0),
        devices=tuple(_name(d) for d in sorted(sharding.device_set, key=lambda d: d.id)),
        memory="" if kind in ("device", "unpinned_host", "") else kind.replace("_", " "),
        weak=bool(array.weak_type),
        committed=bool(getattr(array, "committed", getattr(array, "_committed", False))),
        deleted=deleted,
        sharding=_sharding(array) if len(sharding.device_set) > 1 else None,
    )


def _sharding(array: Any) -> Sharding:
    sharding, shape = array.sharding, tuple(array.shape)
    indices = sharding.devices_indices_map(shape)
    mesh = getattr(sharding, "mesh", None)
    spec = getattr(sharding, "spec", ())
    local = {device.id for device in sharding.addressable_devices}
    return Sharding(
        shape=shape,
        shards=tuple(Shard(_name(d), _region(i, shape)) for d, i in indices.items()),
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


def _name(device: Any) -> str:
    return f"{device.platform}:{device.id}"


def _device(device: Any) -> Device:
    told = device.memory_stats() or {}
    kind = "" if device.device_kind == device.platform else str(device.device_kind)
    return Device(
        name=_name(device),
        kind=kind,
        process=int(device.process_index),
        coordinates=tuple(getattr(device, "coords", None) or ()),
        used=told.get("bytes_in_use"),
        peak=told.get("peak_bytes_in_use"),
        limit=told.get("bytes_limit"),
    )


def _default() -> tuple[str, str]:
    chosen = jax.config.jax_default_device
    if chosen is not None:
        shown = chosen if isinstance(chosen, str) else _name(chosen)
        return shown, "jax_default_device"
    device = jax.local_devices()[0]
    for variable in ("JAX_PLATFORMS", "JAX_PLATFORM_NAME"):
        if os.environ.get(variable):
            return _name(device), f"{variable}={os.environ[variable]}"
    return _name(device), "the first of the platform that JAX prefers"


def _words(devices: Sequence[Any]) -> list[str]:
    """What was taken of a GPU's memory at the start, and how to have it otherwise."""
    if not any(device.platform in _GPUS for device in devices):
        return []
    if os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "true").lower() in ("false", "0"):
        return ["JAX takes memory as it needs it, and keeps what it took"]
    share = os.environ.get("XLA_PYTHON_CLIENT_MEM_FRACTION", ".75")
    told = (
        f"JAX took {float(share):.0%} of each GPU when it started. XLA_PYTHON_CLIENT_PREALLOCATE"
        "=false in the environment has it take what it needs: too late in this process"
    )
    return [told]
