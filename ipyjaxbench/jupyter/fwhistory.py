"""``%fwhistory``."""

import dataclasses

from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.records import History, HistoryOptions, query_history


def fwhistory(magic: Invocation[HistoryOptions]) -> History | None:
    """Show what was measured before."""
    __tracebackhide__ = True
    options = dataclasses.replace(magic.options, text=magic.code.strip("'\""))
    result = query_history(options, magic.session.location, magic.session.journal.trouble)
    return magic.present(result)
