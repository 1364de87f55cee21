"""How far a figure can be believed, in one word, and why not further."""

import math
from collections.abc import Iterator, Sequence

from ipyjaxbench import stats, units

_QUIET, _OK, _TAIL_RATIO = 0.04, 0.08, 1.10
VERDICT_MEANINGS = {
    "QUIET": "steady: a rerun should be within 4 %",
    "OK": "fairly steady: a rerun should be within 8 %",
    "NOISY": "unsteady: a rerun may differ by more than 8 %",
    "RECOMPILES": "compiles in every call: no steady state",
    "INVALID": "not the time of the work that the code describes",
    "FEW": "too few samples to know the spread",
    "ONCE": "a single sample: the spread is unknown",
}
#: Words that leave nothing to compare.
NO_FIGURE = ("INVALID", "ONCE")
#: Notes that leave nothing of the figure.
_INVALIDATE = {
    "not-called",
    "lazy",
    "left-running",
    "constant-folded",
    "work-removed",
    "impossible-speed",
    "value-cached",
    "copy-kept",
    "used-up",
    "emptied",
    "started-elsewhere",
}


def leaves_no_figure(code: str) -> bool:
    """Whether a Note of this code leaves nothing of the figure."""
    return code == "recompiles" or code in _INVALIDATE


def verdict(samples: Sequence[float], half_width: float, codes: Sequence[str]) -> str:
    """Return one word of `VERDICT_MEANINGS`.

    There are no samples where there was the first call only; ``half_width`` is that of the
    interval for the median of another run, relative; ``codes`` are those of the Notes.
    """
    if "recompiles" in codes:
        return "RECOMPILES"
    if not _INVALIDATE.isdisjoint(codes):
        return "INVALID"
    if len(samples) < 2:
        return "ONCE"
    if len(samples) < stats.FEWEST:
        return "FEW"
    if half_width <= _QUIET and stats.median(samples) <= _TAIL_RATIO * stats.floor(samples):
        return "QUIET"
    return "OK" if half_width <= _OK else "NOISY"


def low_end_leads(half_width: float, word: str, codes: Sequence[str]) -> bool:
    """Whether the headline is `stats.floor`, for a measurement and all its parts; else the median.

    It is where noise scatters samples, since their low end is the steadiest.
    """
    scatters = word in ("NOISY", "FEW") and _OK < half_width < math.inf
    return scatters and "calls-differ" not in codes


def movements(samples: Sequence[float]) -> Iterator[str]:
    """Say what the samples themselves show of a cause: two speeds, a drift, or a wandering."""
    groups, parts = stats.two_speeds(samples), stats.parts(samples, 8)
    if groups:
        slow, fast = units.duration(groups[1]), units.duration(groups[0])
        yield f"two speeds, {fast} and {slow}"
    moved = stats.drift(samples)
    if not (groups or moved) and parts and max(parts) > (1 + _OK) * min(parts):
        yield f"the samples drifted ({units.span(min(parts), max(parts), 3)})"
    if moved:
        way = "slower" if moved > 0 else "faster"
        far = units.percent(abs(moved)) if moved <= 1 else units.times(1 + moved)
        yield f"calls got {far} {way} during the measurement"
