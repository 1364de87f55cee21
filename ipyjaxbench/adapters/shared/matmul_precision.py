"""A tiny matrix product: shows whether a device rounds float32 to fewer bits."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ipyjaxbench.reports import Note
from ipyjaxbench.timing import CodeFacts, note_default_precision, note_reduced_precision

_SIDE = 64  # below that, libraries use other kernels
_FULL_PRECISION_ERROR = 1e-5  # 24 bits give 1e-7, 11 bits (TF32, float16) 3e-4, bfloat16 2e-3


class Product(NamedTuple):
    """Two factors in float32 and what they make, computed in float64."""

    left: Any
    right: Any
    exact: Any


#: Returns a product as a device computes it under the settings of this moment.
Multiply = Callable[[str, Any, Any], Any]


def may_multiply(code: CodeFacts, module: type) -> bool:
    """Whether code multiplies matrices, or uses modules of a framework, which may."""
    return code.multiplies or any(issubclass(type(f), module) for f in code.functions)


def note_rounding(
    multiply: Multiply, device: str, setting: str, advice: str, *, by_default: bool = False
) -> Iterator[Note]:
    """Yield a note where a tiny product shows that a setting costs bits on a device.

    What the user chose is another note than what a framework does ``by_default``.
    """
    error = _error(multiply, device, setting)
    if error is not None:
        note = note_default_precision if by_default else note_reduced_precision
        yield note(device, setting, error, advice)


@cache
def _error(multiply: Multiply, device: str, setting: str) -> float | None:  # noqa: ARG001
    """Return what `lost` says of the device's product; each setting is tried once."""
    left, right, _ = example()
    try:
        return lost(multiply(device, left, right))
    except Exception:  # noqa: BLE001  the device cannot do it so: nothing is known
        return None


@cache
def example() -> Product:
    """Return numbers without pattern, without touching any random state."""
    numbers = np.sin(np.arange(2.0 * _SIDE * _SIDE) ** 2).astype(np.float32)
    left, right = numbers.reshape(2, _SIDE, _SIDE)
    return Product(left, right, left.astype(np.float64) @ right.astype(np.float64))


def lost(product: Any) -> float | None:
    """Return the relative error of a product of the example; None where no bits were lost.

    A product that is not finite, or of another shape, tells nothing.
    """
    product = np.asarray(product, dtype=np.float64)
    exact = example().exact
    if product.shape != exact.shape or not np.isfinite(product).all():
        return None
    error = float(np.sqrt(np.mean((product - exact) ** 2) / np.mean(exact**2)))
    return error if error > _FULL_PRECISION_ERROR else None
