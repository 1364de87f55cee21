"""A tiny matrix product: shows whether a device rounds float32 to fewer bits."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

_SIZE = 64  # below that, libraries use other kernels
_FULL = 1e-5  # 24 bits give 1e-7, 11 bits (TF32, float16) 3e-4, 8 bits (bfloat16) 2e-3


class Product(NamedTuple):
    """Two factors in float32 and what they make, computed in float64."""

    left: Any
    right: Any
    exact: Any


@cache
def example() -> Product:
    """Return numbers without pattern, without touching any random state."""
    numbers = np.sin(np.arange(2.0 * _SIZE * _SIZE) ** 2).astype(np.float32)
    left, right = numbers.reshape(2, _SIZE, _SIZE)
    return Product(left, right, left.astype(np.float64) @ right.astype(np.float64))


def lost(product: Any) -> float | None:
    """Return the relative error of a product of the example; None where no bits were lost.

    A product that is not finite, or of another shape, tells nothing.
    """
    found = np.asarray(product, dtype=np.float64)
    exact = example().exact
    if found.shape != exact.shape or not np.isfinite(found).all():
        return None
    error = float(np.sqrt(np.mean((found - exact) ** 2) / np.mean(exact**2)))
    return error if error > _FULL else None
