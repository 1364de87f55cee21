"""What is said of a comparison, from hand-made samples."""

import dataclasses
from typing import Any

import pytest

from ipyjaxbench import Comparison
from ipyjaxbench.comparison import notes
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.reports import Bars, Table
from ipyjaxbench.timing import notes as timing_notes
from ipyjaxbench.timing.compile_cost import Counterpart
from ipyjaxbench.timing.validity import growth_notes, notes as validity_notes
from tests.comparison.made import MS, UNSURE, arm, compared, even, noted, only, sampled, swept
from tests.results import headline, rows

MIXED = Comparison(
    (
        arm("a", MS),
        arm("same", 1_001_000, step=400),
        ArmResult("bad", None, "ValueError: no"),
        arm("slow", 9 * MS, step=300, throughputs=(0.004, 0.004), waited=True),
    ),
    "a",
    elapsed=6.0,
    notes=(notes.other_dtype({"float32": ["a"], "float64": ["slow"]}),),
)
MIXED_TEXT = """\
a, same, bad, slow  slow is 9.00× slower than a   99 % CI 8.99–9.00×,   ✗ SLOWER
                    not like for like: float32 against float64
  a     ██████ 1.00 ms · baseline
  same  ██████ 1.00 ms · same
  slow  ███████████████████████████████████████████████▓┤ 9.01 ms · 9.00× slower
  arm    median ± rerun  first call     against a     99 % CI
  a     1.00 ms ± 2.5 %     2.00 ms      baseline
  same  1.00 ms ± 2.5 %     2.00 ms          same
  bad            failed
  slow  9.01 ms ± 2.5 %     2.00 ms  9.00× slower  8.99–9.00×
throughput          slow 4.00 ms per call, when calls are queued
samples             40 of each arm, interleaved, in 6.0 s
self-check          passed: a against itself is 0.999–1.001× (95 % CI)
!  bad failed: ValueError: no.
!  Different dtypes: float32 (a); float64 (slow).
→  give every arm the same dtype, for example with x.astype('float32')
python 3.12
"""
ODD = [MS + 60_000 * (i % 2) for i in range(80)]
#: Samples from which nothing follows.
WILD = [MS * 1000 ** (i % 3 - 1) * (2 + i * 7 % 5) for i in range(40)]
LAZY = validity_notes.lazy("generator", "")


A, B, UNSURE_B = arm("a", MS, step=0), arm("b", MS, step=0), sampled("b", UNSURE)
LAZY_B = sampled("b", [100] * 40, notes=(LAZY,))
FAILED_A, NOT_RUN_B = ArmResult("a", None, "E"), ArmResult("b", None)
SLOWED = {"notes": (notes.slowed_by_others({"a": 2.0}),)}
FEWER, TAKES = "fewer than two arms were measured", "b takes 0.6–1.4× the time of a (99 % CI)"


def milliseconds(*times: int) -> tuple[ArmResult, ...]:
    return tuple(arm(label, t * MS, step=0) for label, t in zip("abcd", times, strict=False))


def test_a_comparison_reads_so() -> None:
    assert str(MIXED) == MIXED_TEXT.rstrip("\n")
    assert repr(MIXED) == "<Comparison a, same SAME, bad, slow SLOWER>"


@pytest.mark.parametrize(
    ("sides", "facts", "figure", "detail", "word"),
    [
        # The fastest of those that are; then the slower one by least, before those alike.
        (milliseconds(3, 2, 1, 9), {}, "c is 3.00× faster than a", "", "FASTER"),
        (milliseconds(2, 9, 4, 2), {}, "c is 2.00× slower than a", "", "SLOWER"),
        (milliseconds(2, 2, 2, 2), {}, "b and a are equally fast", None, "SAME"),
        (milliseconds(1, 2, 3), {}, "a is the fastest, 2.00× faster than b", "", "FASTEST"),
        (milliseconds(1, 2), {}, "b is 2.00× slower than a", "", "SLOWER"),
        ((A, UNSURE_B, arm("c", MS, step=0)), {}, "no clear winner", TAKES, "CAN'T TELL"),
        ((A, UNSURE_B), SLOWED, "no clear winner", f"{TAKES}, arms slow each other down",
         "CAN'T TELL"),
        (milliseconds(2, 1), SLOWED, "b is 2.00× faster than a", "arms slow each other down",
         "FASTER"),
        ((A, sampled("b", WILD)), {}, "no clear winner",
         "the samples scatter too much for a ratio", "CAN'T TELL"),
        ((sampled("a", [MS] * 3), sampled("b", [MS, 2 * MS, 4 * MS])), {}, "no clear winner",
         "b takes 1–4× the time of a (range of 3 pairs)", "CAN'T TELL"),
        ((arm("a", 2 * MS), arm("b", MS, step=700)), {"interleaved": False},
         "b is 2.0× faster than a", "95 % CI 1.9–2.1×", "FASTER"),
        ((arm("a", 2 * MS, step=0), LAZY_B, arm("c", MS, step=0)), {},  # which has no figure
         "c is 2.00× faster than a", "", "FASTER"),
        ((A, LAZY_B), {}, "no comparison",
         "b: not the time of the work that the code describes", "INVALID"),
        ((LAZY_B, A), {}, "no comparison",
         "b: not the time of the work that the code describes", "INVALID"),
        ((A,), {}, "no comparison", FEWER, "FAILED"),
        ((FAILED_A, B), {}, "no comparison", FEWER, "FAILED"),
        ((FAILED_A, B, arm("c", MS)), {}, "no comparison",
         "the baseline a failed: take another one, such as b", "FAILED"),
        ((A, NOT_RUN_B), {"notes": (timing_notes.interrupted(),)}, "no comparison",
         "interrupted before two arms were measured", "INTERRUPTED"),
    ],
)  # fmt: skip
def test_the_headline_names_the_arm_that_matters_most(
    sides: tuple[ArmResult, ...], facts: dict[str, Any], figure: str, detail: str, word: str
) -> None:
    shown = headline(compared(*sides, **facts))
    assert (shown.figure, shown.verdict) == (figure, word)
    assert detail is None or shown.detail == detail


EAGER, JITTED = Counterpart(False, 0.01, 0.01, 0.09), Counterpart(True, 0.001, 0.01, 0.09)
FIRST_CALLS = (
    arm("jitted", MS, first_call=0.1, phases={"compile": 0.09}, counterpart=EAGER),
    arm("eager", 10 * MS, counterpart=JITTED),
)
EQUAL = {"equal": ("float32",)}


@pytest.mark.parametrize(
    ("sides", "facts", "row", "words"),
    [
        (FIRST_CALLS, {}, "first call", "jitted 100 ms = compile 90 ms + run 10 ms"),
        (FIRST_CALLS, {}, "break-even", "jitted after 11 calls (eager 10 ms, c"),
        ((A, arm("b", 10 * MS, step=0, throughputs=(0.0091,))), {}, "throughput", ""),
        ((A, arm("b", 10 * MS, step=0, throughputs=(0.0089,))), {}, "throughput", "b 8.90 ms per"),
        ((A, B), EQUAL, "like for like", "float32"),
        ((A, B), {**EQUAL, "notes": (notes.eager_beside_compiled(["a"], ["b"]),)},
         "like for like", "float32"),
        ((A, B), {**EQUAL, "notes": (notes.other_result("b", "a", ""),)}, "in common", "float32"),
        ((A, sampled("b", [MS] * 7), arm("c", MS)), {}, "samples",
         "40 of each arm, only 7 of b, interleaved, in "),
        ((A, B), {"interleaved": False}, "samples", "not interleaved: they are from different r"),
        ((A, B), {"interleaved": False}, "self-check", ""),
        ((sampled("a", [MS]), sampled("b", [MS])), {}, "self-check", ""),
        ((sampled("a", [MS] * 3), B), {}, "self-check",
         "none: too few samples to compare a with itself"),
        ((sampled("a", [MS + 200_000 * (i % 4 // 2) for i in range(40)]), B), {}, "self-check",
         "passed: a against itself is 1.000× (95 % CI)"),
        ((sampled("a", UNSURE), B), {}, "self-check",
         "a against itself is 0.6–1.7× (95 % CI): differences below 1.7× cannot be seen"),
        ((sampled("a", WILD), B), {}, "self-check",
         "a scatters too much to compare it with itself: differences below 30000× cannot be seen"),
        ((sampled("a", ODD), B), {}, "self-check", "failed: a against itself is 1.06"),
    ],
)  # fmt: skip
def test_what_is_told_below_the_table(
    sides: tuple[ArmResult, ...], facts: dict[str, Any], row: str, words: str
) -> None:
    told = rows(compared(*sides, **facts)).get(row, "")
    assert told.startswith(words)
    assert bool(told) is bool(words)


def test_a_difference_that_code_shows_from_itself_is_none() -> None:
    for samples in (UNSURE, WILD, ODD):
        slower = sampled("b", [round(1.02 * t) for t in samples])
        assert compared(sampled("a", samples), slower).verdict("b") == "CAN'T TELL"
        assert compared(sampled("a", samples), sampled("b", samples)).verdict("b") == "SAME"
    assert compared(sampled("a", ODD), B).floor == pytest.approx(2 * 0.0583, abs=1e-3)


def test_the_table_says_how_sure_intervals_are() -> None:
    few = compared(sampled("a", [MS] * 3), sampled("b", [MS, 2 * MS, 4 * MS]))
    assert only(few, Table).head[-1] == "range of 3 pairs"
    assert (few.rows()[1]["ratio_low"], few.rows()[1]["ratio_high"]) == (None, None)
    assert all(bar.low == bar.value == bar.high for bar in only(few, Bars).rows)  # no whisker
    kept = compared(arm("a", 2 * MS), arm("b", MS, step=700), interleaved=False)
    assert only(kept, Table).head[-1] == "95 % CI"
    table = only(compared(A, UNSURE_B, sampled("c", [3 * MS, 3 * MS + 99_000])), Table)
    assert table.head[-1] == "interval"  # each says what it is
    assert table.rows[1][-1].startswith("99 % CI ")
    assert table.rows[2][-1].startswith("range of 2 pairs ")


def test_bars_are_sorted_and_say_how_each_compares_with_the_baseline() -> None:
    found = compared(arm("b", 2 * MS), arm("slow", 3 * MS), ArmResult("no", None), arm("a", MS))
    bars = only(found, Bars).rows
    assert [(bar.label, bar.aside, bar.baseline) for bar in bars] == [
        ("a", "2.00× faster", False), ("b", "baseline", True), ("slow", "1.50× slower", False),
    ]  # fmt: skip
    assert (bars[0].low, bars[0].high) == found["a"].interval


def test_verdicts_of_arms_without_a_figure() -> None:
    found = compared(arm("a", 2 * MS), LAZY_B, arm("c", MS))
    assert [found.verdict(label) for label in "abc"] == ["", "INVALID", "FASTER"]
    of_lazy = compared(LAZY_B, A)
    assert (of_lazy.verdict("a"), of_lazy.verdict("b")) == ("CAN'T TELL", "")


@pytest.mark.parametrize(
    ("alone", "depends"),
    [
        ({}, False),
        ({"a": 1.0, "b": 0.5}, False),  # as interleaved
        ({"a": 1.0, "b": 0.3}, False),  # nor is it another answer
        ({"a": 1.0, "b": 0.2}, True),  # more than twice as far
        ({"a": 1.0, "b": 1.1}, True),  # the other way round
        ({"b": 1.1}, False),
    ],
)
def test_a_ratio_that_interleaving_makes_is_no_answer(alone: dict, *, depends: bool) -> None:
    found = compared(arm("a", 2 * MS), arm("b", MS), alone=alone)
    assert found.depends_on_interleaving("b") is depends
    assert found.verdict("b") == ("CAN'T TELL" if depends else "FASTER")
    codes = [note.code for note in noted(found)]
    assert codes == (["depends-on-interleaving"] if depends else [])
    assert (headline(found).figure == "b and a affect each other") is depends
    at = dataclasses.replace(even(1, a=1), compared=found)
    assert swept(at).winners == ["" if depends else "b"]
    swapped = {"b": "a", "a": "b"}
    chosen = found.choose(swapped, "b")  # under other names
    assert chosen.alone == {swapped[label]: seconds for label, seconds in alone.items()}
    assert chosen.depends_on_interleaving("a") is depends


@pytest.mark.parametrize("grown", ["a", "b"])
def test_where_calls_make_a_container_longer_nothing_gives_a_factor(grown: str) -> None:
    notes = {grown: (growth_notes.grows("xs", (1, 5001)),)}
    sides = [arm(label, t * MS, notes=notes.get(label, ())) for label, t in (("a", 4), ("b", 1))]
    found = compared(*sides)
    points = [dataclasses.replace(even(n, a=1), compared=found) for n in (1, 10, 100)]
    sweep = dataclasses.replace(swept(*points), labels=("a", "b"))
    assert (found.ratio("b"), found.verdict("b")) == (None, "CAN'T TELL")
    assert {row["ratio"] for row in (*found.rows(), *sweep.rows())} == {None}
    assert (sweep.winners, sweep.growth(grown)) == ([""] * 3, None)
    for each in (found, sweep):
        assert (headline(each).figure, headline(each).verdict) == ("no clear winner", "CAN'T TELL")
        assert "calls make a container longer" in headline(each).detail + headline(each).explained
        assert not any(word in str(each) for word in ("faster", "slower", f"^0.0 ({grown})"))


def test_the_table_says_what_became_of_each_arm() -> None:
    found = compared(arm("a", MS), ArmResult("b", None), ArmResult("c", None, "E: no"),
                     sampled("d", []))  # fmt: skip
    assert [row[:3] for row in only(found, Table).rows] == [
        ("a", "1.00 ms ± 2.5 %", "2.00 ms"), ("b", "not run", ""), ("c", "failed", ""),
        ("d", "first call only", "2.00 ms"),
    ]  # fmt: skip
    assert not any(isinstance(block, Bars) for block in found.report().blocks)
    for size, shown in ((24, 24 * "x"), (25, "the baseline")):  # which leaves room for the rest
        assert f"against {shown}" in only(compared(arm(size * "x", MS), arm("b", MS)), Table).head


def test_a_note_on_several_arms_is_told_once_with_their_names() -> None:
    hidden, late = validity_notes.output_hidden(3), timing_notes.compiled_late(1)
    off = timing_notes.unsynchronised(1e-6, 5.0)
    sides = (arm("a", MS, notes=(LAZY, off, hidden)), arm("b", MS, notes=(late, LAZY)))
    other = notes.other_dtype({"int8": ["a"], "int16": ["b"]})
    found = compared(*sides, ArmResult("c", None, "E: no"), notes=(other,))
    assert found.all_notes() == [
        notes.arm_failed("c", "E: no"),
        other,
        dataclasses.replace(LAZY, text=f"a, b: {LAZY.text}"),
        dataclasses.replace(hidden, text=f"a: {hidden.text}"),
    ]


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (compared(arm("a", MS), arm("a", MS)), "two arms have the same name"),
        (Comparison((arm("a", MS), arm("b", MS)), "c"), "the baseline is none of the arms"),
        (compared(arm("a", MS), arm("b", MS, rounds=(1,))),
         "the rounds do not add up to the samples"),
        (compared(arm("a", MS), ArmResult("b", None)), None),
    ],
)  # fmt: skip
def test_a_comparison_that_cannot_be_is_refused(found: Comparison, wrong: str | None) -> None:
    assert found.check() == wrong
    point = dataclasses.replace(even(1, a=1), compared=found)
    assert swept(point).check() == wrong
    assert swept(point, names=("n", "k")).check() == (
        "a point has not as many values as there are names"
    )


def test_a_row_for_each_arm() -> None:
    by_arm = {row["arm"]: row for row in MIXED.rows()}
    assert list(by_arm) == ["a", "same", "bad", "slow"]
    slow, bad, same = (by_arm[label] for label in ("slow", "bad", "same"))
    assert (slow["verdict"], slow["median_s"]) == ("SLOWER", MIXED["slow"].median)
    assert slow["throughput_s"] == 0.004
    assert (bad["failed"], bad["median_s"]) == ("ValueError: no", None)
    assert same["ratio_low"] < same["ratio"] < 1.01
