"""What compiling cost, after how many calls it is paid back, and which passes it consists of."""

import math
from typing import Any

import pytest

from ipyjaxbench.errors import RecordError
from ipyjaxbench.frameworks import Program
from ipyjaxbench.reports import Listing, Table
from ipyjaxbench.timing.compile_cost import ColdCallResult, Counterpart, Recompilation
from ipyjaxbench.timing.compile_passes import CompilePasses, LineShare, Pass, sum_passes
from ipyjaxbench.timing.compile_passes_report import axis_rows, list_lines, list_passes
from ipyjaxbench.timing.device_time import Interval
from ipyjaxbench.timing.measurement import Measurement
from tests.results import STEADY, measured

EAGER, COMPILED = 0.0121, 0.0021


def figures(eager: str = "12 ms", compiled: str = "2.1 ms") -> str:
    return f"(eager {eager}, compiled {compiled} per call; compilation 140 ms)"


@pytest.mark.parametrize(
    ("counterpart", "mine", "words"),
    [
        (Counterpart(True, COMPILED, 0.01, 0.14), EAGER, f"after 14 calls {figures()}"),
        (Counterpart(False, COMPILED, 0.01, 0.14), EAGER,
         f"never: the compiled call is slower {figures('2.1 ms', '12 ms')}"),
        (Counterpart(False, 0.00211, 0.01, 0.14), COMPILED,
         f"unknown: both are about as fast {figures('2.1 ms')}"),
        (Counterpart(False, EAGER, None, 0.14), COMPILED,
         f"unknown: one of them has a single sample {figures()}"),
        (Counterpart(False, EAGER, 12.0, 0.14), COMPILED,
         f"unknown: the times are too noisy {figures()}"),
        (Counterpart(False, EAGER, 3.0, 0.14), COMPILED, f"after 14 calls {figures()}"),
    ],
)  # fmt: skip
def test_a_compilation_is_paid_or_not(counterpart: Counterpart, mine: float, words: str) -> None:
    assert counterpart.words(mine, 0.01) == words
    assert counterpart.words(mine, math.inf).startswith("unknown: ")


@pytest.mark.parametrize(
    ("one", "other", "after", "the_other_way_round"),
    [
        # Compiled it takes up to 1.7 · 1.05 = 1.785; eager from 2 / 1.1 = 1.82, or 2 / 1.15 = 1.74.
        ((2.0, 0.1), (1.7, 0.05), "after 10 calls", "never"),
        ((2.0, 0.15), (1.7, 0.05), "unknown", "unknown"),
        # From a quarter on two figures could be told apart.
        ((1.24, 0.5), (1.0, 0.5), *["unknown: both are about as fast ("] * 2),
        ((1.26, 0.5), (1.0, 0.5), *["unknown: the times are too noisy ("] * 2),
    ],
)
def test_a_call_counts_as_slower_where_the_intervals_do_not_overlap(
    one: tuple[float, float], other: tuple[float, float], after: str, the_other_way_round: str
) -> None:
    assert Counterpart(False, *one, 3.0).words(*other).startswith(after)
    assert Counterpart(False, *other, 3.0).words(*one).startswith(the_other_way_round)


@pytest.mark.parametrize(
    ("programs", "differ"),
    [(((2.0, 2.0, 2.1), (2.3, 2.4, 2.4)), True),
     (((2.0, 2.0, 2.1), (2.1, 2.1, 2.2)), False),  # what a layout in memory can do
     (((2.0, 2.0, 9.0), (2.3, 2.4, 2.4)), False),  # the machine did that in one round
     (((2.3, 2.4, 2.4), (2.1, 2.1, 2.1), (2.0, 2.0, 2.1)), True),  # the slowest and the fastest
     (((2.0, 2.0, 2.1),), False)],
)  # fmt: skip
def test_programs_differ_in_each_round(
    programs: tuple[tuple[float, ...], ...], differ: bool
) -> None:
    made = tuple(Recompilation(0.1, times) for times in programs)
    assert ColdCallResult(0.1, {}, recompiled=made, usual=0.002).programs_differ is differ


WRONG = (Program("f", -1.0, "compiled", "jax"),)


@pytest.mark.parametrize(
    "wrong",
    [{"programs": WRONG}, {"fresh": ColdCallResult(-1.0, {})},
     {"fresh": ColdCallResult(1.0, {"trace": -1.0})}, {"fresh": ColdCallResult(1.0, {}, WRONG)},
     {"counterpart": Counterpart(True, -1.0, None, 1.0)},
     {"counterpart": Counterpart(True, 1.0, None, -1.0)}],
)  # fmt: skip
def test_negative_times_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match=r"Expected `float` >= 0\.0"):
        Measurement.from_dict(measured(STEADY, **wrong).to_dict())


# Passes of a compiler

MS = 1e6


def span(name: str, start: float, end: float, line: str = "t") -> Interval:
    return Interval(name, start * MS, end * MS, "", line)


SPANS = [span("compile", 100, 200), span("passes", 110, 150), span("fusion", 110, 125),
         span("fusion", 130, 145), span("codegen", 150, 195), span("emit", 152, 153)]  # fmt: skip


def test_own_times_of_passes_add_up_to_the_whole() -> None:
    found = sum_passes("jax", SPANS, 0.0)
    assert [(each.name, each.times, round(each.seconds * 1e3)) for each in found.passes] == [
        *[("codegen", 1, 44), ("fusion", 2, 30), ("compile", 1, 15), ("passes", 1, 10)],
        ("emit", 1, 1),
    ]
    assert found.seconds == pytest.approx(0.1)
    threads = sum_passes("torch", [span("a", 0, 10), span("a", 5, 9, "other")], 0.0)
    assert threads.passes == (Pass("a", 2, pytest.approx(0.014)),)
    many = sum_passes("jax", [span(f"p{n}", n, n + 1) for n in range(100)], 0.0)
    assert (len(many.passes), many.seconds) == (30, pytest.approx(0.1))
    equal = [span("a", 0, 9), span("b", 0, 9), span("a", 0, 9)]
    assert sum_passes("jax", equal, 0.0).seconds == pytest.approx(0.009)
    assert sum_passes("jax", [], 0.0).reason == "nothing was compiled under the profiler"


def test_the_longest_stretch_is_replaced_by_what_is_in_it_up_to_eight() -> None:
    parts = sum_passes("jax", SPANS, 90 * MS).parts
    assert [(p.name, round(p.start * 1e3), round(p.seconds * 1e3)) for p in parts] == [
        *[("fusion", 20, 15), ("fusion", 40, 15), ("codegen", 60, 45)]
    ]
    spans = [span("all", 0, 100), *(span(f"p{n}", 5 * n, 5 * n + 5) for n in range(20))]
    parts = sum_passes("jax", spans, 0.0).parts
    assert len(parts) == 8
    assert [part.start for part in parts] == sorted(part.start for part in parts)
    ((name, segments, shown),) = axis_rows(sum_passes("jax", [span("A::Run", 5, 9)], 0.0))
    assert (name, shown, [round(s.seconds * 1e3) for s in segments]) == ("  Run", "4.0 ms", [5, 4])


def test_the_report_lists_passes_and_lines() -> None:
    lines = (LineShare(9, "y = x @ x", 30), LineShare(0, "", 10))
    passes = CompilePasses("jax", (Pass("fusion", 2, 0.03),), 0.01, (), lines, 40)
    assert [*list_passes(passes)] == [
        Table("jax: passes of compiling, 40.0 ms in all", ("pass", "runs", "self time", "share"),
              (("fusion", "2", "30.0 ms", "75.0 %"),), folded=False)
    ]  # fmt: skip
    rows = (("9", 0.75, "30 operations", "y = x @ x"), ("", 0.25, "10 operations", ""))
    title = "the program by line: 40 operations as written, loops counted once"
    assert [*list_lines(passes)] == [Listing(title, rows)]
    assert [*list_passes(CompilePasses("jax"))] == [*list_lines(CompilePasses("jax"))] == []
