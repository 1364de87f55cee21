"""``%fwhistory``."""

import dataclasses

from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.jupyter.location import find_location
from ipyjaxbench.records import History, HistoryOptions, look


def fwhistory(magic: Invocation[HistoryOptions]) -> History | None:
    """Show what was measured before."""
    __tracebackhide__ = True
    options = dataclasses.replace(magic.options, text=magic.code.strip("'\""))
    result = look(options, find_location(magic.shell), magic.session.journal.trouble)
    return magic.present(result, as_json=options.json)
