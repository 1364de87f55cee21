"""What collectives on the host exchange, as PyTorch's profiler recorded it."""

import math
from typing import Any

import torch.distributed as dist

from ipyjaxbench.timing import Exchanged

_PREFIX = "gloo:"
#: Kinds by gloo's names; it makes a reduce-scatter of an all-reduce, and says so.
_KINDS = {
    "all_reduce": "all-reduce", "all_gather": "all-gather", "broadcast": "broadcast",
    "reduce_scatter": "reduce-scatter", "all_to_all": "all-to-all", "reduce": "reduce",
}  # fmt: skip
#: Bytes of an element, by the profiler's names of types.
_BYTES = {
    "float": 4, "double": 8, "c10::Half": 2, "c10::BFloat16": 2, "int": 4, "long": 8, "short": 2,
    "signed char": 1, "unsigned char": 1, "bool": 1,
}  # fmt: skip


def is_in_job() -> bool:
    """Whether this is one process of several."""
    return bool(dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1)


def exchanges(results: Any) -> dict[int, Exchanged | None]:
    """Return what gloo's collectives exchanged, by their numbers; None where it is not known."""
    if not is_in_job():
        return {}
    return {
        event.correlation_id(): _read(event)
        for event in results.events()
        if event.name().startswith(_PREFIX)
    }


def _read(event: Any) -> Exchanged | None:
    kind = _KINDS.get(event.name().removeprefix(_PREFIX))
    shapes, dtypes = event.shapes(), event.dtypes()
    of_all = len(dist.distributed_c10d._world.pg_map) == 1  # of more groups it may be any
    if kind is None or not shapes or any(dtype not in _BYTES for dtype in dtypes):
        return None
    nbytes = sum(
        math.prod(shape) * _BYTES[dtype] for shape, dtype in zip(shapes, dtypes, strict=True)
    )
    if kind == "all-gather":  # each gives its part
        if not of_all:
            return None
        nbytes *= dist.get_world_size()
    return Exchanged(kind, nbytes, of_all)
