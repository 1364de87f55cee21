"""How the numbers of an array lie in memory, in words; for all frameworks that tell strides."""

import math
from collections.abc import Sequence


def describe_order(shape: Sequence[int], strides: Sequence[int], unit: int = 1) -> str:
    """Return in words what is not the usual order, row by row without gaps; "" where nothing is.

    Strides count in the same unit as ``unit``, the distance of one number to the next.

    Example:
        >>> column, row = describe_order((2, 3), (1, 2)), describe_order((2, 3), (3, 1))
        >>> column, row, describe_order((2, 3), (0, 1))
        ('column-major', '', 'broadcast along axis 0')
    """
    if 0 in shape:
        return ""
    axes = [axis for axis, size in enumerate(shape) if size > 1]
    parts = []
    for state, chosen in (
        ("broadcast", [axis for axis in axes if strides[axis] == 0]),
        ("reversed", [axis for axis in axes if strides[axis] < 0]),
    ):
        if chosen:
            noun = "axis" if len(chosen) == 1 else "axes"
            parts.append(f"{state} along {noun} {', '.join(map(str, chosen))}")
    axes = [axis for axis in axes if strides[axis] != 0]
    outer_first = sorted(axes, key=lambda axis: -abs(strides[axis]))
    if outer_first != axes:
        turned = ", ".join(map(str, outer_first))
        parts.append("column-major" if len(shape) == 2 else f"memory order of axes {turned}")
    # Each axis begins anew where the one inside of it has ended.
    for axis in reversed(outer_first):
        if abs(strides[axis]) != unit:
            parts.append("strided")
            break
        unit *= shape[axis]
    return ", ".join(parts)


def overlaps(shape: Sequence[int], strides: Sequence[int], unit: int = 1) -> bool:
    """Whether there are more numbers than places for them, as where windows slide over others.

    Example:
        >>> overlaps((8, 3), (1, 1)), overlaps((8, 3), (3, 1))
        (True, False)
    """
    last = sum((size - 1) * abs(stride) for size, stride in zip(shape, strides, strict=True))
    return math.prod(shape) > last // unit + 1
