"""Notes on calls that find more to do, or may, the more of them were made before."""

from ipyjaxbench import units
from ipyjaxbench.option import spell
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.notes import misleading
from ipyjaxbench.timing.options import TimeOptions


def slows_down(first: float, last: float) -> Note:
    """Every call takes longer than the one before, for a reason that is not seen."""
    return Note(
        "slows-down",
        f"Every call takes longer than the one before, from {units.duration(first)} at first to"
        f" {units.duration(last)} at the end: the code may keep something that grows.",
    )


def grows(
    name: str,
    sizes: tuple[int, int],
    times: tuple[float, float] | None = None,
    *,
    in_sample: bool = False,
) -> Note:
    """A container grows with every call; ``times`` where that of a call does, too.

    With ``in_sample`` it does so until the set-up makes it anew.
    """
    before, after = sizes
    grew = f"{name} grew from {before:,} to {units.count(after, 'item')}"
    advice = f"create {name} anew in the setup"
    if in_sample:
        grew += " in a sample, before the setup made it anew"
        advice = f"{spell(TimeOptions, number=1)} runs the setup before each call"
    if times is None:
        return misleading("grows", f"{grew}: the time is of calls at all these lengths.", advice)
    first, last = map(units.duration, times)
    text = f"{grew}, and calls got slower with it ({first} at first, {last} at the end)."
    return misleading("grows", text, advice)
