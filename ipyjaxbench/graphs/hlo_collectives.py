"""What devices exchange, as XLA's text of a compiled program shows it."""

import math
import re
from collections import Counter

from ipyjaxbench.graphs.compiled import Collective

# Patterns are texts here, which `re` compiles when they are first used: most sessions need none.
_KINDS = (
    "all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all",
    "ragged-all-to-all", "collective-broadcast",
)  # fmt: skip
#: ``%x = f32[8,4]{1,0} all-reduce(``, also ``(f32[8], f32[4]) all-reduce-done(``. What begins one
#: that runs beside others (``-start``) also gives what went in: its end is counted, once.
_ONE = (
    rf"(?m)= (?P<gives>\(.*?\)|\S+) (?P<kind>{'|'.join(_KINDS)})(?:-done)?\("
    r".*?(?:channel_id=(\d+)|$)"
)
_PART = r"(?m)^(?:ENTRY )?%?([\w.\-]+) \(.*\{$"
_ROOT = r"(?m)^\s*ROOT \S+ = (\S+) "
_ARRAY = r"\b([a-z]+\d*\w*)\[([\d,]*)\]"
_BITS = r"\d+"
#: A part of this name gives each device a piece of a sum: how TPUs write a reduce-scatter.
_SCATTERS = "all-reduce-scatter"
#: ``%y = f32[8] all-reduce-done(%x), ...``: its name, and what follows.
_NAMED = (
    rf"(?m)^\s*(?:ROOT )?%?(?P<name>[\w.\-]+) = (?P<gives>\(.*?\)|\S+) (?P<kind>{'|'.join(_KINDS)})"
    r"(?P<half>-start|-done)?\((?P<rest>.*)$"
)
_OPERAND = r"%([\w.\-]+)"
#: ``replica_groups={{0,1},{2,3}}``, ``[2,2]<=[4]`` and ``mesh['a'=2,'b'=4] {'b'}``.
_GROUPS = (
    r"replica_groups=(?:\{\{(?P<first>[\d,]*)\}|\[\d+,(?P<size>\d+)\]<="
    r"|mesh\[(?P<mesh>[^\]]*)\] \{(?P<axes>[^}]*)\}|(?P<all>\{\}))"
)
_AXIS = r"('[^']*')(?:=(\d+))?"


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
    _, *rest = re.split(_PART, f"\nbefore () {{\n{hlo}")
    for part, text in zip(rest[::2], rest[1::2], strict=True):
        for match in re.finditer(_ONE, text):
            kind, gives, channel = match["kind"], match["gives"], match[3]
            # TPUs split one into several steps, between which others run: all have its channel.
            if channel is not None and (kind, channel) in counted:
                continue
            counted.add((kind, channel))
            root = re.search(_ROOT, text)
            if part.startswith(_SCATTERS) and root is not None:
                kind, gives = "reduce-scatter", root[1]
            times[kind] += 1
            moved[kind] += bytes_of_type(gives)
    return tuple(Collective(name, times[name], moved[name]) for name, _ in moved.most_common())


def bytes_of_type(text: str) -> int:
    """Return the bytes of the arrays in a type.

    Example:
        >>> bytes_of_type("(f32[8,4]{1,0}, pred[3])")
        131
    """
    return sum(_nbytes(*array) for array in re.findall(_ARRAY, text))


def _nbytes(dtype: str, shape: str) -> int:
    bits = re.search(_BITS, dtype)
    size = max(int(bits[0]), 8) // 8 if bits else 1  # pred
    return size * math.prod(int(n) for n in shape.split(",") if n)


def exchanges_in(hlo: str, devices: int) -> dict[str, tuple[str, int, int]]:
    """Return what each collective in an optimized program's text exchanges, by operation.

    Args:
        hlo: the text.
        devices: how many there are in all processes.

    Returns:
        Its kind, bytes as nccl-tests counts them, and devices that exchange them, 0 if unknown;
        without those of which the bytes are unknown. One that begins in an operation and ends in
        another has the name of the first.

    Example:
        >>> exchanges_in("  %r.1 = f32[8,4]{1,0} all-reduce(%p), replica_groups={}", 2)
        {'r.1': ('all-reduce', 128, 2)}
    """
    groups: dict[str, int] = {}
    found: dict[str, tuple[str, int, int]] = {}
    for match in re.finditer(_NAMED, hlo):
        name, kind = match["name"], match["kind"]
        if match["half"] == "-start":
            groups[name] = _group(match["rest"], devices)
            continue
        participants = _group(match["rest"], devices)
        if match["half"] == "-done":
            begun = re.search(_OPERAND, match["rest"])
            name = begun[1] if begun else name
            participants = groups.get(name, 0)
        nbytes = bytes_of_type(match["gives"])
        if kind == "reduce-scatter":  # each device gets its part
            if not participants:
                continue
            nbytes *= participants
        kind = "broadcast" if kind == "collective-broadcast" else kind
        found[name] = kind, nbytes, participants
    return found


def _group(text: str, devices: int) -> int:
    """Return how many devices exchange data with each other; 0 if unknown."""
    match = re.search(_GROUPS, text)
    if match is None:
        return 0
    if match["first"]:
        return match["first"].count(",") + 1
    if match["size"]:
        return int(match["size"])
    if match["all"]:
        return devices
    sizes = dict(re.findall(_AXIS, match["mesh"] or ""))
    axes = [axis for axis, _ in re.findall(_AXIS, match["axes"] or "")]
    if not axes or any(not sizes.get(axis) for axis in axes):
        return 0
    return math.prod(int(sizes[axis]) for axis in axes)
