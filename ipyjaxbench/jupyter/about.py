"""``%ipyjaxbench``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.invocation import Invocation

if TYPE_CHECKING:
    from ipyjaxbench.command import NoOptions
    from ipyjaxbench.device.about import About


def ipyjaxbench(magic: Invocation[NoOptions]) -> About | None:
    """List the magics, and what a report of a bug needs."""
    __tracebackhide__ = True
    from ipyjaxbench.device.about import about

    if magic.code:
        raise OptionError(f"{magic.code!r}: %ipyjaxbench takes nothing but options")
    return magic.present(about())
