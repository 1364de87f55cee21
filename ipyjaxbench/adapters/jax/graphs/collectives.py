"""What devices exchange, as XLA's text of a compiled program shows it."""

import math
import re
from collections import Counter

from ipyjaxbench.graphs import Collective

_KINDS = (
    "all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all",
    "ragged-all-to-all", "collective-broadcast",
)  # fmt: skip
#: ``%x = f32[8,4]{1,0} all-reduce(``, also ``(f32[8], f32[4]) all-reduce-done(``. What begins one
#: that runs beside others (``-start``) also gives what went in: its end is counted, once.
_ONE = re.compile(
    rf"= (?P<gives>\(.*?\)|\S+) (?P<kind>{'|'.join(_KINDS)})(?:-done)?\(.*?(?:channel_id=(\d+)|$)",
    re.MULTILINE,
)
_PART = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$", re.MULTILINE)
_ROOT = re.compile(r"^\s*ROOT \S+ = (\S+) ", re.MULTILINE)
_ARRAY = re.compile(r"\b([a-z]+\d*\w*)\[([\d,]*)\]")
_BITS = re.compile(r"\d+")
#: A part of this name gives each device a piece of a sum: how TPUs write a reduce-scatter.
_SCATTERS = "all-reduce-scatter"


def collectives_in(hlo: str) -> tuple[Collective, ...]:
    """Return the collectives in an optimized program's text, those that move most first.

    Bytes are those that each device gets; what stands in a loop is counted once.

    Example:
        >>> collectives_in("  %r = f32[8,4]{1,0} all-reduce(%p), replica_groups={}")
        (Collective(name='all-reduce', times=1, nbytes=128),)
    """
    times: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    counted: set[tuple[str, str]] = set()
    _, *rest = _PART.split(f"\nbefore () {{\n{hlo}")
    for part, text in zip(rest[::2], rest[1::2], strict=True):
        for match in _ONE.finditer(text):
            kind, gives, channel = match["kind"], match["gives"], match[3]
            # TPUs split one into several steps, between which others run: all have its channel.
            if channel is not None and (kind, channel) in counted:
                continue
            counted.add((kind, channel))
            root = _ROOT.search(text)
            if part.startswith(_SCATTERS) and root is not None:
                kind, gives = "reduce-scatter", root[1]
            times[kind] += 1
            moved[kind] += sum(_nbytes(*array) for array in _ARRAY.findall(gives))
    return tuple(Collective(name, times[name], moved[name]) for name, _ in moved.most_common())


def _nbytes(dtype: str, shape: str) -> int:
    bits = _BITS.search(dtype)
    size = max(int(bits[0]), 8) // 8 if bits else 1  # pred
    return size * math.prod(int(n) for n in shape.split(",") if n)
