"""What only the first call finds: rows of a query, batches of a loader, jobs that go on."""

import asyncio
import io
import itertools
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from ipyjaxbench.timing.validity.used_up import UsedUp, _is_pending, _taken_whole, did_more
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, notes_by_code

EXHAUSTED = "The first call exhausted it: later calls found it empty."


class Stream:
    """Goes on where it was left."""

    def __init__(self, bench: Bench, size: int) -> None:
        self._bench, self._left = bench, iter(range(size))

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> int:
        value = next(self._left)
        self._bench.clock.advance(MS)
        return value


class Loader(Stream):
    """Begins anew in each loop, and is slow in the first one only."""

    def __iter__(self) -> "Loader":
        self._left = iter(range(3))
        return self

    def __next__(self) -> int:
        value = next(self._left)
        self._bench.clock.advance(MS if self._bench.names.setdefault("n", 0) < 3 else 1000)
        self._bench.names["n"] += 1
        return value


def rows(bench: Bench, count: int) -> sqlite3.Cursor:
    connection = sqlite3.connect(":memory:")
    connection.create_function("work", 0, lambda: bench.clock.advance(MS))
    numbers = " union all ".join(f"select {n} as n" for n in range(count))
    return connection.execute(f"select n, work() from ({numbers})")


@pytest.mark.parametrize(
    "code",
    ["it.fetchall()", "list(it)", "for row in it: pass", "y = [row for row in it]", "[*it]",
     "for i, row in enumerate(it): i + 1", "rows = it.fetchmany(5)"],
)  # fmt: skip
def test_rows_are_there_once(bench: Bench, code: str) -> None:
    bench.names["it"] = rows(bench, 5)
    m = bench.time(f"clock.advance(1000)\n{code}", budget=0.1)
    notes = notes_by_code(m)
    assert (notes["used-up"], m.verdict) == (EXHAUSTED, "INVALID")
    assert "state-advanced" not in notes


def test_what_is_left_for_later_calls_is_not_used_up(bench: Bench) -> None:
    bench.names["it"] = rows(bench, 400)
    for code in ("it.fetchone()", "next(it)", "for row in it: break", "zip(it, [1])"):
        assert "used-up" not in notes_by_code(bench.time(code, number=2, repeat=5))


@pytest.mark.parametrize(("kind", "is_used_up"), [(Stream, True), (Loader, False)])
def test_a_loop_uses_up_what_does_not_begin_anew(
    bench: Bench, kind: type[Stream], is_used_up: bool
) -> None:
    bench.names["it"] = kind(bench, 3)
    notes = notes_by_code(bench.time("for _ in it: pass", number=1, repeat=6, restore=False))
    assert ("used-up" in notes) is is_used_up


def test_a_job_is_waited_for_once(bench: Bench) -> None:
    job: Future[int] = Future()

    def wait() -> int:
        if not job.done():
            bench.clock.advance(MS)
            job.set_result(1)
        return job.result()

    bench.names |= {"wait": wait, "job": job}
    m = bench.time("clock.advance(1000); wait(); job", budget=0.1)
    text = "The first call waited for job: later calls found it done."
    assert (notes_by_code(m)["used-up"], m.verdict) == (text, "INVALID")
    again = bench.time("clock.advance(1000); wait(); job", budget=0.1)
    assert "used-up" not in notes_by_code(again)


def test_jobs_are_pending_until_they_end() -> None:
    async def tasks() -> Iterator[tuple[Any, bool]]:
        task = asyncio.create_task(asyncio.sleep(0))
        before = _is_pending(task)
        await task
        return iter([(task, before)])

    ((task, before),) = asyncio.run(tasks())
    assert (before, _is_pending(task)) == (True, False)
    leave = threading.Event()
    thread = threading.Thread(target=leave.wait)
    assert not _is_pending(thread)  # it has not begun
    thread.start()
    assert _is_pending(thread)
    leave.set()
    thread.join()
    assert not _is_pending(thread)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        assert _is_pending(process)
    assert not _is_pending(process)
    assert not _is_pending(3)


def test_a_first_call_did_more_if_it_is_far_slower() -> None:
    assert did_more(300_000, 50_000)
    assert not did_more(240_000, 50_000)  # less than five times
    assert not did_more(41_000, 2_000)  # by less than 40 µs


@pytest.mark.parametrize(
    ("code", "names"),
    [("sum(a) + max(b)", "ab"), ("for x in a:\n  if x: break", ""), ("{x for x in a}", "a"),
     ("next(a); print(b)", ""), ("(x for x in a)", ""), ("f(*a)", "a"), ("a[0]", "")],
)  # fmt: skip
def test_names_are_found_of_which_all_is_taken(code: str, names: str) -> None:
    assert [*_taken_whole(Snippet(Source.plain(code), {}).statements)] == [*names]


def test_of_several_that_advanced_none_is_blamed_for_an_empty_value() -> None:
    used = UsedUp([], {})
    used.inspect_first_call([1])
    used.inspect_later_value(list, 10 * MS, 10)
    assert [*used.notes(["a", "b"], ["a", "b"], 10 * MS, 10)] == [""]
    assert [*used.notes(["a"], ["a"], 10 * MS, 10)] == ["a"]


@pytest.mark.parametrize(
    ("names", "code", "told"),
    [
        ({"f": lambda: io.StringIO("a\n" * 3)}, "f.readline()", "an empty str: they used up f."),
        ({"f": lambda: [1, 2]}, "f.pop() if f else None", "later calls None: they used up f."),
        ({"f": lambda: iter("ab")}, "next(f, None)", "(str), later calls None: they used up f."),
        ({"f": lambda: {1, 2}}, "y = f and f.pop()", "calls an empty set: they used up f."),
        ({"f": lambda: iter("ab"), "g": lambda: iter("ab")}, "next(f, None) and next(g, None)",
         "later calls None: they used up something."),
        ({"f": lambda: io.StringIO("")}, "f.readline()", ""),  # there was nothing
        ({"f": lambda: itertools.cycle([[], [1]])}, "next(f) or [2]", ""),
        ({"f": lambda: itertools.cycle([[1], [], []])}, "next(f)", ""),  # now and then
        ({"f": lambda: [1, 2]}, "f.append(3)", ""),
    ],
)  # fmt: skip
def test_fast_calls_that_empty_what_they_take_from_are_told(
    bench: Bench, names: dict[str, Callable[[], Any]], code: str, told: str
) -> None:
    bench.names |= {name: make() for name, make in names.items()}
    m = bench.time(f"clock.advance(1000); {code}", budget=0.1)
    text = notes_by_code(m).get("emptied", "")
    assert text.endswith(told) if told else not text
    assert (m.verdict == "INVALID") is bool(told)
