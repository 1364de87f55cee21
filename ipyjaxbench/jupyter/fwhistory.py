"""``%fwhistory``."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from ipyjaxbench.jupyter.errors import one_line_errors
from ipyjaxbench.jupyter.invocation import Typed
from ipyjaxbench.jupyter.location import where
from ipyjaxbench.jupyter.present import hand_over, screen_for

if TYPE_CHECKING:
    from ipyjaxbench.records.history import History
    from ipyjaxbench.records.options import HistoryOptions


def fwhistory(typed: Typed[HistoryOptions]) -> History | None:
    """Show what was measured before."""
    __tracebackhide__ = True
    from ipyjaxbench.records.query import look

    with one_line_errors():
        chosen, asked, text = typed.split()
    chosen = dataclasses.replace(chosen, text=text.strip("'\""))
    result = look(chosen, where(typed.shell), typed.session.journal.trouble)
    shown: object = result
    if chosen.json:
        record = result.to_dict()
        shown = {"application/json": record, "text/plain": json.dumps(record, indent=1)}
    screen = screen_for(typed, asked)
    return hand_over(  # type: ignore[no-any-return]
        typed, asked, result, screen, shown, raw=chosen.json
    )
