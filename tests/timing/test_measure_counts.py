"""How often code is called, for how long, and what runs before it."""

import random

import pytest

from ipyjaxbench.host.clock import Clock
from ipyjaxbench.timing.measure import measure_snippet
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, START, Bench, notes_by_code, recorder

# How often and how long


@pytest.mark.parametrize(("number", "repeat", "calls"), [(1, 7, 7), (10, 3, 30), (4, None, 28)])
def test_exact_numbers_make_exactly_so_many_calls(
    bench: Bench, number: int, repeat: int | None, calls: int
) -> None:
    turns = bench.counted()
    m = bench.time("call()", number=number, repeat=repeat)
    assert len(turns) == calls
    assert (m.loops, m.repeat) == (number, repeat or 7)
    assert m.all_runs == pytest.approx([number * 1e-3] * m.repeat)


@pytest.mark.parametrize("cost", [100, MS, 10_000 * MS])
def test_a_number_of_samples_is_kept_and_their_size_chosen(bench: Bench, cost: int) -> None:
    m = bench.time(f"clock.advance({cost})", repeat=5)
    assert m.repeat == len(m.batches) == 5
    assert m.median == pytest.approx(cost * 1e-9)
    assert m.loops == 1 or 5e-4 <= m.loops * m.median <= 2e-3


@pytest.mark.parametrize(("cost", "budget"), [(1_000, 0.5), (100 * MS, 0.5), (400 * MS, 2.0)])
def test_the_budget_is_kept_to_one_call(bench: Bench, budget: float, cost: int) -> None:
    rng = random.Random(1)
    bench.names["call"] = lambda: bench.clock.advance(int(cost * rng.uniform(0.1, 1.0)))
    m = bench.time("call()", budget=budget)
    assert m.elapsed <= budget + 1.1 * cost * 1e-9 + 0.01
    assert m.batches


def test_the_budget_is_kept_when_calls_sleep_and_cpu_time_is_measured(bench: Bench) -> None:
    busy = [0]

    def call() -> None:
        busy[0] += 20_000
        bench.clock.advance(500 * MS)

    bench.names["call"] = call
    m = bench.time("call()", clock=Clock(lambda: busy[0], bench.clock.wall, bench.clock.sleep))
    assert m.median == pytest.approx(20e-6)
    assert m.elapsed <= 2 * 2.0


def test_of_calls_longer_than_the_budget_one_warm_one_is_the_figure(bench: Bench) -> None:
    turns = bench.counted(lambda count: bench.clock.advance((4999 if count == 1 else 2999) * MS))
    m = bench.time("call()")
    assert (m.verdict, len(turns)) == ("ONCE", 2)
    assert (m.first_call, m.median) == pytest.approx((5.0, 3.0))
    (note,) = [n for n in m.notes if n.code == "over-budget"]
    assert note.text == "One warm call only: it took longer than the time budget."
    assert note.advice == "budget=12 for several calls"


def test_a_first_call_that_alone_is_slow_costs_no_other_ones(bench: Bench) -> None:
    """It loads a library, say."""
    bench.counted(lambda count: bench.clock.advance(2499 * MS if count == 1 else 0))
    m = bench.time("call()")
    assert m.verdict != "ONCE"
    assert (m.first_call, m.median) == pytest.approx((2.5, 1e-3))
    assert "over-budget" not in notes_by_code(m)


@pytest.mark.parametrize("code", [START, f"{START}; 1"])
def test_that_call_is_waited_for_to_its_end(bench: Bench, code: str) -> None:
    m = bench.time(code.replace("1_000_000", "5_000_000_000"))
    assert m.median == pytest.approx(5.00001)
    assert ("elsewhere" in notes_by_code(m)) == (code != START)


# Set-up


def test_a_sample_is_set_up_once_though_its_calls_are_made_one_by_one(bench: Bench) -> None:
    write, log = recorder()
    bench.names["write"] = write
    bench.time("x += [1]; write(len(x))", "x = []; write('set up')", number=3, repeat=2)
    assert log == ["set up", 1, 2, 3] * 2


def test_a_slow_set_up_does_not_make_samples_of_fast_calls_shorter(bench: Bench) -> None:
    m = bench.time("clock.advance(100)", "clock.advance(1_000_000)", budget=0.1)
    assert 5000 <= m.loops <= 20_000


@pytest.mark.parametrize("code", ["x.sort()", "x = [*x, 3]"])
def test_each_call_finds_what_the_set_up_made_where_the_code_changes_it(
    bench: Bench, code: str
) -> None:
    keep, seen = recorder()
    bench.names["see"] = lambda x: keep(tuple(x))
    m = bench.time(f"see(x); {code}; clock.advance(1000)", "x = [2, 1]", budget=0.01)
    assert m.median == pytest.approx(1e-6)
    assert len(seen) > 100
    assert set(seen) == {(2, 1)}


# What is looked at


def test_a_measurement_knows_what_was_asked(bench: Bench) -> None:
    snippet = Snippet(Source.plain("y = 1 "), bench.names)
    options = TimeOptions(number=1, precision=5)
    m = measure_snippet(snippet, options, clock=bench.clock, compile_time=0.25)
    assert (m.code, m.precision, m.compile_time, m.exact) == ("y = 1", 5, 0.25, True)
    assert measure_snippet(snippet, options, clock=bench.clock).compile_time == 0.0
