"""What a program computes, counted: by operation and by line of code."""

import linecache
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True)
class Count:
    """How often something is computed.

    Attributes:
        name: a primitive, or the text of a line of code.
        times: number of operations.
        flops: floating-point operations in all of them.
        line: line number; 0 if unknown, and for primitives.
        parts: the primitives of a line.
        nbytes: bytes of the arrays that the operations of a line read and write, before fusion; 0
            if not counted.
    """

    name: str
    times: int
    flops: float
    line: int = 0
    parts: tuple[str, ...] = ()
    nbytes: float = 0.0


class Step(NamedTuple):
    """An operation of a program, where it is known on which line; 0 stands for an unknown one."""

    file: str
    line: int
    name: str
    flops: float
    nbytes: float = 0.0


def count_by_line(steps: Iterable[Step]) -> tuple[Count, ...]:
    """Return how much each line of code whose text is known computes, file by file."""
    places: dict[tuple[str, int], list[Step]] = {}
    for step in steps:
        if step.line:
            places.setdefault((step.file, step.line), []).append(step)
    return tuple(
        count_line(line_of(*place), computed, place[1])
        for place, computed in sorted(places.items())
        if line_of(*place)
    )


def count_line(text: str, steps: Sequence[Step], line: int = 0) -> Count:
    """Return how much the operations of a line compute."""
    parts = tuple(dict.fromkeys(step.name for step in steps))
    flops, nbytes = (
        sum(costs) for costs in zip(*((s.flops, s.nbytes) for s in steps), strict=True)
    )
    return Count(text, len(steps), flops, line, parts, nbytes)


def count_by_name(steps: Iterable[tuple[str, float]]) -> tuple[Count, ...]:
    """Return how often each operation is computed, the costliest first, from name and FLOP."""
    times: Counter[str] = Counter()
    total: defaultdict[str, float] = defaultdict(float)
    for name, flops in steps:
        times[name] += 1
        total[name] += flops
    ranked = sorted(times, key=lambda name: (-total[name], -times[name], name))
    return tuple(Count(name, times[name], total[name]) for name in ranked)


def line_of(file: str, number: int) -> str:
    """Return the text of a line of the user's code."""
    return linecache.getline(file, number).strip()


@dataclass(frozen=True)
class Uncounted:
    """What the floating-point operations of a program leave out, or only estimate.

    Attributes:
        reason: what kind of work was not counted; "others" is everything but products.
        name: name of the operation or branch, such as "sort".
        turns: loop iterations that were counted.
    """

    reason: Literal[
        "operation", "shape", "function", "products", "others", "turns", "most turns", "branch"
    ]
    name: str = ""
    turns: int = 1
