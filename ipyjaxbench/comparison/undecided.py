"""What it takes to tell arms apart that the samples do not."""

import dataclasses
import math

from ipyjaxbench import ratios
from ipyjaxbench.comparison import notes
from ipyjaxbench.comparison.comparison import Comparison
from ipyjaxbench.comparison.options import CompareOptions


def note_undecided(c: Comparison, options: CompareOptions) -> Comparison:
    """Return a comparison with a Note on what to ask for, where arms cannot be told apart."""
    base = next((arm.measured for arm in c.sides if arm.label == c.baseline), None)
    if base is not None and base.verdict == "INVALID":  # more of its samples tell nothing
        return c
    arms = {
        arm.label: ratio
        for arm in c.sides
        if c.verdict(arm.label) == "CAN'T TELL" and not c.depends_on_interleaving(arm.label)
        if (ratio := c.ratio(arm.label))
    }
    known = [*arms.values()]
    if not known:
        return c
    pairs, counted = known[0].pairs, options.samples is not None
    if pairs < ratios.FEWEST:
        seconds = None if counted else c.elapsed * ratios.FEWEST / pairs
        note = notes.few_samples([*arms], pairs, ratios.FEWEST, seconds)
        is_more = _is_more(options, ratios.FEWEST if counted else None, seconds or 0.0)
    else:
        needed = max(ratio.needed(c.elapsed, c.floor) for ratio in known)
        samples = math.ceil(pairs * needed / c.elapsed) if counted and c.elapsed else None
        note = notes.undecided([*arms], c.elapsed, needed, samples)
        is_more = _is_more(options, samples, needed)
    if not is_more:  # it was ended before its time
        note = dataclasses.replace(note, advice="")
    return dataclasses.replace(c, notes=(*c.notes, note))


def _is_more(options: CompareOptions, samples: int | None, seconds: float) -> bool:
    """Whether so many samples, or seconds, are more than what was asked for."""
    if samples is not None:
        return samples > (options.samples or 0)
    return math.ceil(seconds) > (options.budget or 0.0)
