"""Ranks meet on the host: those who are missing or have failed are named, and nobody hangs."""

import time
from typing import Any, cast

import pytest

from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.join import join
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.host import Clock
from tests.cluster.threads import Memory, ThreadJob, run_ranks

_NO_FRAMEWORK = cast("Framework", None)  # a rendezvous hands it on only


def meet(job: ThreadJob, messages: list[str], seconds: float = 10) -> list[Any]:
    rendezvous = Rendezvous(job, _NO_FRAMEWORK, "run", seconds, Clock.elapsed())
    with rendezvous.taking_part():
        if rendezvous.leads:
            for message in messages:
                rendezvous.release(message)
            return messages
        return [rendezvous.follow() for _ in messages]


def test_all_ranks_go_on_with_what_rank_0_says() -> None:
    assert run_ranks(4, lambda job: meet(job, ["a", "b", "c"])) == [["a", "b", "c"]] * 4


def test_nobody_goes_on_before_the_last_one_is_there() -> None:
    arrived: list[int] = []
    known: dict[int, list[int]] = {}

    def work(job: ThreadJob) -> None:
        arrived.append(job.rank)
        meet(job, ["go"])
        known[job.rank] = [*arrived]

    run_ranks(3, work, late={2: 0.3})
    assert all(2 in ranks for ranks in known.values())
    assert known.keys() == {0, 1, 2}


def test_a_rank_that_does_not_come_is_named_to_all_the_others() -> None:
    outcomes = run_ranks(4, lambda job: meet(job, ["go"], seconds=0.5), late={2: 7})
    for outcome in (outcomes[0], outcomes[1], outcomes[3]):
        assert isinstance(outcome, RankError)
        assert str(outcome).startswith("rank 2 (no answer) did not arrive within 0.5 s.")


def wait_long() -> None:
    time.sleep(3)


def test_it_is_said_in_which_line_a_missing_rank_is() -> None:
    def work(job: ThreadJob) -> None:
        rendezvous = Rendezvous(job, _NO_FRAMEWORK, "run", 1, Clock.elapsed())
        with rendezvous.taking_part():
            if rendezvous.leads:
                rendezvous.release("go")
            elif job.rank == 1:
                wait_long()
            else:
                rendezvous.follow()

    outcome = run_ranks(3, work)[0]
    assert isinstance(outcome, RankError)
    line = wait_long.__code__.co_firstlineno + 1
    assert f"rank 1 (test_rendezvous.py:{line} in wait_long)" in str(outcome)


def test_what_one_rank_raised_is_told_to_all() -> None:
    def work(job: ThreadJob) -> None:
        rendezvous = Rendezvous(job, _NO_FRAMEWORK, "run", 10, Clock.elapsed())
        if job.rank == 2:
            rendezvous.fail("ValueError: no data")
        elif rendezvous.leads:
            rendezvous.release("go")
        else:
            rendezvous.follow()

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

    assert run_ranks(3, work, late={0: 0.2})[1:] == [["first", "second", "third"]] * 2


@pytest.mark.parametrize("late", [0.0, 1.5])
def test_who_missed_a_run_takes_part_in_the_next_one(late: float) -> None:
    memory = Memory()

    def first(job: ThreadJob) -> None:
        with join(_NO_FRAMEWORK, job, 0.3, Clock.elapsed()) as rendezvous:
            if rendezvous.leads:
                rendezvous.release("first")

    def second(job: ThreadJob) -> Any:
        with join(_NO_FRAMEWORK, job, 10, Clock.elapsed()) as rendezvous:
            return rendezvous.release("second") if rendezvous.leads else rendezvous.follow()

    assert isinstance(first_of(first, ThreadJob(memory, 0, 2)), RankError)
    assert run_ranks(2, second, late={0: late}, memory=memory)[1] == "second"


def first_of(work: Any, job: ThreadJob) -> Exception | None:
    try:
        work(job)
    except RankError as error:
        return error
    return None
