"""``%trace_cached``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ipyjaxbench.jupyter.errors import one_line_errors
from ipyjaxbench.jupyter.invocation import Typed
from ipyjaxbench.jupyter.present import hand_over, screen_for

if TYPE_CHECKING:
    from ipyjaxbench.retracing.options import TraceOptions
    from ipyjaxbench.retracing.signatures import Signatures
    from ipyjaxbench.retracing.traces import Traces


def trace_cached(typed: Typed[TraceOptions]) -> Traces | Signatures | None:
    """Say of calls whether they were traced."""
    __tracebackhide__ = True
    with one_line_errors():
        chosen, asked, rest = typed.split()
        chosen.check(rest, typed.cell)
        if chosen.watch is not None:
            typed.session.settings.watch = chosen.watch == "on"
            return None
        screen = screen_for(typed, asked)
        with screen, screen.progress("running"):
            result, raised = _looked(typed, rest, chosen)
        shown = _form(result, chosen)
        return hand_over(typed, asked, result, screen, shown, raised, raw=chosen.json)  # type: ignore[no-any-return]


def _looked(
    typed: Typed[TraceOptions], rest: str, chosen: TraceOptions
) -> tuple[Traces | Signatures, BaseException | None]:
    """What was asked for, and what the code raised."""
    __tracebackhide__ = True
    from ipyjaxbench.retracing.observe import observe_code
    from ipyjaxbench.retracing.predict import predict_code
    from ipyjaxbench.retracing.signatures import Signatures
    from ipyjaxbench.retracing.trace_log import LEDGER

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
