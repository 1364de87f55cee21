"""``%%fwtime --loop``."""

from ipyjaxbench.errors import OptionError
from ipyjaxbench.jupyter.errors import one_line_errors
from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.reports import Result
from ipyjaxbench.steps import time_loop
from ipyjaxbench.timing import FwtimeOptions


def time_steps(magic: Invocation[FwtimeOptions]) -> Result | None:
    """Run a cell once, and show where the time of its loop's steps goes."""
    __tracebackhide__ = True
    with one_line_errors():
        if magic.cell is None:
            raise OptionError("--loop times the loop of a cell: write %%fwtime --loop above it")
        source = magic.source(magic.body)
        result, raised = time_loop(source, magic.names, magic.options.line)
    return magic.present(result, raised)
