"""Times a snippet in all processes of a job at once; each runs this function."""

import os
import socket
from dataclasses import replace

from ipyjaxbench.cluster.agree import agree, facts_of
from ipyjaxbench.cluster.clock_offset import compare_clocks
from ipyjaxbench.cluster.exchange import add_peaks
from ipyjaxbench.cluster.job_measurement import JobMeasurement, RankMeasurement
from ipyjaxbench.cluster.lockstep import Follow, Lead, Stopped
from ipyjaxbench.cluster.network_store import find_network
from ipyjaxbench.cluster.profile_collectives import CollectivePass, profile_collectives
from ipyjaxbench.cluster.rank_facts import facts_here
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.errors import Interrupted, SnippetError
from ipyjaxbench.frameworks import Coordination, Framework
from ipyjaxbench.timing import (
    LaterCalls,
    OnProgress,
    Session,
    Steady,
    TimeOptions,
    ignore_progress,
    make_first_call,
    make_steady,
    open_session,
    plan_calls,
    put_back,
    review,
    summarize,
)
from ipyjaxbench.usercode import Muted, Snippet

_STILL_RUNS = (
    "the code returns a collective that still runs (async_op=True). Call .wait() on it in the code"
)


def measure_rank(
    snippet: Snippet,
    options: TimeOptions,
    rendezvous: Rendezvous,
    *,
    setup: Snippet | None = None,
    muted: Muted | None = None,
    on_progress: OnProgress = ignore_progress,
) -> JobMeasurement | None:
    """Time a snippet in step with the other ranks; ``setup`` runs in each, untimed, as ever.

    Returns:
        In rank 0, what all ranks measured; None in the others.

    Raises:
        Interrupted: the user ended later calls; in rank 0 it holds what was measured until then.
        RankError: a rank did not come, or its code failed.
        BaseException: whatever this rank's first call raised.
    """
    __tracebackhide__ = True
    agree(rendezvous, facts_of(snippet, options, setup))
    role = Lead(rendezvous) if rendezvous.leads else Follow(rendezvous)
    facts = facts_here()
    before = compare_clocks(rendezvous, facts.boot, "before")
    session = open_session(snippet, options, setup=setup, muted=muted)
    with session.watching, rendezvous.taking_part():
        try:
            later, steady, seen, advanced = _run(session, role, rendezvous.framework, on_progress)
        except Stopped as stopped:
            raise stopped.error from None
        notes = review(later, steady, advanced)
    after = compare_clocks(rendezvous, facts.boot, "after")
    starts = [rendezvous.meetings[step].left for step in role.samples]
    measured = RankMeasurement(
        rendezvous.job.rank,
        socket.gethostname(),
        os.getpid(),
        summarize(later, steady, notes),
        seen.seconds,
        tuple(starts),
        seen.exchanged,
        facts,
        before.between(after) if before is not None and after is not None else None,
        seen.unknown,
    )
    found = _gather(snippet.text, measured, rendezvous)
    if session.calls.interrupt is not None:
        raise Interrupted(found, session.calls.interrupt) from None
    return found


def _gather(code: str, own: RankMeasurement, rendezvous: Rendezvous) -> JobMeasurement | None:
    """Hand over what this rank measured; return all of it in rank 0."""
    import msgspec

    if not rendezvous.leads:
        rendezvous.write(f"measured/{own.rank}", msgspec.to_builtins(own))
        return None
    others = [
        msgspec.convert(rendezvous.read(f"measured/{rank}", rank), RankMeasurement)
        for rank in range(1, rendezvous.job.size)
    ]
    hosts = tuple(each.host for each in (own, *others))
    peaks = find_network(rendezvous.framework, hosts) if own.exchanged else None
    own = replace(own, exchanged=add_peaks(own.exchanged, peaks))
    return JobMeasurement(code, (own, *others), rendezvous.framework.name)


def _run(
    session: Session, role: Lead | Follow, framework: Framework, on_progress: OnProgress
) -> tuple[LaterCalls, Steady, CollectivePass, list[str]]:
    """Make all calls in step; return what they showed, and names that could not be put back."""
    __tracebackhide__ = True
    try:
        role.begin(session.calls)
        first = make_first_call(session)
        if framework.capability(Coordination).wait_for_collectives(first.call.value):
            raise SnippetError(_STILL_RUNS)
        later = plan_calls(session, first)
        steady = make_steady(later, on_progress)

        def profile(number: int) -> CollectivePass:
            __tracebackhide__ = True
            return profile_collectives(framework, session.calls, number)

        try:
            with session.muted:
                seen = role.run(later, steady, profile)
            role.end()
        finally:
            advanced = put_back(later)
    except BaseException as error:
        role.fail(error)
        raise
    return later, steady, seen, advanced
