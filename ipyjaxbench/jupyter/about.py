"""``%ipyjaxbench``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.errors import one_line_errors
from ipyjaxbench.jupyter.invocation import Typed
from ipyjaxbench.jupyter.present import hand_over, screen_for

if TYPE_CHECKING:
    from ipyjaxbench.command import NoOptions
    from ipyjaxbench.device.about import About


def ipyjaxbench(typed: Typed[NoOptions]) -> About | None:
    """List the magics, and what a report of a bug needs."""
    __tracebackhide__ = True
    with one_line_errors():
        _, shown, rest = typed.split()
        if rest:
            raise OptionError(f"{rest!r}: %ipyjaxbench takes nothing but options")
    from ipyjaxbench.device.about import about

    result = about()
    return hand_over(typed, shown, result, screen_for(typed, shown))  # type: ignore[no-any-return]
