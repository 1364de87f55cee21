"""Moments by hand."""

from ipyjaxbench.steps.step_rows import StepRows, pack


def noted(*moments: tuple[int, int]) -> StepRows:
    """Rows of places and nanoseconds; the loop's own line is site 9."""
    rows = StepRows(9)
    rows.add([pack(place, at) for place, at in moments])
    return rows
