"""What devices exchange, as XLA's text of a compiled program shows it."""

import math
import re
from collections import Counter

from ipyjaxbench.graph_parts import Collective

_KINDS = (
    "all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all",
    "collective-broadcast",
)  # fmt: skip
#: ``%x = f32[8,4]{1,0} all-reduce(``, also ``all-reduce-start(``; the end of one is not another.
_ONE = re.compile(rf"= (?P<gives>.*?) (?P<kind>{'|'.join(_KINDS)})(-start)?\(")
_ARRAY = re.compile(r"\b([a-z]+\d*\w*)\[([\d,]*)\]")
_BITS = re.compile(r"\d+")


def found_in(hlo: str) -> tuple[Collective, ...]:
    """Collectives of a program, those that move most first.

    Args:
        hlo: the text of an optimized program for several devices.

    Returns:
        How many of each kind it has, and the bytes that they give on each device; what stands in
        a loop is counted once.

    Example:
        >>> found_in("  %r = f32[8,4]{1,0} all-reduce(%p), replica_groups={}")
        (Collective(name='all-reduce', times=1, nbytes=128),)
    """
    times: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    for match in _ONE.finditer(hlo):
        arrays = _ARRAY.findall(match["gives"])
        if match[3]:  # it gives what goes in and what comes out
            arrays = arrays[len(arrays) // 2 :]
        times[match["kind"]] += 1
        moved[match["kind"]] += sum(_nbytes(dtype, shape) for dtype, shape in arrays)
    return tuple(Collective(name, times[name], moved[name]) for name, _ in moved.most_common())


def _nbytes(dtype: str, shape: str) -> int:
    bits = _BITS.search(dtype)
    size = max(int(bits[0]), 8) // 8 if bits else 1  # pred
    return size * math.prod(int(n) for n in shape.split(",") if n)
