"""Ranks meet on the host: those who are missing or have failed are named, and nobody hangs."""

import threading
from contextlib import suppress
from typing import Any, cast

import pytest

from ipyjaxbench.cluster import rendezvous as module
from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.join import join
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.host import Clock
from tests.cluster.threads import Memory, ThreadJob, run_ranks
from tests.waiting import wait_until

_NO_FRAMEWORK = cast("Framework", None)  # a rendezvous hands it on only


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing ranks are asked for less time, and more often."""
    monkeypatch.setattr(module, "_ANSWER_NS", 300_000_000)
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.01)


def met(job: ThreadJob, seconds: float = 10) -> Rendezvous:
    return Rendezvous(job, _NO_FRAMEWORK, "run", seconds, Clock.elapsed())


def meet(job: ThreadJob, messages: list[str], seconds: float = 10) -> list[Any]:
    rendezvous = met(job, seconds)
    with rendezvous.taking_part():
        if rendezvous.leads:
            for message in messages:
                rendezvous.release(message)
            return messages
        return [rendezvous.follow() for _ in messages]


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
    assert f"rank 1 (test_rendezvous.py:{line} in wait_long)" in str(outcome)


def test_what_one_rank_raised_is_told_to_all() -> None:
    def work(job: ThreadJob) -> None:
        if job.rank == 2:
            met(job).fail("ValueError: no data")
        else:
            meet(job, ["go"])

    outcomes = run_ranks(3, work)
    assert [str(outcome) for outcome in outcomes[:2]] == ["rank 2 raised ValueError: no data"] * 2


def test_each_measurement_is_a_run_of_its_own() -> None:
    def work(job: ThreadJob) -> list[list[Any]]:
        seen = []
        for message in ("first", "second", "third"):
            with join(_NO_FRAMEWORK, job, 10, Clock.elapsed()) as rendezvous:
                if rendezvous.leads:
                    rendezvous.release(message)
                else:
                    seen.append(rendezvous.follow())
        return seen

    assert run_ranks(3, work)[1:] == [["first", "second", "third"]] * 2


def test_who_missed_a_run_takes_part_in_the_next_one() -> None:
    memory = Memory()

    def take_part(job: ThreadJob, seconds: float = 10) -> Any:
        with join(_NO_FRAMEWORK, job, seconds, Clock.elapsed()) as rendezvous:
            return rendezvous.release("second") if rendezvous.leads else rendezvous.follow()

    with suppress(RankError):
        take_part(ThreadJob(memory, 0, 2), 0.1)
        pytest.fail("nobody came")
    assert run_ranks(2, take_part, memory=memory)[1] == "second"
