"""``%ipyjaxbench``."""

from ipyjaxbench.command import NoOptions
from ipyjaxbench.device import About, about
from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.invocation import Invocation


def ipyjaxbench(magic: Invocation[NoOptions]) -> About | None:
    """List the magics, and what a report of a bug needs."""
    __tracebackhide__ = True
    if magic.code:
        raise OptionError(f"{magic.code!r}: %ipyjaxbench takes only options")
    return magic.present(about())
