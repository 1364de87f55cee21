"""``%explain``."""

from ipyjaxbench.command import NoOptions
from ipyjaxbench.errors import OptionError, SnippetError
from ipyjaxbench.graphs import Diagnosis, explain as diagnose
from ipyjaxbench.jupyter.errors import one_line_interrupt
from ipyjaxbench.jupyter.invocation import Invocation


def explain(magic: Invocation[NoOptions]) -> Diagnosis | None:
    """Say why the last cell that failed would not trace."""
    __tracebackhide__ = True
    if magic.code:
        raise OptionError(f"{magic.code!r}: %explain takes no code. It explains the last error.")
    error = magic.session.last_error.value()
    if error is None:
        raise SnippetError("No cell has failed yet.")
    with one_line_interrupt("looking for the cause"):
        diagnosis = diagnose(error)
    return magic.present(diagnosis)
