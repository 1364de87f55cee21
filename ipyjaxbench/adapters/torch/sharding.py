"""How PyTorch cuts a DTensor over the processes of a mesh; parameters under FSDP are such."""

import itertools
import math
import sys
from collections.abc import Sequence
from typing import Any

import torch

from ipyjaxbench import units
from ipyjaxbench.device import Region, Shard, Sharding
from ipyjaxbench.usercode import is_of


def is_dtensor(array: object) -> bool:
    """Whether it is a DTensor; what defines those is not imported for that."""
    module: Any = sys.modules.get("torch.distributed.tensor")
    return module is not None and is_of(array, module.DTensor)


def is_mesh(value: object) -> bool:
    """Whether it is a mesh of devices, whose own tensor of ranks is none of the user's."""
    module: Any = sys.modules.get("torch.distributed.device_mesh")
    return module is not None and is_of(value, module.DeviceMesh)


def describe_mesh(mesh: Any) -> str:
    """Return a mesh in words."""
    axes = " × ".join(f"{name!r} ({size})" for name, size in _axes(mesh))
    return f"a mesh of {units.count(mesh.size(), 'process', 'processes')}: {axes}"


def _axes(mesh: Any) -> list[tuple[str, int]]:
    sizes = tuple(mesh.shape)
    names = tuple(mesh.mesh_dim_names or (f"axis {axis}" for axis in range(len(sizes))))
    return list(zip(names, sizes, strict=True))


def read_sharding(array: Any) -> Sharding | None:
    """Return which process has which part; None where its placements are of an unknown kind.

    This process goes by its own device, the others by their ranks, since nothing tells which
    device they have.
    """
    mesh, placements = array.device_mesh, array.placements
    names, sizes = zip(*_axes(mesh), strict=True)
    order = _order(placements, sizes)
    if order is None:
        return None
    here, ranks = _rank(), mesh.mesh.flatten().tolist()
    several = torch.distributed.is_initialized() and torch.distributed.get_world_size() > 1
    shards = []
    for rank, place in zip(ranks, itertools.product(*map(range, sizes)), strict=True):
        region = _region(tuple(array.shape), placements, sizes, place, order)
        device = str(array.device) if rank == here else f"rank:{rank}"
        shards.append(Shard(device, region, rank if several else None))
    return Sharding(
        shape=tuple(array.shape),
        shards=tuple(shards),
        mesh=tuple(_axes(mesh)),
        spec=tuple(
            tuple(names[i] for i in order if _axis(placements[i]) == axis)
            for axis in range(len(array.shape))
        ),
        partial=tuple(
            (name, str(placement.reduce_op))
            for name, placement in zip(names, placements, strict=True)
            if placement.is_partial()
        ),
        words=f"placements={tuple(placements)}",
        rank=here if several else None,
    )


def _order(placements: Sequence[Any], sizes: Sequence[int]) -> list[int] | None:
    """Return the mesh axes that cut, in the order in which they do; None where it is not known.

    They cut from left to right, but those that FSDP adds to an array that was cut before: their
    split factor is the number of parts into which axes on their right have cut it.
    """
    plain, later = [], []
    for index, placement in enumerate(placements):
        if placement.is_replicate() or placement.is_partial():
            continue
        factor = getattr(placement, "split_factor", None)
        axis = _axis(placement)
        if axis is None:
            return None
        if factor is None:
            plain.append(index)
            continue
        right = [i for i in range(index + 1, len(sizes)) if _axis(placements[i]) == axis]
        if factor != math.prod(sizes[i] for i in right):
            return None
        later.append(index)
    return plain + later[::-1]


def _axis(placement: Any) -> int | None:
    """Return the axis of the array that it cuts."""
    known = type(placement).__name__ in ("Shard", "_StridedShard")
    return int(placement.dim) if known else None


def _region(
    shape: Sequence[int],
    placements: Sequence[Any],
    sizes: Sequence[int],
    place: Sequence[int],
    order: Sequence[int],
) -> Region:
    """Return the part at one place of the mesh: PyTorch cuts as `torch.chunk` does."""
    region = [(0, size) for size in shape]
    for index in order:
        axis = placements[index].dim
        start, stop = region[axis]
        length = math.ceil((stop - start) / sizes[index])
        first = min(start + place[index] * length, stop)
        region[axis] = (first, min(first + length, stop))
    return tuple(region)


def _rank() -> int:
    distributed = torch.distributed
    return distributed.get_rank() if distributed.is_initialized() else -1


def local_part(array: Any) -> Any | None:
    """Return the tensor that this process has of it; None where it does not say."""
    part = getattr(array, "_local_tensor", None)
    return part if isinstance(part, torch.Tensor) else None
