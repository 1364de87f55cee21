"""``%fwhistory``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.jupyter.location import where

if TYPE_CHECKING:
    from ipyjaxbench.records.history import History
    from ipyjaxbench.records.options import HistoryOptions


def fwhistory(magic: Invocation[HistoryOptions]) -> History | None:
    """Show what was measured before."""
    __tracebackhide__ = True
    from ipyjaxbench.records.query import look

    options = dataclasses.replace(magic.options, text=magic.code.strip("'\""))
    result = look(options, where(magic.shell), magic.session.journal.trouble)
    return magic.present(result, as_json=options.json)
