"""What became of a call that was not cached: why, what it printed, what would work."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.graphs import GraphTracer
from ipyjaxbench.retracing.cache_key import Signature
from ipyjaxbench.retracing.causes import compare, is_same_trace
from ipyjaxbench.retracing.first_calls import DROPPED, UNSEEN, is_said_first
from ipyjaxbench.retracing.protocol import CallWatch, Outcome
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traces import COSTLY, TracedCall
from ipyjaxbench.usercode import Written


def add_reason(
    outcome: Outcome,
    framework: str,
    name: str,
    signature: Signature,
    kept: Callable[[], Iterable[Signature]],
) -> Outcome:
    """Return an outcome with why the call was not cached, against what was traced before.

    Args:
        outcome: of the call.
        framework: that made it.
        name: of the function.
        signature: of the call.
        kept: gives those that the framework keeps programs for, whoever saw them traced.
    """
    is_unclear = outcome.may_be_found and outcome.state == "TRACED"
    if is_unclear and TRACE_LOG.keeps(framework, name, signature):
        is_compiled = outcome.phases.keys() != {"trace"}
        outcome = replace(outcome, state="RECOMPILED" if is_compiled else "SLOW-PATH")
    placed = outcome.state in ("RECOMPILED", "SLOW-PATH")
    if outcome.cleared:
        TRACE_LOG.drop(framework, name, signature.function)
    why = [*outcome.why] or TRACE_LOG.reasons(
        framework, name, signature, placed=placed, accepted=outcome.accepted,
        beside=outcome.beside,
    )  # fmt: skip
    is_sure = outcome.known is False or TRACE_LOG.is_dropped(signature)
    if not why or (why == [DROPPED] and not is_sure):
        why = [*outcome.fallback_reasons] or why
    state = outcome.state
    if is_said_first(why):
        may_be_another = outcome.unseen or not placed
        if may_be_another and (outcome.known or state == "SLOW-PATH"):  # it had a program
            why = [*outcome.fallback_reasons] or [UNSEEN]
            others = [] if placed else [e for e in kept() if not is_same_trace(e, signature)]
            why = compare(signature, others) if others else why
        elif state == "RECOMPILED":
            state = "COMPILED"
    if signature.function:  # what was called has traces of its own
        TRACE_LOG.add(framework, name, signature, why)
    return replace(outcome, state=state, why=tuple(why))


def printed_by_tracing(
    written: Sequence[Written], outcome: Outcome | None, watch: CallWatch
) -> str:
    """Return what was printed while something was traced, and not while it ran."""
    if outcome is None or outcome.state not in COSTLY or not watch.prints_while_tracing:
        return ""
    until = math.inf if outcome.traced_until is None else outcome.traced_until
    texts = (text for when, text in written if when <= until)
    return "".join(text for text in texts if not any(part in text for part in watch.messages))


def explain_error(call: TracedCall, framework: Framework, error: BaseException) -> TracedCall:
    """Return a call with why it raised an error, and what to write instead."""
    try:
        diagnosis = framework.capability(GraphTracer).explain(error)
    except CODE_ERRORS:  # the user's own error is raised
        diagnosis = None
    if diagnosis is None:
        return call
    fixes = tuple(fix.code for fix in diagnosis.fixes)
    return replace(call, says=f"{call.says}: {diagnosis.because}", fixes=fixes or call.fixes)
