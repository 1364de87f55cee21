"""Whether a trace is today's program, asked once for each of what its names stand for."""

from contextvars import copy_context
from functools import partial
from typing import Any

from ipyjaxbench.retracing.kept_trace import Trace
from ipyjaxbench.retracing.read_changes import changes_since
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traced_code import TracedCode
from ipyjaxbench.usercode import Reads


def is_another_program(
    trace: Trace, now: Reads, compiled: Any, *, if_unsure: bool | None = True
) -> bool | None:
    """Ask once for each of what the names stood for: it takes another trace.

    Where that would use something up, or act outside of the process, what was read decides.
    """
    if trace.code.is_dropped():  # the next call is traced
        return False
    key = key_of(trace, now) if if_unsure else hash((key_of(trace, now), if_unsure))
    if key not in trace.answers:
        with TRACE_LOG.paused():  # what it traces aside, no call of the user's traced
            TRACE_LOG.compared += 1
            ask_code = partial(trace.code.is_another_program, compiled, if_unsure=if_unsure)
            trace.answers[key] = if_unsure if now.side_effects else copy_context().run(ask_code)
    return trace.answers[key]


def is_another_for_call(trace: Trace, now: Reads, compiled: Any, code: TracedCode) -> bool:
    """Ask the same of a call with objects of its own; of the same objects the answer is known."""
    key = hash((key_of(trace, now), "call"))
    if key not in trace.answers:
        of_trace = trace.code.reads()
        trace.answers[key] = False
        if of_trace is None or key_of(trace, of_trace) == key_of(trace, now):
            return False
        with TRACE_LOG.paused():
            TRACE_LOG.compared += 1
            ask_code = partial(code.is_another_program, compiled, if_unsure=None)
            is_another = None if now.side_effects else copy_context().run(ask_code)
        trace.answers[key] = bool(is_another)
    return bool(trace.answers[key])


def is_unsure(trace: Trace, now: Reads) -> bool:
    """Whether something changed, and nothing told whether the program depends on it."""
    key = key_of(trace, now)
    is_unsure = None in (trace.answers.get(each, False) for each in (key, hash((key, None))))
    return is_unsure and any(changes_since(trace.name, trace.reads, now))


def key_of(trace: Trace, now: Reads) -> int:
    """Return what tells apart what all that a trace read may stand for."""
    values = ((path, now.values.get(path)) for path in {**trace.reads.values, **now.values})
    return hash((now.own, *((path, each and each.content) for path, each in values)))
