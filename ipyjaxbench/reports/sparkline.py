"""Numbers in order, as one word of block characters: by their ratios, or by their differences."""

import math
from collections.abc import Sequence

_HEIGHTS = "▁▂▃▄▅▆▇█"
_MIN_RATIO = 1.5  # of the highest to the lowest: below it, noise would look like hills
_MOST = 12  # characters


def sparkline(values: Sequence[float]) -> str:
    """Return a character for each value, the oldest first; equal heights are equal ratios.

    Example:
        >>> sparkline([1.0, 1.01, 2.2, 4.0])
        '▁▁▅█'
    """
    shown = [value for value in values if value > 0][-_MOST:]
    if not shown:
        return ""
    low = min(shown)
    span = math.log(max(max(shown) / low, _MIN_RATIO))
    last = len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[int(math.log(value / low) / span * last + 0.5)] for value in shown)


def curve(values: Sequence[float]) -> str:
    """Return a character for each value, the oldest first; equal heights are equal differences.

    Example:
        >>> curve([1, 1, 3, 2])
        '▁▁█▅'
    """
    low, high = min(values, default=0), max(values, default=0)
    last = len(_HEIGHTS) - 1
    if low == high:
        return ""
    return "".join(_HEIGHTS[int((each - low) / (high - low) * last + 0.5)] for each in values)
