"""Engines of several jobs are told apart; those of each are measured together."""

from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.cluster import RankError, dispatch, members
from ipyjaxbench.cluster.dispatch import Answer
from ipyjaxbench.cluster.join import name_of
from ipyjaxbench.cluster.members import Members
from ipyjaxbench.cluster.output import join_printed
from tests.cluster.scripted_engines import ScriptedEngines
from tests.cluster.threads import run_ranks

DIED, STOPPED, RAISED = (Answer(failure=f) for f in ("died", "was interrupted", "raised E"))
STUCK = Answer(failure="is still in its call")
OTHER = " of different jobs. Choose all ranks of one job."


def found(*ranks: tuple[str, int, int]) -> Members:
    """Engines that say of which job they are, which rank, and of how many."""
    facts: list[dict[str, Any]] = [
        {"job": job, "rank": rank, "size": size, "host": "a", "pid": n}
        for n, (job, rank, size) in enumerate(ranks)
    ]
    return members._sorted(facts, ScriptedEngines(len(ranks)))


def test_ranks_of_a_job_come_in_order_and_others_as_they_are() -> None:
    job = found(("jax", 1, 2), ("jax", 0, 2))
    assert (job.job, job.labels, job.pids) == ("jax", ("rank 0", "rank 1"), (1, 0))
    assert job.engines.labels == ("engine 1", "engine 0")
    alone = found(("", 0, 1), ("", 0, 1))
    assert (alone.job, alone.labels, alone.first(1).pids) == ("", ("engine 0", "engine 1"), (0,))


@pytest.mark.parametrize(("ranks", "told"), [
    ([("jax", 0, 2), ("", 0, 1)], "engine 0 is one of many in jax, engine 1 is alone. Choose"),
    ([("", 0, 1), ("jax", 0, 2)], "engine 0 is alone, engine 1 is one of many in jax. Choose"),
    ([("jax", 0, 2), ("jax", 0, 2)], f"two engines are rank 0{OTHER}"),
    ([("jax", 1, 3), ("jax", 0, 3)], "the job has 3 ranks, and rank 2 is not among these"),
])  # fmt: skip
def test_only_all_ranks_of_one_job_are_measured_together(ranks: Any, told: str) -> None:
    with pytest.raises(RankError) as raised:
        found(*ranks)
    assert str(raised.value).startswith(told)


ZERO, ONE = "rank 0 (engine 0 on a)", "rank 1 (engine 1 on a)"


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ({1: DIED}, f"{ONE} died."),
        ({1: DIED, 0: DIED}, f"{ZERO}, {ONE} died."),
        ({1: RAISED, 0: STOPPED}, f"{ONE} raised E."),  # interrupted since the other had failed
        ({1: RAISED, 0: STUCK}, f"{ONE} raised E. {ZERO} is still in its call."),
        ({0: STOPPED}, f"{ZERO} was interrupted."),
        ({1: Answer({"names_rank": True}, "rank 0 raised E"), 0: RAISED}, f"{ZERO} raised E."),
        ({1: Answer({"names_rank": True}, "rank 2 is lost")}, "rank 2 is lost"),
    ],
)
def test_what_failed_first_is_told_with_its_ranks(answers: dict[int, Answer], told: str) -> None:
    with pytest.raises(RankError) as raised:
        found(("jax", 0, 2), ("jax", 1, 2))._refuse_failures(answers)
    assert str(raised.value) == told


def test_of_many_that_fail_three_are_named() -> None:
    five = found(*[("", 0, 1)] * 5)
    with pytest.raises(RankError, match=r"^engine 0 \(on a\), engine 1 .*\) and 2 others died\.$"):
        five._refuse_failures(dict.fromkeys(range(5), DIED))


def test_what_ranks_print_is_told_once_with_their_names() -> None:
    labels = ("rank 0", "rank 1", "rank 2")
    assert join_printed(labels, ("a\n", "b", "a\n")) == "[rank 0,2]\na\n[rank 1]\nb\n"
    assert join_printed(labels, ("", "", "")) == ""


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("one", ""),
        ("other", "engine 1 is rank 1 of another job than engine 0. Choose all ranks of one job."),
        (ValueError("no"), "engine 1 raised ValueError: no. Choose all ranks of one job."),
    ],
)
def test_jobs_of_one_framework_are_told_apart_by_their_names(
    monkeypatch: pytest.MonkeyPatch, second: Any, told: str
) -> None:
    engines = ScriptedEngines()
    monkeypatch.setattr(dispatch, "Clock", SimpleNamespace(elapsed=lambda: engines.clock))
    engines.answers(0, 0, "one")
    engines.answers(0, 1, second)
    raised = ""
    try:
        members._refuse_other_jobs(engines, 5)
    except RankError as error:
        raised = str(error)
    assert raised == told


def test_all_ranks_of_a_job_call_it_by_one_name_that_no_other_job_has() -> None:
    names = [{*run_ranks(3, name_of)} for _ in range(2)]
    assert [len(each) for each in names] == [1, 1]
    assert names[0] != names[1]
    assert "" not in names[0] | names[1]
