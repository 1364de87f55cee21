"""What values of JAX are that hold no array: meshes, shardings, shapes, values of a tracer."""

import math
from collections.abc import Mapping
from typing import Any

import jax
from jax.sharding import AbstractMesh, Mesh, NamedSharding, Sharding

from ipyjaxbench import units
from ipyjaxbench.adapters.jax import devices as here

#: What these are; others would be asked for their class.
KINDS = (AbstractMesh, Mesh, Sharding, jax.ShapeDtypeStruct, jax.core.Tracer)


def described(value: object) -> str:
    """In words; empty for what is none of these."""
    match value:
        case AbstractMesh():
            found = here.count()
            more = f", and JAX has {found} here" if found and value.size > found else ""
            return f"an abstract mesh, {_axes(value.shape)}: {_count(value)}, none named{more}"
        case Mesh():
            return _mesh(value)
        case NamedSharding(mesh=AbstractMesh()):
            return f"a sharding, {value.spec}, by {described(value.mesh)}"
        case NamedSharding():
            return f"a sharding, {value.spec}, by {_mesh(value.mesh)}"
        case Sharding():
            return f"a sharding over {units.count(len(value.device_set), 'device')}"
        case jax.ShapeDtypeStruct():
            return _shape(value)
        case jax.core.Tracer():
            kind = units.array(str(value.dtype), tuple(value.shape))
            return f"a value of a function that is traced, without numbers: {kind}"
    return ""


def _shape(value: Any) -> str:
    kind = units.array(str(value.dtype), tuple(value.shape))
    size = units.size(math.prod(value.shape) * getattr(value.dtype, "itemsize", 0))
    cut = described(value.sharding) if value.sharding is not None else ""
    told = f"a shape without numbers: {kind}, which would take {size}"
    return f"{told}, with {cut}" if cut else told


def _mesh(mesh: Any) -> str:
    devices = mesh.devices.flatten().tolist()
    mine = jax.process_index() if here.has_started() else 0
    others = sum(device.process_index != mine for device in devices)
    missing = here.missing(devices)
    told = f"a mesh, {_axes(mesh.shape)}: {_count(mesh)}"
    if missing:
        return f"{told}, of which this machine lacks {missing}"
    return f"{told}, {others} of other processes" if others else told


def _axes(shape: Mapping[str, int]) -> str:
    return " by ".join(f"{name!r} ({size})" for name, size in shape.items()) or "without axes"


def _count(mesh: Any) -> str:
    return units.count(mesh.size, "device")
