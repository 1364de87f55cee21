"""Has engines run code, and merges which of its calls each of them traced."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ipyjaxbench.cluster import on_engine
from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.job_traces import JobTraces, RankTraces
from ipyjaxbench.cluster.members import Members
from ipyjaxbench.cluster.output import join_printed
from ipyjaxbench.errors import Interrupted
from ipyjaxbench.retracing import TraceOptions, Traces


def trace_on_engines(
    members: Members, code: str, options: TraceOptions, *, twice: bool = False
) -> tuple[JobTraces, str, BaseException | None]:
    """Run code on all engines at once, and return what each traced.

    Args:
        members: the engines.
        code: what each runs once, in its own names.
        options: what to report.
        twice: run the code a second time, to see what the first run left.

    Returns:
        The calls of all ranks; what was printed, with the ranks that printed it; and what ended the
        code early: a RankError that names the rank, or an interrupt.

    Raises:
        RankError: engines failed, and none of them has seen a call.
        KeyboardInterrupt: the user ended it before any call was seen.
    """
    __tracebackhide__ = True
    answers: Any
    raised: BaseException | None = None
    sent = (code, dataclasses.asdict(options), twice)
    try:
        answers = members.call(on_engine.trace_calls, *sent, meeting=False)
    except Interrupted as stopped:
        answers = stopped.result
        raised = KeyboardInterrupt(*stopped.args).with_traceback(stopped.__traceback__)
    except RankError as failed:
        answers, raised = failed.answers, failed
        if not any("traces" in answer for answer in answers):
            raise
    printed = join_printed(members.labels, [answer.get("printed", "") for answer in answers])
    return merge_traces(members, code, answers), printed, raised


def merge_traces(members: Members, code: str, answers: Sequence[Mapping[str, Any]]) -> JobTraces:
    """Merge what `trace_here` returned in each rank.

    Args:
        members: the ranks.
        code: what they ran.
        answers: of each rank, in order; without "traces" where it has none.
    """
    import msgspec

    ranks = []
    everyone = zip(members.labels, members.hosts, members.pids, answers, strict=True)
    for label, host, pid, answer in everyone:
        if "traces" in answer:
            ranks.append(RankTraces(label, host, pid, msgspec.convert(answer["traces"], Traces)))
        else:
            silent = answer.get("failure") or "was interrupted"
            ranks.append(RankTraces(label, host, pid, silent=silent))
    return JobTraces(code.strip(), tuple(ranks), members.job)
