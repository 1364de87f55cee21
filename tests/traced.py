"""Provoked traces with the verdict and the reason that are known to be right; counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.retracing.observe import observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traces import TracedCall, Traces
from ipyjaxbench.usercode.snippet import Source
from tests.shell import Shell

#: Magics that trace a call of what was called before, or might.
LOOKS = (
    *("%fwtime -q -n 1 -r 2 --fresh 2 {}", "%fwtime -q -n 1 -r 2 --fresh --passes {}"),
    *("%fwtime -q -n 1 -r 2 --ops --memory {}", "%fwtime -q -n 1 -r 2 --name before {}"),
    *("%fwtime -q -n 1 -r 2 --against before {}", "%%fwcompare -q -n 1 -r 2\na: {0}\nb: {0}"),
    *("%jaxpr -q {}", "%jaxpr -q --stats {}", "%trace_cached --predict {}"),
)


@dataclass(frozen=True)
class Provoked:
    """A cell whose last call of a compiled function has a known fate.

    Attributes:
        code: the cell.
        state: the verdict of the last call.
        kind: of the change that is its reason; empty where there is none.
        words: that the reason has in it.
    """

    code: str
    state: str
    kind: str = ""
    words: str = ""


def observed(code: str, names: dict[str, Any], **options: Any) -> Traces:
    """What is seen of a cell that runs to its end."""
    found, error = observe_code(Source.plain(code), names, TraceOptions(**options))
    if error is not None:
        raise error
    return found


def judged(cases: Sequence[Provoked], start: Any) -> tuple[list[str], list[str], int]:
    """Run all cases, each from a new start.

    Args:
        cases: to provoke.
        start: gives the names in which a case runs.

    Returns:
        The wrong verdicts, the wrong reasons, and how many reasons are not known ("?").
    """
    verdicts, reasons, unknown = [], [], 0
    for case in cases:
        last = observed(case.code, start()).calls[-1]
        if last.state != case.state:
            verdicts.append(f"{case.code!r}: {last.state}, not {case.state}")
        elif case.kind and not last.why:
            unknown += 1
        elif not _is_right(last, case):
            told = "; ".join(f"{change.kind}: {change.words()}" for change in last.why)
            reasons.append(f"{case.code!r}: {told!r}, not {case.kind}: {case.words!r}")
    return verdicts, reasons, unknown


def _is_right(call: TracedCall, case: Provoked) -> bool:
    if not case.kind:
        return not call.why
    return any(c.kind == case.kind and case.words in c.words() for c in call.why)


def logged_by_looks(shell: Shell, call: str) -> list[str]:
    """Return the magics after which the log of traces is another one than before."""

    def log() -> tuple[object, ...]:
        known = {each: TRACE_LOG.signatures(*each) for each in TRACE_LOG.functions()}
        traces = [(each.name, each.signature, id(each.reads)) for each in TRACE_LOG.all_traces()]
        return TRACE_LOG.event_count, known, traces

    found = []
    for look in LOOKS:
        before = log()
        shell.run(look.format(call))
        if log() != before:
            found.append(look)
    return found
