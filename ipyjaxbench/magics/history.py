"""``%fwhistory``."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from ipyjaxbench.magics._errors import one_line_errors
from ipyjaxbench.magics._handover import hand_over, screen_for
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.magics._where import where

if TYPE_CHECKING:
    from ipyjaxbench.histories import History
    from ipyjaxbench.options import HistoryOptions


def fwhistory(typed: Typed[HistoryOptions]) -> History | None:
    """Show what was measured before."""
    __tracebackhide__ = True
    from ipyjaxbench.histories import look

    with one_line_errors():
        chosen, text = typed.split()
    chosen = dataclasses.replace(chosen, text=text.strip("'\""))
    result = look(chosen, where(typed.shell), typed.session.journal.trouble)
    shown: object = result
    if chosen.json:
        record = result.to_dict()
        shown = {"application/json": record, "text/plain": json.dumps(record, indent=1)}
    screen = screen_for(typed, chosen)
    return hand_over(  # type: ignore[no-any-return]
        typed, chosen, result, screen, shown, raw=chosen.json
    )
