"""Ranks meet on the host: those who are missing or have failed are named, and nobody hangs."""

import socket
import threading
from typing import Any, cast

import pytest

from ipyjaxbench.cluster import rendezvous as module
from ipyjaxbench.cluster.agree import agree, facts_of
from ipyjaxbench.cluster.clock_offset import ClockOffset, compare_clocks, estimate
from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.join import join
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.host import Clock
from ipyjaxbench.timing import TimeOptions
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.cluster.threads import Memory, ThreadJob, run_ranks
from tests.waiting import wait_until

_NO_FRAMEWORK = cast("Framework", None)  # a rendezvous hands it on only
_HOUR = 3600 * 10**9


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing ranks are asked for less time, and more often."""
    monkeypatch.setattr(module, "_ANSWER_NS", 300_000_000)
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.01)


def met(job: ThreadJob, seconds: float = 10, clock: Clock | None = None) -> Rendezvous:
    return Rendezvous(job, _NO_FRAMEWORK, "run", seconds, clock or Clock.elapsed())


def meet(job: ThreadJob, messages: list[str], seconds: float = 10) -> list[Any]:
    rendezvous = met(job, seconds)
    with rendezvous.taking_part():
        if rendezvous.leads:
            for message in messages:
                rendezvous.release(message)
            return messages
        return [rendezvous.follow() for _ in messages]


def take_part(job: ThreadJob, seconds: float = 10, message: str = "") -> Any:
    """Take part in the next measurement of a job."""
    with join(_NO_FRAMEWORK, job, seconds, Clock.elapsed()) as rendezvous:
        return rendezvous.release(message) if rendezvous.leads else rendezvous.follow()


def test_all_ranks_go_on_with_what_rank_0_says() -> None:
    assert run_ranks(4, lambda job: meet(job, ["a", "b", "c"])) == [["a", "b", "c"]] * 4


def test_nobody_goes_on_before_the_last_one_is_there() -> None:
    memory, gone = Memory(), threading.Event()

    def work(job: ThreadJob) -> bool:
        if job.rank == 2:
            wait_until(lambda: {*memory.values} >= {"ipyjaxbench/run/here/0/1"})
            return gone.wait(0.1)
        meet(job, ["go"], seconds=0.3)
        gone.set()
        return True

    assert run_ranks(3, work, memory=memory)[2] is False


def test_a_rank_that_does_not_come_is_named_to_all_the_others() -> None:
    outcomes = run_ranks(4, lambda job: meet(job, ["go"], seconds=0.1), absent=2)
    for outcome in (outcomes[0], outcomes[1], outcomes[3]):
        assert isinstance(outcome, RankError)
        assert str(outcome).startswith("rank 2 (no answer) did not arrive within 0.1 s.")
    _, outcome = run_ranks(2, lambda job: take_part(job, 0.1), absent=0)
    assert isinstance(outcome, RankError)
    assert str(outcome).startswith("rank 0 did not arrive within 0.1 s. All ranks must run the")


def wait_long(until: threading.Event) -> None:
    until.wait(60)


def test_it_is_said_in_which_line_a_missing_rank_is() -> None:
    told = threading.Event()

    def work(job: ThreadJob) -> None:
        rendezvous = met(job, 0.3)
        with rendezvous.taking_part():
            if job.rank == 1:
                wait_long(told)
            elif not rendezvous.leads:
                rendezvous.follow()
            else:
                try:
                    rendezvous.release("go")
                finally:
                    told.set()

    outcome = run_ranks(3, work)[0]
    assert isinstance(outcome, RankError)
    line = wait_long.__code__.co_firstlineno + 1
    where = f"on {socket.gethostname()}, test_rendezvous.py:{line} in wait_long"
    assert str(outcome).startswith(f"rank 1 ({where}) did not arrive within 0.3 s.")


def test_the_host_of_a_rank_that_cannot_answer_any_more_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_ANSWER_NS", 0)
    gone = threading.Event()

    def work(job: ThreadJob) -> None:
        one = met(job, 0.1)
        if job.rank == 1:
            with one.taking_part():
                gone.set()
        else:
            gone.wait(60)
            one.release("go")

    outcome = run_ranks(2, work)[0]
    assert str(outcome).startswith(f"rank 1 (on {socket.gethostname()}, no answer) did not arrive")


def test_what_one_rank_raised_is_told_to_all() -> None:
    def work(job: ThreadJob) -> None:
        if job.rank == 2:
            met(job).fail("ValueError: no data")
        else:
            meet(job, ["go"])

    outcomes = run_ranks(3, work)
    assert [str(outcome) for outcome in outcomes[:2]] == ["rank 2 raised ValueError: no data"] * 2


def test_each_measurement_is_a_run_of_its_own() -> None:
    messages = ("first", "second", "third")
    outcomes = run_ranks(3, lambda job: [take_part(job, message=each) for each in messages])
    assert outcomes[1:] == [[*messages]] * 2


def test_who_missed_a_run_takes_part_in_the_next_one() -> None:
    memory = Memory()
    with pytest.raises(RankError):
        take_part(ThreadJob(memory, 0, 2), 0.1)
    assert run_ranks(2, lambda job: take_part(job, message="on"), memory=memory)[1] == "on"


def facts(
    code: str, *, setup: str = "", defined: tuple[str, ...] = ("step", "x"), **options: Any
) -> dict[str, Any]:
    """What a rank is about to do."""
    names = dict.fromkeys(defined, len)
    before = Snippet(Source.plain(setup), names) if setup else None
    return facts_of(Snippet(Source.plain(code), names), TimeOptions(**options), before)


STEP = facts("step(x)")


@pytest.mark.parametrize(
    ("of_ranks", "told"),
    [
        ((STEP, STEP), ""),
        ((facts("step(y) if x else x", defined=("x",)),) * 2, ""),  # which may not be read
        ((facts("y = x\nstep(y)"), facts("y = x\nstep(y)")), ""),
        ((STEP, facts("step(x)", defined=("x",))), "name 'step' is not defined in rank 1"),
        ((facts("step(x)", defined=("step",)), STEP), "name 'x' is not defined in rank 0"),
        ((STEP, facts("step(x); 1")),
         "rank 1 has other code than rank 0: 'step(x); 1', not 'step(x)'"),
        ((facts("step(x)", number=5, repeat=3), facts("step(x)", number=6, repeat=3)),
         "rank 1 has other options than rank 0: "),
        ((facts("step(x)", setup="y = 0"), facts("step(x)", setup="y = 1")),
         "rank 1 has other setup than rank 0: 'y = 1', not 'y = 0'"),
    ],
)  # fmt: skip
def test_what_is_not_the_same_in_all_ranks_is_refused_in_all_of_them(
    of_ranks: tuple[dict[str, Any], ...], told: str
) -> None:
    for outcome in run_ranks(2, lambda job: agree(met(job), of_ranks[job.rank])):
        assert isinstance(outcome, RankError) is bool(told)
        assert str(outcome or "").startswith(told)


# Clocks of hosts: how far they are apart, and how sure that is


def _shifted(ahead: int) -> Clock:
    """Return the clock of another host."""
    here = Clock.elapsed()
    return Clock(here.now, lambda: here.wall() + ahead, here.sleep)


@pytest.mark.parametrize("there", [100, 4000])
@pytest.mark.parametrize("back", [100, 9000])
def test_the_offset_is_right_within_its_error(there: int, back: int) -> None:
    ahead = 123_456_789
    found = estimate([(1000, 1000 + ahead + there, 1050 + ahead + there, 1050 + there + back)])
    assert abs(found.offset - ahead) <= found.error == (there + back) // 2
    slow, fast = (0, 900, 900, 1000), (0, 510, 510, 20)
    assert estimate([slow, fast, slow]) == ClockOffset(500, 10)  # of the least delay
    drifted = ClockOffset(100, 10).between(ClockOffset(140, 5))
    assert drifted == ClockOffset(120, 30)  # which is an error


def test_one_rank_of_each_other_host_knows_its_offset() -> None:
    boots, ahead = ("a", "b", "a", "b", "c"), (0, -_HOUR, 0, -_HOUR, _HOUR)

    def work(job: ThreadJob) -> ClockOffset | None:
        here = met(job, clock=_shifted(ahead[job.rank]))
        return compare_clocks(here, boots[job.rank], "before")

    first, second, third, fourth, fifth = run_ranks(5, work)
    assert (first, third, fourth) == (None, None, None)
    for found, offset in ((second, _HOUR), (fifth, -_HOUR)):
        assert abs(found.offset - offset) <= found.error < 10**9
