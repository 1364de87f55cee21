"""Work that fails when the device comes to it: the line that starts it returns before."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp

from tests.adapters.disk import Disk

_SIZE, _PRODUCTS = 500, 12

disk = Disk()


@jax.jit
def work(x: Any) -> Any:
    """Compute long enough for what comes after it to be queued."""
    for _ in range(_PRODUCTS):
        x = x @ x / _SIZE
    return x


@jax.jit
def written(x: Any) -> Any:
    """Hand a value to the disk."""
    return jax.pure_callback(disk.write, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


@jax.jit
def logged(x: Any) -> Any:
    """Hand it to the disk beside the value."""
    jax.debug.callback(disk.write, x)
    return x + 1


@contextmanager
def full_from(call: int) -> Iterator[dict[str, Any]]:
    """Give the names of such work; the disk is full from a call on, counted from now."""
    x = jnp.ones((_SIZE, _SIZE))
    jax.block_until_ready([written(work(x)), logged(work(x))])
    jax.effects_barrier()
    with disk.full_from(call):
        yield {"x": x, "work": work, "written": written, "logged": logged, "disk": disk}
