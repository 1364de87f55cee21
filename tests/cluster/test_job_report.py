"""The report of a job: ranks that differ are named, and 1,000 ranks fit a screen."""

from dataclasses import replace
from typing import Any

import pytest

from ipyjaxbench.cluster.clock_offset import ClockOffset
from ipyjaxbench.cluster.job_measurement import JobMeasurement, RankMeasurement
from ipyjaxbench.cluster.rank_facts import RankFacts, facts_here
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.host import Conditions, Gpu
from ipyjaxbench.records import find_measurements
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import Measurement

_FACTS = RankFacts({"Python": "3.12.1", "jax": "0.10.2"}, {"jax cpu": 1}, 4, {"torch": 2}, "boot")


def _measured(milliseconds: float, **changes: object) -> Measurement:
    batches = ((1, round(milliseconds * 1e6)),) * 20
    plain = Measurement("step(x)", {"jax": "0.10.2"}, 0.1, {"compile": 0.08}, 1, 1, batches, (20,))
    return replace(plain, **changes)  # type: ignore[arg-type]


def _rank(number: int, measurement: Measurement, wait: float, **changes: object) -> RankMeasurement:
    plain = RankMeasurement(number, "node", 7, measurement, (wait,) * 20, (10**9,), (), _FACTS)
    return replace(plain, **changes)  # type: ignore[arg-type]


def _job(*ranks: RankMeasurement) -> JobMeasurement:
    return JobMeasurement("step(x)", ranks, "jax")


def words_of(job: JobMeasurement) -> str:
    return " ".join(str(job).split())


_GPU = Gpu("H100", 1980, 1980, ("idle",), ours=True)


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ({"model": "A"}, {"model": "B"}, "CPU models differ: A in rank 0, B in rank 1."),
        ({"gpus": (_GPU,)}, {"gpus": (replace(_GPU, name="A100"),)},
         "GPU models differ: H100 in rank 0, A100 in rank 1."),
        ({"gpus": (_GPU,)}, {"gpus": (replace(_GPU, clock=1200, reasons=("power cap",)),)},
         "GPU clocks differ: 1200 MHz in rank 1 (power cap), 1980 MHz in rank 0."),
        ({"gpus": (_GPU,)}, {"gpus": (replace(_GPU, clock=1965),)}, ""),  # as all the time
        ({"gpus": (_GPU,)}, {"gpus": (_GPU, replace(_GPU, clock=210, ours=False))}, ""),
        ({"gpus": (_GPU,)}, {"gpus": (_GPU, replace(_GPU, clock=210, ours=None))}, ""),
    ],
)  # fmt: skip
def test_machines_that_differ_are_a_note(one: Any, other: Any, words: str) -> None:
    ranks = (
        _rank(number, _measured(5, conditions=Conditions(1.0, 1.0, 4, 4, **own)), 0.0)
        for number, own in enumerate((one, other))
    )
    text = words_of(_job(*ranks))
    assert words in text
    assert ("differ" in text) is bool(words)


@pytest.mark.parametrize(("facts", "words"), [
    ({"versions": {"Python": "3.13.0", "jax": "0.10.2"}}, "Python differs: 3.12.1 in rank 0,"),
    ({"versions": {"Python": "3.12.1"}}, "jax differs: 0.10.2 in rank 0, none in rank 1."),
    ({"devices": {"jax cpu": 2}}, "jax cpu devices differ: 1 in rank 0, 2 in rank 1."),
    ({"cpus": 8}, "CPUs differ: 4 in rank 0, 8 in rank 1."),
    ({"threads": {"torch": 1}}, "threads of torch differ: 2 in rank 0, 1 in rank 1."),
    ({}, ""),
])  # fmt: skip
def test_what_a_rank_has_otherwise_is_a_note(facts: dict[str, object], words: str) -> None:
    other = replace(_FACTS, **facts)  # type: ignore[arg-type]
    text = words_of(_job(_rank(0, _measured(5), 0.0), _rank(1, _measured(5), 0.0, facts=other)))
    assert words in text
    assert ("differ" in text) is bool(words)


def test_the_verdict_is_the_weakest_of_all_ranks() -> None:
    few = replace(_measured(5), batches=((1, 5_000_000),) * 3, rounds=(3,))
    job = _job(_rank(0, _measured(5), 0.0), _rank(1, _measured(7), 0.0))
    assert job.verdict == "NOISY"
    # It is one measurement of the history, of so many ranks.
    assert [*find_measurements(job, "step")] == [("step", {"ranks": "2"}, job.ranks[1].measurement)]
    job = _job(_rank(0, _measured(5), 0.0), _rank(1, few, 0.0))
    assert job.verdict == "FEW"
    assert "FEW" in str(job).splitlines()[0]
    assert {*facts_here().versions} == {"Python", *(each.name for each in loaded()[0])}


def test_a_note_of_all_is_said_once_and_one_of_some_with_their_ranks() -> None:
    all_have, one_has = Note("a", "All wait for the disk."), Note("b", "This copies from the host.")
    own = _measured(5, notes=(all_have,))
    job = _job(_rank(0, own, 0.0), _rank(1, replace(own, notes=(all_have, one_has)), 0.0))
    text = str(job)
    assert text.count("All wait for the disk.") == 1
    assert "rank 1: This copies from the host." in text
    assert "rank 0: All" not in text
    warm = _measured(5, compilations=0)
    job = _job(_rank(0, warm, 0.0), _rank(1, warm, 0.0), _rank(2, _measured(5), 0.0))
    assert "rank 2 compiled in the first call, the others did not" in words_of(job)


def test_many_ranks_fit_a_screen_with_the_slowest_first() -> None:
    ranks = [_rank(n, _measured(5 + n % 7 / 100), 0.05 if n != 700 else 0.0) for n in range(1000)]
    ranks[700] = _rank(700, _measured(5.2), 0.0)
    lines = str(_job(*ranks)).splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    [first] = [place for place, line in enumerate(lines) if "the 12 slowest of 1,000 ranks" in line]
    assert "rank 700" in lines[first + 2]
    assert any("other 988" in line for line in lines)


def test_ranks_of_other_starts_of_a_system_share_no_clock() -> None:
    alike = _job(_rank(0, _measured(5), 0.0), _rank(1, _measured(5), 0.0, started=(10**9 + 5000,)))
    assert alike.skew == pytest.approx(5e-6)
    elsewhere = replace(alike.ranks[1], facts=replace(_FACTS, boot="other"))
    assert _job(alike.ranks[0], elsewhere).skew is None
    # 20 ms of the 20.005 ms are what their clocks differ.
    ahead = replace(
        elsewhere, started=(10**9 - 20_000_000 + 5000,), clock=ClockOffset(20_000_000, 1000)
    )
    assert _job(alike.ranks[0], ahead).skew == pytest.approx(5e-6)
    unsure = replace(ahead, clock=ClockOffset(20_000_000, 2000))
    assert _job(alike.ranks[0], unsure).skew is None
