"""What compiling cost, in words."""

import math
from typing import Any

import pytest

from ipyjaxbench.errors import RecordError
from ipyjaxbench.frameworks import CacheUse, DiskMiss, Program
from ipyjaxbench.reports import Facts
from ipyjaxbench.timing.compile_cost import ColdCallResult, Counterpart, program_rows, spell_phases
from ipyjaxbench.timing.measurement import Measurement
from tests import results
from tests.results import STEADY, measured


def made(*named: tuple[str, float | None], origin: Any = "compiled") -> list[Program]:
    return [Program(name, seconds, origin, "jax") for name, seconds in named]


@pytest.mark.parametrize(
    ("programs", "rows"),
    [
        ([], {}),
        (made(("step", 0.081)), {"compiled": "step 81 ms"}),
        (made(("add", 0.008), ("step", 0.061), ("iota", 0.012)),
         {"compiled": "3 programs: step 61 ms, iota 12 ms, add 8.0 ms"}),
        (made(*((name, 0.01) for name in "abcd")),
         {"compiled": "4 programs: a 10 ms, b 10 ms, c 10 ms, d 10 ms"}),
        (made(*((name, 0.01) for name in "abcdef")),
         {"compiled": "6 programs: a 10 ms, b 10 ms, c 10 ms, d 10 ms, and 2 more"}),
        (made(("add", 0.01), ("<lambda>", 0.015), ("add", 0.01)),
         {"compiled": "3 programs: 2 × add 20 ms, <lambda> 15 ms"}),
        (made(("?", 0.02), ("?", 0.01)), {"compiled": "2 programs 30 ms, names unknown"}),
        (made(("f", None), ("g", None), origin="traced"), {"traced": "2 programs: f, g"}),
        (made(("f", 0.01), ("g", 0.02), ("g", None)), {"compiled": "3 programs: 2 × g, f 10 ms"}),
        (made(("step", 0.012), origin="disk cache"), {"loaded": "step 12 ms from the disk cache"}),
        ([*made(("step", 0.012), ("g", 0.009), origin="disk cache"), *made(("new", 0.05))],
         {"compiled": "new 50 ms",
          "loaded": "2 programs from the disk cache: step 12 ms, g 9.0 ms"}),
    ],
)  # fmt: skip
def test_programs_are_named_and_counted(programs: list[Program], rows: dict[str, str]) -> None:
    assert list(program_rows(programs)) == [*rows.items()]


SPLIT = "96.0 ms = trace 4.0 ms + lower 9.0 ms + compile 81 ms + run 2.0 ms"
PARTS = {"trace": 0.004, "lower": 0.009, "compile": 0.081}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (ColdCallResult(0.096, PARTS), f"{SPLIT} (your caches are untouched)"),
        (
            ColdCallResult(0.096, {"compile": 0.09}, (), ("g stayed compiled", "h too")),
            "96.0 ms = compile 90 ms + run 6.0 ms (g stayed compiled; h too)",
        ),
        (ColdCallResult(None, {}, (), ("interrupted",)), "none: interrupted"),
    ],
)
def test_a_cold_call_says_what_it_took_and_what_it_had_to_clear(
    call: ColdCallResult, words: str
) -> None:
    assert results.rows(measured(STEADY, fresh=call))["cold call"] == words


EAGER, COMPILED = 0.0121, 0.0021


def figures(eager: str = "12 ms", compiled: str = "2.1 ms") -> str:
    return f"(eager {eager}, compiled {compiled} per call; compilation 140 ms)"


@pytest.mark.parametrize(
    ("counterpart", "mine", "words"),
    [
        (Counterpart(False, EAGER, 0.01, 0.14), COMPILED, f"after 14 calls {figures()}"),
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
def test_a_compilation_is_paid_back_after_some_calls_or_never(
    counterpart: Counterpart, mine: float, words: str
) -> None:
    assert counterpart.words(mine, 0.01) == words
    assert counterpart.words(mine, math.inf).startswith("unknown: ")
    assert Counterpart(False, 1.0, 0.0, 0.0).words(0.5, 0.0).startswith("after 1 call (")


@pytest.mark.parametrize(
    ("half_width", "word"),
    # Compiled it takes up to 1.7 · 1.05 = 1.785; eager from 2 / 1.1 = 1.82, or 2 / 1.15 = 1.74 on.
    [(0.1, "after 10 calls"), (0.15, "unknown")],
)
def test_a_call_counts_as_slower_where_the_intervals_do_not_overlap(
    half_width: float, word: str
) -> None:
    assert Counterpart(False, 2.0, half_width, 3.0).words(1.7, 0.05).startswith(word)
    slower = Counterpart(False, 1.7, 0.05, 3.0).words(2.0, half_width)
    assert slower.startswith("never" if half_width == 0.1 else "unknown")


@pytest.mark.parametrize(("eager", "why"), [(1.24, "both are about as fast"),
                                            (1.26, "the times are too noisy")])  # fmt: skip
def test_figures_a_quarter_apart_could_be_told_apart(eager: float, why: str) -> None:
    assert Counterpart(False, eager, 0.5, 1.0).words(1.0, 0.5).startswith(f"unknown: {why} (")
    assert Counterpart(False, 1.0, 0.5, 1.0).words(eager, 0.5).startswith(f"unknown: {why} (")


def test_phases_are_told_in_the_order_in_which_they_happen() -> None:
    phases = {"link": 0.01, "cache load": None, "compile": 0.04, "lower": 0.03, "trace": 0.02}
    assert spell_phases(0.2, phases, 3) == (
        "200 ms = trace 20 ms + lower 30 ms + compile 40 ms + link 10 ms + run 100 ms,"
        " including cache load (time unknown)"
    )
    assert spell_phases(0.2, {}, 2) == "200 ms"
    assert spell_phases(0.2, {"lower": None, "trace": None}, 2) == (
        "200 ms, including trace (time unknown), including lower (time unknown)"
    )


def test_the_line_is_there_only_with_a_steady_figure() -> None:
    counterpart = Counterpart(False, 1.0, 0.0, 0.5)
    assert "break-even" in results.rows(measured(STEADY, counterpart=counterpart))
    assert "break-even" not in results.rows(measured([], counterpart=counterpart))
    assert "break-even" not in results.rows(measured(STEADY))


@pytest.mark.parametrize(
    "wrong",
    [
        {"programs": tuple(made(("f", -1.0)))},
        {"fresh": ColdCallResult(-1.0, {})},
        {"fresh": ColdCallResult(1.0, {"trace": -1.0})},
        {"fresh": ColdCallResult(1.0, {}, tuple(made(("f", -1.0))))},
        {"counterpart": Counterpart(True, -1.0, None, 1.0)},
        {"counterpart": Counterpart(True, 1.0, None, -1.0)},
    ],
)
def test_negative_times_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match=r"Expected `float` >= 0\.0"):
        Measurement.from_dict(measured(STEADY, **wrong).to_dict())


def test_a_cache_is_told_where_nothing_else_is_said_of_it() -> None:
    uses = (CacheUse("jax", "kept", 1.92), CacheUse("torch", "not kept", 2.0, "too large"))
    assert rows_of(measured(STEADY, caches=uses)) == [
        "kept; a new session compiles up to 1.9 s less", "not kept: too large",
    ]  # fmt: skip
    miss = DiskMiss("step", 5e8, "gone", entry=4e8, not_kept="below 1 s")
    programs = (Program("step", 1.2, "compiled", "jax", miss),)
    (row,) = rows_of(measured(STEADY, caches=uses, programs=programs))
    assert row.endswith("; not cached: below 1 s")


def rows_of(m: Measurement) -> list[str]:
    facts = (block for block in m.report().blocks if isinstance(block, Facts))
    return [words for block in facts for label, words in block.rows if label == "disk cache"]
