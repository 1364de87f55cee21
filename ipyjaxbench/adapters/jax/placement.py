"""Where JAX's arrays live."""

import functools
import sys
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.usercode import is_of

_CACHED_SHARDINGS = 512  # the arrays of a model have a few


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
def alphabetical_devices(sharding: Any) -> tuple[str, ...]:
    """Return the names of its devices in alphabetical order."""
    return tuple(sorted(map(name_of, sharding.device_set)))


def name_of(device: Any) -> str:
    """Return the name of a device, such as "cpu:0"."""
    return f"{device.platform}:{device.id}"
