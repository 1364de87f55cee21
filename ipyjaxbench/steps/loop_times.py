"""Where the time of a loop's steps went."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ipyjaxbench import stats
from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt
from ipyjaxbench.reports import Note, Result
from ipyjaxbench.steps.bottleneck import Bottleneck, SteadySteps, find_bottleneck
from ipyjaxbench.steps.step_parts import PARTS, LineTime, StepTime


@dataclass(frozen=True, repr=False)
class LoopTimes(Result):
    """Where the time of a loop's steps went.

    Attributes:
        code: the cell.
        line: number of the loop's line.
        steps: the steps, in order; of very many, neighbours share one entry.
        lines: the lines of the loop, with their time in the steady steps.
        backlog: seconds for which devices worked on after the loop.
        was_stopped: whether an exception ended the loop, so that `backlog` is unknown.
        runs: how often the loop ran, as an inner loop does.
        advice: what to write instead to have data sooner; empty if unknown.
        draws_inside: whether steps draw their batches themselves, so that "call" has data in it.
        frameworks: versions of the frameworks that the loop gives work to.
        notes: what to know before believing the numbers.
        error: the exception that the code raised, in one line; empty if none.
    """

    kind: ClassVar[str] = "loop"

    code: str
    line: int
    steps: tuple[StepTime, ...] = ()
    lines: tuple[LineTime, ...] = ()
    backlog: NonNegativeFloat = 0.0
    was_stopped: bool = False
    runs: NonNegativeInt = 1
    advice: str = ""
    draws_inside: bool = False
    frameworks: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    error: str = ""

    @property
    def count(self) -> int:
        """How many steps came to their end."""
        return sum(each.steps for each in self.steps if each.complete)

    @property
    def steady(self) -> tuple[StepTime, ...]:
        """Steps between the first and the last in which nothing was compiled."""
        return tuple(each for each in self.steps[1:-1] if each.complete and not each.compiled)

    @property
    def parts(self) -> dict[str, float]:
        """Mean seconds of a steady step by part; the backlog counts as the device's."""
        steady = self.steady
        count = sum(each.steps for each in steady)
        if not count:
            return {}
        mean = {part: sum(getattr(each, part) for each in steady) / count for part in PARTS}
        mean["device"] += self.backlog / max(self.count, 1)
        return mean

    @property
    def shares(self) -> dict[str, float]:
        """The share of a steady step that each of `parts` takes, from 0 to 1."""
        parts = self.parts
        total = sum(parts.values())
        return {part: seconds / total for part, seconds in parts.items()} if total else {}

    @property
    def bottleneck(self) -> Bottleneck:
        """What the steady steps spend their time on, and the line to change."""
        return find_bottleneck(self.summary)

    @property
    def verdict(self) -> str:
        """The bottleneck in one word, such as "DATA-BOUND"."""
        return self.bottleneck.verdict

    @property
    def summary(self) -> SteadySteps:
        """The steady steps in short."""
        return SteadySteps(
            steps=sum(each.steps for each in self.steady),
            usual=stats.median([each.seconds / each.steps for each in self.steady] or [0.0]),
            shares=self.shares,
            lines=self.lines,
            complete=self.count,
            backlog=self.backlog / max(self.runs, 1),
            draws_inside=self.draws_inside,
            was_stopped=self.was_stopped,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each step, or for several that share an entry; times in seconds."""
        return [
            {
                "steps": each.steps,
                **{f"{part}_s": getattr(each, part) for part in PARTS},
                "total_s": each.seconds,
                "compiled": each.compiled,
                "complete": each.complete,
            }
            for each in self.steps
        ]

    def __repr__(self) -> str:
        """One line."""
        return f"<LoopTimes {self.count} steps, {self.verdict}>"
