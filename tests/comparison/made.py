"""Comparisons and sweeps made by hand, and the parts of their reports."""

from typing import Any, TypeVar

from ipyjaxbench import Comparison, Sweep
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.comparison.sweep import Point
from ipyjaxbench.reports import Note, Notes
from tests.results import measured

MS = 1_000_000
#: Samples that leave it open whether something takes longer than a millisecond.
UNSURE = [MS + 400_000 * (i % 3 - 1) * (-1) ** (i // 3) for i in range(40)]
_Block = TypeVar("_Block")


def arm(label: str, nanoseconds: int, *, step: int = 500, **changes: Any) -> ArmResult:
    """Samples that scatter a little, the same way in each arm."""
    times = [nanoseconds + step * (i * 7 % 5) * nanoseconds // 1_000_000 for i in range(40)]
    return ArmResult(label, measured(times, **changes))


def sampled(label: str, nanoseconds: list[int], **changes: Any) -> ArmResult:
    return ArmResult(label, measured(nanoseconds, **changes))


def compared(*sides: ArmResult, **facts: Any) -> Comparison:
    return Comparison(sides, sides[0].label, **{"elapsed": 1.0, **facts})


def even(n: object, **times: float) -> Point:
    """Arms that take these milliseconds at a value."""
    sides = (arm(label, round(t * MS), step=0) for label, t in times.items())
    return Point((str(n),), compared(*sides))


def swept(*points: Point, planned: int = 0, names: tuple[str, ...] = ("n",), **facts: Any) -> Sweep:
    labels = tuple(side.label for side in points[0].compared.sides) if points else ("a", "b")
    return Sweep(names, labels, points, planned=planned or len(points), **facts)


def only(found: Comparison | Sweep, kind: type[_Block]) -> _Block:
    """The only block of a kind."""
    (block,) = (block for block in found.report().blocks if isinstance(block, kind))
    return block


def noted(found: Comparison | Sweep) -> tuple[Note, ...]:
    return only(found, Notes).notes
