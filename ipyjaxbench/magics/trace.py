"""``%trace_cached``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from IPython.core.magic import (
    line_cell_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)

from ipyjaxbench.commands import TRACE
from ipyjaxbench.magics._errors import one_line_errors
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.magics._verb import Verb, hand_over
from ipyjaxbench.options import TraceOptions
from ipyjaxbench.snippet import Namespace

if TYPE_CHECKING:
    from ipyjaxbench.signatures import Signatures
    from ipyjaxbench.traces import Traces


@magics_class
class TraceCached(Verb):
    """Says of calls whether they were traced."""

    commands = (TRACE,)

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def trace_cached(
        self, line: str, cell: str | None = None, local_ns: Namespace | None = None
    ) -> Any:
        __tracebackhide__ = True
        return Typed.of(self.shell, line, cell, local_ns).done(TRACE, self._look)

    def _look(self, typed: Typed) -> Traces | Signatures | None:
        __tracebackhide__ = True
        with one_line_errors():
            chosen, rest = self.split(TRACE, typed.line)
            chosen.check(rest, typed.cell)
            if chosen.watch is not None:
                self.session.settings.watch = chosen.watch == "on"
                return None
            screen = self.screen(typed, chosen)
            with screen, screen.progress("running"):
                result, raised = _looked(typed, rest, chosen)
            shown = _form(result, chosen)
            returned = hand_over(typed, chosen, result, screen, shown, raw=chosen.json)
            if raised is not None:
                raise raised
        return returned  # type: ignore[no-any-return]


def _looked(
    typed: Typed, rest: str, chosen: TraceOptions
) -> tuple[Traces | Signatures, BaseException | None]:
    """What was asked for, and what the code raised."""
    __tracebackhide__ = True
    from ipyjaxbench.ledger import LEDGER
    from ipyjaxbench.observing import observe_code, predict_code
    from ipyjaxbench.signatures import Signatures

    if chosen.history:
        return Signatures.of(LEDGER, rest), None
    source = typed.source(typed.body(rest))
    if chosen.predict:
        return predict_code(source, typed.names), None
    return observe_code(source, typed.names, chosen, twice=typed.cell is None)


def _form(result: Traces | Signatures, chosen: TraceOptions) -> object:
    """What is displayed: the report, or the record as JSON."""
    if not chosen.json:
        return result
    record = result.to_dict()
    return {"application/json": record, "text/plain": json.dumps(record, indent=1)}
