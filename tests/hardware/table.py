"""Times that `%fwtime` gives beside those of loops written by hand, as rows of a table."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ipyjaxbench
from ipyjaxbench import units

_SECONDS = 0.35  # of each loop by hand
_MOST_CALLS = 3000
_BUDGET = 0.7
_SURE_FROM = 100e-6  # seconds per call from which on a share of them is asked for
_OFF, _OFF_SHARE = 10e-6, 0.05
_BUSY_OFF_SHARE = 0.03
_CALLS = 13  # in a row: more of them heat the GPU, whose clock then falls


class Case(NamedTuple):
    """Code to measure, and the same by hand: what the call returns is all that it computes."""

    name: str
    code: str
    names: dict[str, Any]
    call: Callable[[], Any]
    profiled: bool = False  # whether its kernels are all that a queue of calls takes


class Row(NamedTuple):
    """One case; times in seconds."""

    case: str
    by_hand: float
    ours: float
    verdict: str

    @property
    def ratio(self) -> float:
        """Ours over the time by hand."""
        return self.ours / self.by_hand

    @property
    def is_right(self) -> bool:
        """Whether it is as near as is asked for."""
        off = abs(self.ours - self.by_hand)
        if self.verdict == "busy":
            return off <= _BUSY_OFF_SHARE * self.by_hand
        return off <= (_OFF_SHARE * self.by_hand if self.by_hand >= _SURE_FROM else _OFF)

    def __str__(self) -> str:
        by_hand, ours = (units.duration(each, 3) for each in (self.by_hand, self.ours))
        mark = "" if self.is_right else "  WRONG"
        return f"{self.case:34} {by_hand:>9} {ours:>9} {self.ratio:6.2f}  {self.verdict}{mark}"


HEADING = f"{'case':34} {'by hand':>9} {'%fwtime':>9} {'ratio':>6}  verdict"


def median_of_loop(call: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
    """Seconds per call with waiting written by hand."""
    wait(call())
    figures: list[float] = []
    end = time.perf_counter() + _SECONDS
    while (start := time.perf_counter()) < end and len(figures) < _MOST_CALLS:
        wait(call())
        figures.append(time.perf_counter() - start)
    return statistics.median(figures)


def queued(call: Callable[[], Any], wait: Callable[[Any], Any]) -> float:
    """Seconds per call of several that are waited for together."""
    wait(call())
    figures: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        values = [call() for _ in range(_CALLS)]
        wait(values[-1])
        figures.append((time.perf_counter() - start) / _CALLS)
    return statistics.median(figures)


def rows(case: Case, wait: Callable[[Any], Any]) -> list[Row]:
    """Measure one case between two loops by hand, of which the faster one counts."""
    before = median_of_loop(case.call, wait)
    found = ipyjaxbench.measure_code(
        case.code, case.names, budget=_BUDGET, profile=case.profiled or None
    )
    by_hand = min(before, median_of_loop(case.call, wait))
    made = [Row(case.name, by_hand, found.median, found.verdict)]
    if case.profiled:
        busy = found.device.busy if found.device else None
        made.append(Row(f"{case.name}, busy", queued(case.call, wait), busy or 0.0, "busy"))
    return made


def share_of_noisy(found: Sequence[Row]) -> float:
    """How many of the headlines are NOISY."""
    headlines = [row for row in found if row.verdict != "busy"]
    return sum(row.verdict == "NOISY" for row in headlines) / len(headlines)
