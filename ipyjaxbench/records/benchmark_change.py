"""A benchmark held against an earlier run, by a rule that noise does not meet."""

import math
from dataclasses import dataclass
from functools import cached_property

from ipyjaxbench import ratios, units
from ipyjaxbench.ratios import Ratio
from ipyjaxbench.record_types import NonNegativeFloat
from ipyjaxbench.records.entry import EntryHead, RelativeTime
from ipyjaxbench.timing import NO_FIGURE, Change, Figure

_BUSIER = 0.15  # of all CPUs: programs that share a core take up to twice as long
_FASTEST_CPU = math.log(2)  # against its slowest, of a core that nobody shares
_BETWEEN_RUNS = 0.025  # by which two processes differ that run the same code, as in `stats`


@dataclass(frozen=True)
class Baseline:
    """An earlier measurement of the same name.

    Attributes:
        figure: its median, interval and verdict.
        floor: seconds per call with little disturbance.
        taken: share of all CPUs that other programs had meanwhile; None if unknown.
        relative: the time in steps of a loop; None if unknown, or of another Python.
        differs: what is not the same now, in words.
        elsewhere: which of that is another machine or device.
    """

    figure: Figure
    floor: NonNegativeFloat
    taken: NonNegativeFloat | None = None
    relative: RelativeTime | None = None
    differs: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()

    @classmethod
    def of(cls, before: EntryHead, now: EntryHead) -> "Baseline":
        """Return what of an earlier measurement is needed to hold another one against it."""
        around, here = before.environment, now.environment
        return cls(
            before.figure,
            before.floor,
            before.taken,
            before.relative if around.python == here.python else None,
            around.differences(here),
            around.elsewhere(here),
        )


@dataclass(frozen=True)
class BenchmarkChange:
    """A benchmark held against its baseline.

    There are two ratios: that of the medians, and that of the times in steps of a loop, from which
    the speed of the CPU falls out. What computes on the CPU is slowed down as the loop is; what
    waits, for a GPU or a timer, is not. So the one with the narrower interval answers, and the
    other one must not contradict. It is SLOWER or FASTER where the whole interval lies beyond 1 %,
    and neither another machine or device nor programs that were busier in one run explain it.
    """

    now: EntryHead
    base: Baseline
    among: int = 1  # how many are asked together

    @cached_property
    def ratio(self) -> Ratio | None:
        """How many times as long it takes now; None where one of them has no figure."""
        return min(self._ratios, key=lambda ratio: ratio.high / ratio.low, default=None)

    @cached_property
    def _ratios(self) -> tuple[Ratio, ...]:
        medians = self._medians.ratio
        if medians is None:
            return ()
        before, now = self.base.relative, self.now.relative
        if before is None or now is None:
            return (medians,)
        sides = [(each.value, _half_width(each)) for each in (before, now)]
        pairs = min(before.pairs, now.pairs)
        return (medians, ratios.unpaired(sides[0], sides[1], pairs, self.among))

    @property
    def _medians(self) -> Change:
        return Change(self.base.figure, self.now.figure, self.among)

    @property
    def verdict(self) -> str:
        """FASTER, SLOWER, SAME or CAN'T TELL; INVALID or ONCE where it has no figure now."""
        word = self.seeming
        return "CAN'T TELL" if word in ("SLOWER", "FASTER") and self.doubt else word

    @property
    def seeming(self) -> str:
        """The verdict of the ratio alone, whatever the reason for it."""
        figures = self.base.figure, self.now.figure
        if self.ratio is None or any(figure.verdict in NO_FIGURE for figure in figures):
            return self._medians.verdict
        return self.ratio.verdict

    @cached_property
    def doubt(self) -> str:
        """Why another time may be due to something else than the code; empty if nothing is."""
        if self.base.elsewhere:
            return f"they were measured elsewhere: {', '.join(self.base.elsewhere)}"
        before, now = self.base.taken, self.now.taken
        if before is not None and now is not None and abs(now - before) > _BUSIER:
            return (
                f"other programs had {units.percent(before)} of the CPUs before and"
                f" {units.percent(now)} now"
            )
        if self._is_contradicted:
            return "medians and a fixed loop disagree: it may be the speed of the CPU"
        if (
            self.seeming == "SLOWER"
            and len(self._ratios) == 1
            and self.now.floor <= self.base.floor
        ):
            return "the fastest calls are as fast as before"
        return ""

    @property
    def _are_apart(self) -> bool:
        """Whether the ratios exclude each other."""
        return max(r.low for r in self._ratios) > min(r.high for r in self._ratios)

    @property
    def _is_contradicted(self) -> bool:
        """Whether the ratios do not both say slower, or both faster, and one speaks against it.

        They exclude each other, or the loop took another time than the CPU's speed explains: then
        it ran beside something else, and tells nothing of the code.
        """
        one_way = all(r.low > 1 for r in self._ratios) or all(r.high < 1 for r in self._ratios)
        logs = [math.log(r.value) for r in self._ratios]
        return not one_way and (self._are_apart or max(logs) - min(logs) > _FASTEST_CPU)

    def is_slower_by(self, limit: float) -> bool:
        """Whether it is SLOWER and the whole interval lies beyond a limit: 0.1 is 10 %.

        So do both, where they exclude each other.
        """
        if self.verdict != "SLOWER" or self.ratio is None:
            return False
        least = min(r.low if self._are_apart else r.high for r in self._ratios)
        return min(self.ratio.low, least) > 1 + limit


def _half_width(relative: RelativeTime) -> float:
    """Return the half width of the interval for another run, of the logarithm."""
    return math.hypot(math.log(relative.high / relative.low) / 2, _BETWEEN_RUNS)
