"""Where JAX's arrays live."""

import functools
import sys
from collections.abc import Iterator
from typing import Any

from jax._src import xla_bridge

from ipyjaxbench.adapters.jax.refs import array_in, is_ref
from ipyjaxbench.usercode import is_of

_HOST = "cpu"
_CACHED_SHARDINGS = 512  # the arrays of a model have a few


def named_parts(value: Any) -> Iterator[tuple[str, object]] | None:
    """Return the value of a variable of Flax NNX, which keeps it in a slot of its own, or a ref's.

    A ref's is read as it is typed: ``ref[...]``.
    """
    if is_ref(value):
        array = array_in(value)
        return None if array is None else iter([("[...]", array)])
    variable: Any = getattr(sys.modules.get("flax.nnx"), "Variable", None)
    if variable is None or not is_of(value, variable):
        return None
    get = getattr(value, "get_raw_value", None)  # before Flax 0.12 it was a property alone
    return iter([("value", get() if get else value.raw_value)])


def base_array(array: Any) -> Any:
    """Return the numbers of a typed key, as of `jax.random.key` (private); any other array itself.

    A key can be waited for, but not asked whether it is ready.
    """
    return getattr(array, "_base_array", array)


@functools.cache
def dtype_of(dtype: Any) -> str:
    """Return its name, which NumPy puts together anew each time."""
    return str(dtype)


@functools.lru_cache(_CACHED_SHARDINGS)
def alphabetical_devices(sharding: Any) -> tuple[str, ...]:
    """Return the names of its devices in alphabetical order."""
    return tuple(sorted(map(device_name, sharding.device_set)))


def device_name(device: Any) -> str:
    """Return the name of a device, such as "cpu:0"."""
    return f"{platform_of(device)}:{device.id}"


def platform_of(device: Any) -> str:
    """Return the platform of a device, by the name that it has in ``jax_platforms``.

    A plugin may call itself "cpu", as XLA's own client for the host does: what is on it is not on
    the host all the same.
    """
    platform: str = device.platform
    if platform != _HOST:
        return platform
    client = getattr(device, "client", None)
    names = (name for name, each in xla_bridge.backends().items() if each is client)
    return next(names, platform)


def is_host(device: Any) -> bool:
    """Whether a device is the host, whose memory NumPy reads in place."""
    return platform_of(device) == _HOST
