"""Where JAX's arrays live."""

import functools
import math
import sys
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.frameworks import Placement
from ipyjaxbench.usercode import is_of

_CACHED_SHARDINGS = 512  # the arrays of a model have a few


def placed(array: Any) -> Placement:
    """Return type, devices and bytes, all of which outlive a donated buffer."""
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


def named_parts(value: Any) -> Iterator[tuple[str, object]] | None:
    """Return the value of a variable of Flax NNX, which keeps it in a slot of its own."""
    variable: Any = getattr(sys.modules.get("flax.nnx"), "Variable", None)
    if variable is None or not is_of(value, variable):
        return None
    get = getattr(value, "get_raw_value", None)  # before Flax 0.12 it was a property alone
    return iter([("value", get() if get else value.raw_value)])


@functools.cache
def dtype_of(dtype: Any) -> str:
    """Return its name, which NumPy puts together anew each time."""
    return str(dtype)


@functools.lru_cache(_CACHED_SHARDINGS)
def _alphabetical(sharding: Any) -> tuple[str, ...]:
    return tuple(sorted(map(name_of, sharding.device_set)))


def name_of(device: Any) -> str:
    """Return the name of a device, such as "cpu:0"."""
    return f"{device.platform}:{device.id}"
