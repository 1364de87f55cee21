"""How the inputs of a program are cut into parts for several devices."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jax.sharding import AbstractMesh, Mesh, NamedSharding

from ipyjaxbench import units
from ipyjaxbench.adapters.jax.chips.topology import Topology
from ipyjaxbench.adapters.jax.graphs import program
from ipyjaxbench.adapters.jax.graphs.tracing import Traced
from ipyjaxbench.errors import OptionError

_CHIPS = "chips"


@dataclass(frozen=True)
class Layout:
    """Devices in a mesh, and along which of its axes each input is cut.

    Attributes:
        mesh: names of its axes, with the number of devices along each.
        specs: for each axis of each input the axes of the mesh that cut it.
        whole: inputs that were to be cut and cannot be.
        is_own: whether the arguments are laid out like that already.
    """

    mesh: tuple[tuple[str, int], ...]
    specs: tuple[tuple[tuple[str, ...], ...], ...]
    whole: tuple[str, ...] = ()
    is_own: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether any input is cut."""
        return any(axes for spec in self.specs for axes in spec)


def layout(
    traced: Traced, shard: Sequence[tuple[str, int]], topology: Topology, own: Layout | None
) -> Layout:
    """Return how the inputs of a program are laid out on the devices of a topology.

    Raises:
        OptionError: what is to be cut is not there, or cannot be cut into so many parts.
    """
    n = topology.devices
    if n > 1 and not shard and own is not None:
        devices = math.prod(size for _, size in own.mesh)
        if devices != n:
            raise OptionError(
                f"--on {topology.name}: the arguments are sharded over {devices} devices, and this"
                f" has {n}; --shard {traced.names[0]}:0 shards them differently"
            )
        return own
    mesh = _inner_mesh(traced, n) or ((_CHIPS, n),)
    specs: list[tuple[tuple[str, ...], ...]] = [() for _ in traced.names]
    whole: list[str] = []
    for name, axis in shard if n > 1 else ():
        named = _named(name, traced)
        cut = [i for i in named if _can_be_cut(traced.closed.in_avals[i].shape, axis, n)]
        if not cut:
            raise OptionError(f"--shard {name}:{axis}: {_why(name, axis, named, traced, topology)}")
        if any(specs[i] for i in cut):
            raise OptionError(
                f"--shard {name}:{axis}: {name} is already sharded along another axis"
            )
        for i in cut:
            specs[i] = ((),) * axis + (tuple(name for name, _ in mesh),)
        whole += [traced.names[i] for i in named if i not in cut]
    return Layout(mesh, tuple(specs), tuple(whole))


def own_layout(traced: Traced) -> Layout | None:
    """Return how the arguments are laid out on several devices; None where they are on one.

    Raises:
        OptionError: they are not all in one mesh.
    """
    placed = [getattr(value, "sharding", None) for value in traced.values]
    many = [s for s in placed if s is not None and len(s.device_set) > 1]
    if not many:
        return None
    first = many[0]
    if any(not isinstance(s, NamedSharding) or s.mesh != first.mesh for s in many):
        raise OptionError(
            "--on: arguments on several devices need NamedShardings over the same mesh;"
            f" --shard {traced.names[0]}:0 shards them differently"
        )
    specs = tuple(_spec(s) if is_named(s) else () for s in placed)
    return Layout(tuple(first.mesh.shape.items()), specs, is_own=True)


def is_named(sharding: Any) -> bool:
    """Whether a sharding says by the names of a mesh on which of several devices a part is."""
    return isinstance(sharding, NamedSharding) and sharding.mesh.size > 1


def _inner_mesh(traced: Traced, devices: int) -> tuple[tuple[str, int], ...] | None:
    """Return the mesh of so many devices that shardings inside the program name, if one does."""
    for equation in program.equations_of(traced.closed.jaxpr):
        for value in equation.params.values():
            mesh = value.mesh if isinstance(value, NamedSharding) else value
            if isinstance(mesh, Mesh | AbstractMesh) and mesh.size == devices > 1:
                return tuple(mesh.shape.items())
    return None


def _spec(sharding: NamedSharding) -> tuple[tuple[str, ...], ...]:
    """Return for each axis of the array those of the mesh."""
    axes = (axis if isinstance(axis, str | tuple) else () for axis in sharding.spec)
    return tuple((axis,) if isinstance(axis, str) else axis for axis in axes)


def _named(name: str, traced: Traced) -> list[int]:
    """Return the inputs that a name stands for: one, or all that an argument holds."""
    exact = [i for i, each in enumerate(traced.names) if each == name]
    indices = exact or [
        i for i, each in enumerate(traced.names) if each.startswith((f"{name}[", f"{name}."))
    ]
    if not indices:
        raise OptionError(f"--shard {name}: the inputs are {', '.join(traced.names) or 'none'}")
    return indices


def _can_be_cut(shape: Sequence[int], axis: int, parts: int) -> bool:
    return axis < len(shape) and shape[axis] % parts == 0 and shape[axis] > 0


def _why(name: str, axis: int, indices: Sequence[int], traced: Traced, topology: Topology) -> str:
    if len(indices) > 1:
        return f"no array in {name} has an axis {axis} that {topology.devices} chips divide evenly"
    aval: Any = traced.closed.in_avals[indices[0]]
    shown = f"{name} is {units.array(str(aval.dtype), aval.shape)}"
    if axis >= len(aval.shape):
        axes = f"its axes are {', '.join(map(str, range(len(aval.shape))))}" if aval.shape else ""
        return f"{shown}; {axes or 'a scalar has no axes'}"
    return f"{shown}, and {aval.shape[axis]} is not divisible by {topology.devices}"
