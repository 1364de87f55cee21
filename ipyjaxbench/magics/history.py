"""``%fwhistory``."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from IPython.core.magic import line_magic, magics_class, no_var_expand

from ipyjaxbench.commands import HISTORY
from ipyjaxbench.magics._errors import one_line_errors
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.magics._verb import Verb, hand_over
from ipyjaxbench.magics._where import where

if TYPE_CHECKING:
    from ipyjaxbench.histories import History


@magics_class
class FwHistory(Verb):
    """Shows what was measured before."""

    commands = (HISTORY,)

    @no_var_expand
    @line_magic
    def fwhistory(self, line: str) -> History | None:
        __tracebackhide__ = True
        from ipyjaxbench.histories import look

        typed = Typed.of(self.shell, line, None, None)
        with one_line_errors():
            chosen, text = self.split(HISTORY, line)
        chosen = dataclasses.replace(chosen, text=text.strip("'\""))
        result = look(chosen, where(self.shell), self.session.journal.trouble)
        shown: object = result
        if chosen.json:
            record = result.to_dict()
            shown = {"application/json": record, "text/plain": json.dumps(record, indent=1)}
        screen = self.screen(typed, chosen)
        return hand_over(  # type: ignore[no-any-return]
            typed, chosen, result, screen, shown, raw=chosen.json
        )
