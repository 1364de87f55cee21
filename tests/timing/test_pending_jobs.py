"""Jobs that timed code gives to others: a few, which are ended."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from typing import Any

import pytest

import ipyjaxbench


class Pool:
    """A pool of one thread, whose jobs wait until they may go on."""

    def __init__(self) -> None:
        self.gate, self.begun = threading.Event(), 0
        self.executor = ThreadPoolExecutor(1)

    def job(self) -> None:
        self.begun += 1
        self.gate.wait(60)

    def submit(self) -> "Future[None]":
        return self.executor.submit(self.job)


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.gate.set()
    pool.executor.shutdown()


def ended(code: str, **names: Any) -> tuple[Any, list[str]]:
    """Time code; return the names, and what the report tells of jobs."""
    found = ipyjaxbench.measure_code(code, names)
    assert found.loops * found.repeat <= 5
    return names, [note.text for note in found.notes if note.code == "jobs-ended"]


CODES = ["submit()", "f = submit()", "fs = [submit()]", "{'a': submit()}", "f = submit(); g = 1"]


@pytest.mark.parametrize("code", CODES)
def test_a_few_jobs_are_left_and_those_of_later_calls_are_cancelled(pool: Pool, code: str) -> None:
    names, told = ended(code, submit=pool.submit)
    assert told == ["Later calls started 4 jobs: 4 cancelled."]
    pool.gate.set()
    pool.submit().result()
    assert pool.begun == 2  # that of the first call, and this one
    if "f" in names:
        assert names["f"].done()
        assert not names["f"].cancelled()


def test_jobs_that_have_begun_are_waited_for_and_their_pool_is_not_told() -> None:
    with ThreadPoolExecutor(2) as executor:
        found = ipyjaxbench.measure_code("f = executor.submit(int); f.result()", locals())
        _, told = ended("f = executor.submit(int); f.result(); f", executor=executor)
    assert "state-advanced" not in {note.code for note in found.notes}
    assert told == ["Later calls started 4 jobs: 4 finished."]


def test_one_that_does_not_end_is_told() -> None:
    gate = threading.Event()
    with ThreadPool(8) as threads:
        _, told = ended("threads.apply_async(gate.wait)", threads=threads, gate=gate)
        gate.set()
    assert told == ["Later calls started 4 jobs: 4 still running."]


def test_tasks_are_cancelled_before_they_begin() -> None:
    begun = []

    async def job() -> None:
        begun.append(1)

    async def session() -> list[str]:
        _, told = ended("asyncio.ensure_future(job())", asyncio=asyncio, job=job)
        await asyncio.sleep(0)
        return told

    assert asyncio.run(session()) == ["Later calls started 4 jobs: 4 cancelled."]
    assert len(begun) == 1


@pytest.mark.parametrize(
    ("code", "told"),
    [("f = [Future() for _ in range(10_100)]", "40,400 jobs: 40,400 cancelled"),
     ("f = [*range(10_100), Future()]", "4 jobs: 4 cancelled"),
     ("{**dict.fromkeys(range(10_100)), -1: Future()}", "4 jobs: 4 cancelled")],
)  # fmt: skip
def test_all_that_are_in_one_value_are_ended(code: str, told: str) -> None:
    assert ended(code, Future=Future)[1] == [f"Later calls started {told}."]


def test_who_says_how_many_calls_gets_as_many(pool: Pool) -> None:
    found = ipyjaxbench.measure_code("submit()", {"submit": pool.submit}, number=3, repeat=4)
    assert (found.loops, found.repeat) == (3, 4)
    assert "Later calls started 11 jobs: 11 cancelled." in [note.text for note in found.notes]


def test_arms_of_a_comparison_leave_a_few_jobs_too(pool: Pool) -> None:
    found = ipyjaxbench.compare({"a": pool.submit, "b": int})
    notes = found["a"].notes
    assert "Later calls started 22 jobs: 22 cancelled." in [note.text for note in notes]


def test_timers_that_later_calls_start_are_cancelled() -> None:
    names, told = ended("t = Timer(60, print); t.start()", Timer=threading.Timer)
    assert told == ["Later calls started 4 jobs: 4 cancelled."]
    assert [t for t in threading.enumerate() if isinstance(t, threading.Timer)] == [names["t"]]
    names["t"].cancel()
    names["t"].join()
