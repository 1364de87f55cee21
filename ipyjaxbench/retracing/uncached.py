"""What became of a call that was not cached: why, what it printed, what would work."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.graphs import GraphTracer
from ipyjaxbench.retracing.cache_key import Change, Signature
from ipyjaxbench.retracing.causes import compare, is_same_trace
from ipyjaxbench.retracing.first_calls import DROPPED, UNSEEN, is_said_first
from ipyjaxbench.retracing.protocol import CallWatch, Outcome
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traces import COSTLY, TracedCall
from ipyjaxbench.usercode import Written


def add_reason(
    outcome: Outcome, framework: str, signature: Signature, watch: CallWatch, function: Any
) -> Outcome:
    """Return an outcome with why the call was not cached, against what was traced before.

    Args:
        outcome: of the call.
        framework: that made it.
        signature: of the call.
        watch: of the framework.
        function: that was called.
    """
    name = watch.name(function)
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
        may_be_another = not placed or watch.kept.may_be_unseen(function)
        if may_be_another and (outcome.known or state == "SLOW-PATH"):  # it had a program
            why = [*outcome.fallback_reasons] or [UNSEEN]
            why = ([] if placed else why_of_unseen(watch, function, signature)) or why
        elif state == "RECOMPILED":
            state = "COMPILED"
    if signature.function:  # what was called has traces of its own
        TRACE_LOG.add(framework, name, signature, why)
    return replace(outcome, state=state, why=tuple(why))


def why_of_unseen(watch: CallWatch, function: Any, signature: Signature) -> list[Change]:
    """Return in what a call differs from those of kept programs, whoever saw them traced.

    Args:
        watch: of the framework.
        function: that is called.
        signature: of the call.

    Returns:
        None of them where it differs in nothing, or no such program is known.
    """
    kept = [watch.signature(*call) for call in watch.kept.calls(function)]
    others = [each for each in kept if not is_same_trace(each, signature)]
    return compare(signature, others) if others else []


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
