"""``%ipyjaxbench``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipyjaxbench.errors import OptionError
from ipyjaxbench.magics._errors import one_line_errors
from ipyjaxbench.magics._handover import hand_over, screen_for
from ipyjaxbench.magics._typed import Typed

if TYPE_CHECKING:
    from ipyjaxbench.options import ShownOptions
    from ipyjaxbench.overview import About


def ipyjaxbench(typed: Typed[ShownOptions]) -> About | None:
    """List the magics, and what a report of a bug needs."""
    __tracebackhide__ = True
    with one_line_errors():
        chosen, rest = typed.split()
        if rest:
            raise OptionError(f"{rest!r}: %ipyjaxbench takes nothing but options")
    from ipyjaxbench.overview import about

    result = about()
    return hand_over(typed, chosen, result, screen_for(typed, chosen))  # type: ignore[no-any-return]
