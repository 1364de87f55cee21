"""Comparisons and sweeps as text, HTML, pictures and frames, from hand-made samples."""

import dataclasses
import itertools
import math
import re

import pytest

from ipyjaxbench import Comparison, Sweep, units
from ipyjaxbench.comparison import notes
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.comparison.crossings import find_crossings
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.comparison.sweep import Point, Skipped
from ipyjaxbench.comparison.undecided import note_undecided
from ipyjaxbench.reports import (
    Bars,
    Chart,
    Facts,
    Headline,
    Note,
    Notes,
    Table,
)
from ipyjaxbench.timing import Measurement, notes as timing_notes
from ipyjaxbench.timing.compile_cost import Counterpart
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.results import measured


def arm(label: str, nanoseconds: int, *, step: int = 500, **changes: object) -> ArmResult:
    """Samples that scatter a little, the same way in each arm."""
    times = [nanoseconds + step * (i * 7 % 5) * nanoseconds // 1_000_000 for i in range(40)]
    return ArmResult(label, measured(times, **changes))


PAIR = Comparison(
    (
        arm("numpy", 2_000_000, frameworks={"numpy": "2.4.6"}),
        arm("jax", 1_000_000, step=700, frameworks={"jax": "0.10.2"}, waited=True),
    ),
    "numpy",
    elapsed=4.5,
    equal=("same results", "float32"),
)
MIXED = Comparison(
    (
        arm("a", 1_000_000),
        arm("same", 1_001_000, step=400),
        ArmResult("bad", None, "ValueError: no"),
        arm("slow", 9_000_000, step=300, throughputs=(0.004, 0.004), waited=True),
    ),
    "a",
    elapsed=6.0,
    notes=(notes.other_dtype({"float32": ["a"], "float64": ["slow"]}),),
)
KEPT = dataclasses.replace(PAIR, interleaved=False, elapsed=0.0, equal=())
EXPECTED = {
    "mixed": (
        MIXED,
        """\
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
""",
    ),
    "kept": (
        KEPT,
        """\
numpy, jax  jax is 2.0× faster than numpy   95 % CI 1.9–2.1×            ✓ FASTER
  jax    ████████████████████████┤                      ┊ 1.00 ms · 2.0× faster
  numpy  ███████████████████████████████████████████████▓┤ 2.00 ms · baseline
  arm     median ± rerun  first call  against numpy   95 % CI
  numpy  2.00 ms ± 2.5 %     2.00 ms       baseline
  jax    1.00 ms ± 2.5 %     2.00 ms    2.0× faster  1.9–2.1×
samples     not interleaved: they are from different runs
jax 0.10.2, numpy 2.4.6
""",
    ),
}


def point(n: int, **times: int) -> Point:
    sides = tuple(arm(label, ns, step=300 + 100 * i) for i, (label, ns) in enumerate(times.items()))
    return Point((str(n),), Comparison(sides, sides[0].label, elapsed=1.0))


SWEPT = Sweep(
    ("n",),
    ("line", "square"),
    (
        point(10, line=40_000, square=4_000),
        point(100, line=400_000, square=400_000),
        point(1000, line=4_000_000, square=40_000_000),
    ),
    (Skipped("square", ("1000",), per_call=0.04, budget=0.02),),
    4,
)
SWEPT_TEXT = """\
line, square by n  line overtakes square at n ≈ 100   square is        ⇄ CHANGES
                   fastest up to 10, line from 1000
median ± rerun, per call
           │                                                      ··s  s square
           │                                                 ·····
     10 ms ┤                                            ·····
           │                                       ·····     ·······l  l line
      1 ms ┤                                  ···············
           │                            s··········
           │                  ··········l
    100 µs ┤        ···············
           │l·······     ·····
           │        ·····
     10 µs ┤   ·····
           │s··
           └┬───────────────────────────┬───────────────────────────┬
            10                         100                        1,000
                                        n
            ○ line overtakes square at n ≈ 100
median ± rerun, per call
  n                line           square  fastest
  10    40.0 µs ± 2.5 %  4.00 µs ± 2.5 %   square
  100    400 µs ± 2.5 %   400 µs ± 2.5 %        -
  1000  4.00 ms ± 2.5 %  40.0 ms ± 2.5 %     line
growth             time grows like n^1.0 (line), n^2.0 (square)
left out           square after n = 1000: one call took 40 ms, the budget of a
                   point is 20 ms
points             3 of 4 measured
python 3.12
"""


@pytest.mark.parametrize("name", EXPECTED)
def test_a_comparison_reads_so(name: str) -> None:
    compared, text = EXPECTED[name]
    assert str(compared) == text.rstrip("\n")


def test_a_sweep_reads_so() -> None:
    assert str(SWEPT) == SWEPT_TEXT.rstrip("\n")


# What is said of a comparison


def compared(*sides: ArmResult, **facts: object) -> Comparison:
    return Comparison(sides, sides[0].label, **{"elapsed": 1.0, **facts})  # type: ignore[arg-type]


def headline(found: Comparison | Sweep) -> Headline:
    (block,) = (block for block in found.report().blocks if isinstance(block, Headline))
    return block


def rows(found: Comparison | Sweep) -> dict[str, str]:
    blocks = found.report().blocks
    return {k: v for block in blocks if isinstance(block, Facts) for k, v in block.rows}


def shown_notes(found: Comparison | Sweep) -> tuple[Note, ...]:
    (block,) = (block for block in found.report().blocks if isinstance(block, Notes))
    return block.notes


LAZY = validity_notes.lazy("generator", "")
MS = 1_000_000
UNSURE = [MS + 400_000 * (i % 3 - 1) * (-1) ** (i // 3) for i in range(40)]


@pytest.mark.parametrize(
    ("times", "figure", "word"),
    [
        ((3, 2, 1, 9), "c is 3.00× faster than a", "FASTER"),  # the fastest of those that are
        ((2, 9, 4, 2), "c is 2.00× slower than a", "SLOWER"),  # by least, before the same
        ((2, 2, 2, 2), "b and a are equally fast", "SAME"),
        ((1, 2, 3), "a is the fastest, 2.00× faster than b", "FASTEST"),
        ((1, 2), "b is 2.00× slower than a", "SLOWER"),
    ],
)
def test_the_headline_names_the_arm_that_matters_most(
    times: tuple[int, ...], figure: str, word: str
) -> None:
    found = compared(*(arm(n, t * MS, step=0) for n, t in zip("abcd", times, strict=False)))
    assert headline(found).figure == figure
    assert headline(found).verdict == word


def test_what_cannot_be_told_comes_before_what_is_the_same() -> None:
    unsure = ArmResult("c", measured(UNSURE))
    found = compared(arm("a", MS, step=0), arm("b", MS, step=0), unsure)
    assert [found.verdict(label) for label in "bc"] == ["SAME", "CAN'T TELL"]
    assert headline(found).figure == "no clear winner"
    assert headline(found).detail == "c takes 0.6–1.4× the time of a (99 % CI)"


@pytest.mark.parametrize(
    ("half_width", "shown"),
    [
        (0.02, "1.00 ms ± 2.0 %"),
        (0.08, "1.00 ms ± 8.0 %"),
        (1.0, "500 µs (0.50–9.0 ms)"),  # of the samples: both arms are noisy
        (math.inf, "1.00 ms"),
    ],
)
def test_a_time_stands_with_its_interval(
    monkeypatch: pytest.MonkeyPatch, half_width: float, shown: str
) -> None:
    monkeypatch.setattr(Measurement, "half_width", half_width)
    times = [500_000] * 5 + [MS] * 30 + [9 * MS] * 5
    (table,) = (b for b in compared(ArmResult("a", measured(times)), arm("b", MS)).report().blocks
                if isinstance(b, Table))  # fmt: skip
    assert table.rows[0][1] == shown
    (table,) = (b for b in compared(ArmResult("a", measured([MS])), arm("b", MS)).report().blocks
                if isinstance(b, Table))  # fmt: skip
    assert table.rows[0][1] == "1.00 ms (one sample)"


def test_samples_that_are_too_few_or_scatter_too_much_are_said_to() -> None:
    few = compared(ArmResult("a", measured([MS] * 7)), ArmResult("b", measured([2 * MS] * 7)))
    (note,) = note_undecided(few, CompareOptions(repeat=7)).notes
    assert (note.code, note.advice) == ("few-samples", "repeat=20")
    wild = [MS * 1000 ** (i % 3 - 1) * (2 + i * 7 % 5) for i in range(40)]
    found = compared(arm("a", MS, step=0), ArmResult("b", measured(wild)))
    assert headline(found).detail == "the samples scatter too much for a ratio"
    found = compared(ArmResult("a", measured(wild)), arm("b", MS, step=0))
    assert rows(found)["self-check"] == (
        "a scatters too much to compare it with itself: differences below 100× cannot be seen"
    )


def test_bars_are_sorted_and_say_how_each_compares_with_the_baseline() -> None:
    found = compared(arm("b", 2 * MS), arm("slow", 3 * MS), ArmResult("no", None), arm("a", MS))
    (bars,) = (block for block in found.report().blocks if isinstance(block, Bars))
    assert [(bar.label, bar.aside, bar.baseline) for bar in bars.rows] == [
        ("a", "2.00× faster", False), ("b", "baseline", True), ("slow", "1.50× slower", False),
    ]  # fmt: skip
    assert (bars.rows[0].low, bars.rows[0].high) == found["a"].interval


@pytest.mark.parametrize(("interleaved", "head"), [(True, "99 % CI"), (False, "95 % CI")])
def test_the_table_says_how_sure_intervals_are(interleaved: bool, head: str) -> None:
    found = compared(arm("a", MS, step=0), ArmResult("b", measured(UNSURE)))
    found = dataclasses.replace(found, interleaved=interleaved)
    (table,) = (block for block in found.report().blocks if isinstance(block, Table))
    assert table.head == ("arm", "median ± rerun", "first call", "against a", head)


@pytest.mark.parametrize(("size", "named"), [(24, True), (25, False)])
def test_a_long_name_of_the_baseline_leaves_room_for_the_table(size: int, named: bool) -> None:
    name = "x" * size
    found = compared(arm(name, MS, step=0), arm("b", 2 * MS))
    (table,) = (block for block in found.report().blocks if isinstance(block, Table))
    assert f"against {name if named else 'the baseline'}" in table.head


def test_the_headline_says_that_arms_slow_each_other_down() -> None:
    slowed = notes.slowed_by_others({"a": 2.0})
    found = compared(arm("a", 2 * MS, step=0), arm("b", MS, step=0), notes=(slowed,))
    assert headline(found).detail == "arms slow each other down"
    unsure = compared(arm("a", MS, step=0), ArmResult("b", measured(UNSURE)), notes=(slowed,))
    assert (
        headline(unsure).detail
        == "b takes 0.6–1.4× the time of a (99 % CI), arms slow each other down"
    )


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
    codes = [note.code for note in shown_notes(found)]
    assert codes == (["depends-on-interleaving"] if depends else [])
    assert (headline(found).figure == "b and a affect each other") is depends
    swept_there = swept(Point(("1",), found))
    assert swept_there.winners == ["" if depends else "b"]


def test_arms_under_other_names_keep_their_times_alone() -> None:
    alone = {"a": 1.0, "b": 1.1, "c": 9.0}
    found = compared(*(arm(n, t * MS) for n, t in (("a", 2), ("b", 1), ("c", 3))), alone=alone)
    chosen = found.choose({"b": "a", "a": "b"}, "b")
    assert chosen.alone == {"a": 1.1, "b": 1.0}
    assert chosen.verdict("a") == "CAN'T TELL"
    assert [note.code for note in chosen.all_notes()] == ["depends-on-interleaving"]


def test_three_pairs_have_a_range_and_no_interval() -> None:
    found = compared(
        ArmResult("a", measured([MS] * 3)), ArmResult("b", measured([MS, 2 * MS, 4 * MS]))
    )
    (table,) = (block for block in found.report().blocks if isinstance(block, Table))
    assert table.head[-1] == "range of 3 pairs"
    assert headline(found).detail == "b takes 1–4× the time of a (range of 3 pairs)"
    assert (found.rows()[1]["ratio_low"], found.rows()[1]["ratio_high"]) == (None, None)
    assert rows(found)["self-check"] == "none: too few samples to compare a with itself"
    (bars,) = (block for block in found.report().blocks if isinstance(block, Bars))
    assert all(bar.low == bar.value == bar.high for bar in bars.rows)  # no whisker


def test_where_arms_have_different_intervals_each_says_what_it_is() -> None:
    few = ArmResult("c", measured([3 * MS, 3 * MS + 99_000]))
    found = compared(arm("a", MS), ArmResult("b", measured(UNSURE)), few)
    (table,) = (block for block in found.report().blocks if isinstance(block, Table))
    assert table.head[-1] == "interval"
    assert table.rows[1][-1].startswith("99 % CI ")
    assert table.rows[2][-1].startswith("range of 2 pairs ")


def test_whiskers_and_table_show_the_same_interval() -> None:
    wide = [MS * (2 + i % 3) for i in range(40)]
    found = compared(
        *(ArmResult(n, measured([t * ns for ns in wide])) for t, n in enumerate("ab", 1))
    )
    (bars,) = (block for block in found.report().blocks if isinstance(block, Bars))
    (table,) = (block for block in found.report().blocks if isinstance(block, Table))
    low, high = (bar := bars.rows[1]).low, bar.high
    assert table.rows[1][1] == f"{bar.shown} ({units.span(low, high)})"


def test_an_arm_without_a_figure_is_left_out_of_the_headline() -> None:
    lazy = ArmResult("b", measured([100] * 40, notes=(LAZY,)))
    found = compared(arm("a", 2 * MS), lazy, arm("c", MS))
    assert headline(found).figure == "c is 2.00× faster than a"
    assert [found.verdict(label) for label in "abc"] == ["", "INVALID", "FASTER"]
    of_lazy = Comparison((arm("a", 2 * MS), lazy), "b")
    assert (of_lazy.verdict("a"), of_lazy.verdict("b")) == ("CAN'T TELL", "")
    assert headline(of_lazy).detail == "b: not the time of the work that the code describes"


@pytest.mark.parametrize(
    ("sides", "facts", "detail", "word"),
    [
        ((arm("a", MS),), {}, "fewer than two arms were measured", "FAILED"),
        ((ArmResult("a", None, "E"), arm("b", MS)), {}, "fewer than two arms were measured",
         "FAILED"),
        ((ArmResult("a", None, "E"), arm("b", MS), arm("c", MS)), {},
         "the baseline a failed: take another one, such as b", "FAILED"),
        ((arm("a", MS), ArmResult("b", None)), {"notes": (timing_notes.interrupted(),)},
         "interrupted before two arms were measured", "INTERRUPTED"),
    ],
)  # fmt: skip
def test_without_a_ratio_the_headline_says_why(
    sides: tuple[ArmResult, ...], facts: dict, detail: str, word: str
) -> None:
    shown = headline(compared(*sides, **facts))
    assert (shown.figure, shown.detail, shown.verdict) == ("no comparison", detail, word)


def test_the_table_says_what_became_of_each_arm() -> None:
    sides = (arm("a", MS), ArmResult("b", None), ArmResult("c", None, "E: no"),
             ArmResult("d", measured([])))  # fmt: skip
    (table,) = (b for b in compared(*sides).report().blocks if isinstance(b, Table))
    assert [row[:3] for row in table.rows] == [
        ("a", "1.00 ms ± 2.5 %", "2.00 ms"), ("b", "not run", ""), ("c", "failed", ""),
        ("d", "first call only", "2.00 ms"),
    ]  # fmt: skip
    assert not any(isinstance(block, Bars) for block in compared(*sides).report().blocks)


def test_first_calls_and_what_they_pay_back_are_told_of_each_arm() -> None:
    eager, jitted = Counterpart(False, 0.01, 0.01, 0.09), Counterpart(True, 0.001, 0.01, 0.09)
    found = compared(
        arm("jitted", MS, first_call=0.1, phases={"compile": 0.09}, counterpart=eager),
        arm("eager", 10 * MS, counterpart=jitted),
    )
    assert rows(found)["first call"] == "jitted 100 ms = compile 90 ms + run 10 ms"
    assert rows(found)["break-even"].startswith("jitted after 11 calls (eager 10 ms,")


@pytest.mark.parametrize(("throughput", "told"), [(0.0091, False), (0.0089, True)])
def test_throughput_is_told_where_it_differs_from_latency(throughput: float, told: bool) -> None:
    found = compared(arm("a", MS), arm("b", 10 * MS, step=0, throughputs=(throughput,)))
    assert ("throughput" in rows(found)) is told


def test_what_is_the_same_is_like_for_like_only_where_nothing_differs() -> None:
    sides = (arm("a", MS), arm("b", MS))
    assert rows(compared(*sides, equal=("float32",)))["like for like"] == "float32"
    compiled = notes.eager_beside_compiled(["a"], ["b"])
    assert "like for like" in rows(compared(*sides, equal=("float32",), notes=(compiled,)))
    other = notes.other_result("b", "a", "")
    assert rows(compared(*sides, equal=("float32",), notes=(other,)))["in common"] == "float32"


def test_a_control_that_is_wide_is_said_to_be() -> None:
    wide = ArmResult("a", measured([MS + 200_000 * (i % 4 // 2) for i in range(40)]))
    found = compared(wide, arm("b", MS))
    assert found.against_itself is not None
    assert rows(found)["self-check"] == "passed: a against itself is 1.000× (95 % CI)"
    assert found.floor == 0.0
    wide = ArmResult("a", measured(UNSURE))
    found = compared(wide, arm("b", MS))
    assert found.floor > 0.1
    assert compared(wide, dataclasses.replace(wide, label="b")).verdict("b") == "SAME"
    assert rows(found)["self-check"] == (
        "a against itself is 0.6–1.7× (95 % CI): differences below 1.7× cannot be seen"
    )


@pytest.mark.parametrize(
    ("elapsed", "advice"),
    [
        (0.1, "budget=30 for an answer"),
        (12.0, "budget=3584 for an answer (about 59 min 44 s)"),
        (12.1, "run it again when the machine is quieter"),
    ],
)
def test_how_long_an_answer_would_take_is_told(elapsed: float, advice: str) -> None:
    found = compared(arm("a", MS, step=0), ArmResult("b", measured(UNSURE)), elapsed=elapsed)
    assert found.verdict("b") == "CAN'T TELL"
    told = note_undecided(found, CompareOptions())
    (note,) = shown_notes(told)
    assert note.advice == advice
    assert note.text.startswith("b: undecided after ")
    assert told.choose({"b": "x.b", "a": "x.a"}, "x.a").notes == ()
    decided = compared(arm("a", MS), arm("b", 2 * MS), elapsed=elapsed)
    assert note_undecided(decided, CompareOptions()) is decided


def test_where_samples_were_counted_an_answer_takes_more_of_them() -> None:
    found = compared(arm("a", MS, step=0), ArmResult("b", measured(UNSURE)), elapsed=0.1)
    (note,) = note_undecided(found, CompareOptions(repeat=len(UNSURE))).notes
    assert re.fullmatch(r"repeat=\d+ for an answer \(about 30 s\)", note.advice)


def test_a_note_on_several_arms_is_told_once_with_their_names() -> None:
    hidden, late = timing_notes.output_hidden(3), timing_notes.compiled_late(1)
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
    assert Sweep(("n",), ("a", "b"), (Point(("1",), found),)).check() == wrong
    several = Sweep(("n", "k"), ("a", "b"), (Point(("1",), found),))
    assert several.check() == "a point has not as many values as there are names"


def test_a_comparison_is_shown_in_one_line_inside_of_other_values() -> None:
    assert repr(MIXED) == "<Comparison a, same SAME, bad, slow SLOWER>"
    assert repr(SWEPT) == "<Sweep line, square over 3 points>"


# What is said of a sweep


def swept(
    *points: Point, planned: int = 0, names: tuple[str, ...] = ("n",), **facts: object
) -> Sweep:
    labels = tuple(side.label for side in points[0].compared.sides) if points else ("a", "b")
    return Sweep(names, labels, points, planned=planned or len(points), **facts)  # type: ignore[arg-type]


def even(n: object, **times: float) -> Point:
    sides = tuple(arm(label, round(t * MS), step=0) for label, t in times.items())
    return Point((str(n),), compared(*sides))


@pytest.mark.parametrize(
    ("points", "figure", "word"),
    [
        ([even(1, a=1, b=2)], "a is the fastest everywhere", "FASTEST"),
        ([even(1, a=1, b=2), even(2, a=3, b=4)], "a is the fastest everywhere", "FASTEST"),
        ([even(1, a=1, b=2), even(2, a=3, b=4), even(3, a=2, b=1)],
         "b overtakes a at n ≈ 2.3", "CHANGES"),
        ([even(1, a=1, b=1), even(2, a=3, b=4)], "a is the fastest at n = 2", "FASTEST"),
        ([even(1, a=1, b=1), even(2, a=1, b=1)], "no clear winner", "SAME"),
        ([Point(("1",), compared(arm("a", MS, step=0), ArmResult("b", measured(UNSURE))))],
         "no clear winner", "CAN'T TELL"),
        ([Point(("1",), compared(ArmResult("a", None, "E"), ArmResult("b", None, "E")))],
         "no clear winner", "FAILED"),
        ([], "no result", "FAILED"),
    ],
)  # fmt: skip
def test_the_headline_of_a_sweep_says_who_is_the_fastest_where(
    points: list[Point], figure: str, word: str
) -> None:
    assert headline(swept(*points)).figure == figure
    assert headline(swept(*points)).verdict == word


def test_the_only_arm_that_was_measured_is_the_fastest() -> None:
    alone = Point(("1",), compared(arm("a", MS), ArmResult("b", None, "E")))
    none = Point(("1",), compared(ArmResult("a", measured([])), ArmResult("b", None, "E")))
    assert (swept(alone).fastest(alone), swept(none).fastest(none)) == ("a", "")


def test_an_arm_is_the_fastest_where_it_beats_the_second_and_the_control() -> None:
    first = even(1, b=2, a=1, c=1.005)
    assert swept(first).fastest(first) == ""  # the second is within one percent
    first = even(1, b=2, a=1, c=1.02)
    assert swept(first).fastest(first) == "a"
    noisy = ArmResult("b", measured([2 * t for t in UNSURE]))  # code against itself may differ so
    wide = Point(("1",), compared(noisy, arm("a", MS, step=0), arm("c", 1_020_000, step=0)))
    assert wide.compared.floor > 0.1
    assert swept(wide).fastest(wide) == ""


@pytest.mark.parametrize(("planned", "fastest"), [(0, "a"), (1, "a"), (100, "")])
def test_of_many_points_each_answer_is_to_be_surer(planned: int, fastest: str) -> None:
    """Three of twenty pairs speak against it: of fair coins that is one case in 400."""
    times = [900_000 if i in (2, 9, 15) else 1_050_000 for i in range(20)]
    alone = ArmResult("a", measured([MS] * 20))
    point = Point(("1",), compared(alone, ArmResult("b", measured(times))))
    found = dataclasses.replace(swept(point), planned=planned)
    assert found.fastest(point) == fastest


@pytest.mark.parametrize(
    ("points", "exponent"),
    [
        ([even(1, a=1, b=1), even(10, a=10, b=1), even(100, a=1000, b=1)], 1.5),
        ([even(1, a=1, b=1), even(10, a=10, b=1)], None),  # two points are no line
        ([even(5, a=1, b=1)] * 3, None),
        ([even("x", a=1, b=1), even("y", a=1, b=1), even("z", a=1, b=1)], None),
        ([even(0, a=1, b=1), even(1, a=1, b=1), even(10, a=10, b=1)], None),
    ],
)
def test_growth_is_the_middle_slope_of_three_points_and_more(
    points: list[Point], exponent: float | None
) -> None:
    assert swept(*points).growth("a") == pytest.approx(exponent)


LOUD = [MS * (1 + 3 * (i % 2)) for i in range(40)]


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([even(n, a=t, b=1) for n, t in ((1, 1.0), (10, 0.91), (100, 0.83))],
         "time grows like n^-0.04 (a); the time of b does not depend on n"),
        ([even(n, a=t, b=1) for n, t in ((1, 1.0), (10, 0.97), (100, 0.96))],
         "the time of a, b does not depend on n"),
        ([Point((str(n),), compared(ArmResult("a", measured(LOUD)), arm("b", n * MS)))
          for n in (1, 2, 4)], "time grows like n^1.0 (b); too noisy to tell for a"),
        # Of few samples it is told where it is much.
        ([Point((str(n),), compared(*(ArmResult(label, measured([t, t + 1]))
                                      for label, t in (("a", n * n * MS), ("b", MS)))))
          for n in (1, 2, 4)], "time grows like n^2.0 (a); too noisy to tell for b"),
    ],
)  # fmt: skip
def test_how_time_grows_is_told_as_far_as_intervals_allow(points: list[Point], words: str) -> None:
    assert rows(swept(*points))["growth"] == words


def test_a_value_that_a_logarithmic_axis_has_not_is_said_to_be_left_out() -> None:
    found = swept(*(even(n, a=n + 1, b=2) for n in (0, 10, 100, 1000)))
    assert rows(found)["not drawn"] == "n = 0: the axis is logarithmic, and growth is of ratios"
    assert [x for x, _ in found.times("a")] == [10, 100, 1000]
    for series in chart(found).series:  # each band is at its own value
        assert all(low <= t <= high for _, t, low, high in series.points)
    assert "not drawn" not in rows(swept(*(even(n, a=1, b=2) for n in (1, 10))))


def test_two_values_stand_beside_their_names() -> None:
    at = [("16", "2"), ("64", "2")]
    points = [dataclasses.replace(even(1, a=1, b=2), values=values) for values in at]
    found = swept(*points, names=("n", "dt"))
    assert headline(found).figure == "a is the fastest everywhere"
    points.append(dataclasses.replace(even(1, a=2, b=1), values=("99", "2")))
    assert headline(swept(*points, names=("n", "dt"))).figure == (
        "a is the fastest from n=16, dt=2 to n=64, dt=2; b is the fastest at n=99, dt=2"
    )


def test_of_two_names_neither_is_drawn() -> None:
    points = [dataclasses.replace(even(n, a=1, b=1), values=(str(n), "2")) for n in (1, 2, 3)]
    found = swept(*points, names=("n", "k"))
    assert (found.times("a"), found.growth("a")) == ([], None)
    assert not any(isinstance(block, Chart) for block in found.report().blocks)
    assert headline(found).title == "a, b by n, k"


def test_what_was_left_out_of_a_sweep_is_told() -> None:
    large = Skipped("b", ("1",), needed=3 * 2**30, free=2**30)
    found = swept(even(1, a=1, b=1), skipped=(large,), planned=3, unmade={"2": "E: no"})
    assert rows(found)["left out"] == (
        "b after n = 1: its arrays need 3.00 GiB at the next point, 1.00 GiB is free"
    )
    assert rows(found)["setup"] == "failed at n = 2: E: no"
    assert rows(found)["points"] == "1 of 3 measured"
    assert "points" not in rows(swept(even(1, a=1, b=1)))


def test_a_note_of_a_sweep_is_told_once_whatever_its_numbers_are() -> None:
    def at(n: int, *found: Note) -> Point:
        return Point((str(n),), compared(arm("a", MS), arm("b", MS), notes=found))

    late = [timing_notes.compiled_late(n) for n in (2, 3)]
    copies = [validity_notes.copies("x goes", n) for n in (12, 24)]
    slowed = [notes.slowed_by_others({label: 2.0}) for label in "ab"]
    points = [at(1, late[0], copies[0], slowed[0]), at(2, LAZY, late[1], copies[1], slowed[1])]
    (shown,) = (block for block in swept(*points).report().blocks if isinstance(block, Notes))
    assert shown.notes == (slowed[0], LAZY, late[0], copies[0])


def test_what_is_not_said_of_a_comparison_or_a_sweep_was_not_so() -> None:
    bare = Comparison((arm("a", MS), arm("b", MS)), "a")
    assert (bare.interleaved, bare.elapsed, bare.equal, bare.notes) == (True, 0.0, (), ())
    assert (bare.sides[0].failed, ArmResult("c", None).failed) == ("", "")
    assert Sweep(("n",), ("a", "b"), ()) == Sweep(("n",), ("a", "b"), (), (), 0, {})


def chart(found: Sweep) -> Chart:
    (block,) = (block for block in found.report().blocks if isinstance(block, Chart))
    return block


def test_the_picture_of_a_sweep_has_axes_lines_and_where_they_cross() -> None:
    drawn = chart(SWEPT)
    assert (drawn.x.name, drawn.x.at, drawn.x.log) == ("n", (10, 100, 1000), True)
    assert (drawn.y.name, drawn.y.unit, drawn.y.log) == ("median ± rerun, per call", "s", True)
    assert [[point[:2] for point in line.points] for line in drawn.series] == [
        SWEPT.times("line"), SWEPT.times("square"),
    ]  # fmt: skip
    (mark,) = drawn.marks
    assert mark.words == "line overtakes square at n ≈ 100"
    assert (mark.x, mark.y) == (pytest.approx(100, rel=0.01), pytest.approx(400e-6, rel=0.01))


@pytest.mark.parametrize(
    ("points", "crossings"),
    [
        ([even(1, a=1, b=2), even(4, a=4, b=2)], [("b", "a", 2.0, 2.0)]),
        ([even(4, a=4, b=2), even(1, a=1, b=2)], [("b", "a", 2.0, 2.0)]),  # in any order
        ([even(1, a=1, b=2), even(4, a=2, b=2), even(16, a=4, b=2)], [("b", "a", 4.0, 2.0)]),
        (
            [even(1, a=1, b=2, c=9), even(4, a=4, b=2, c=9), even(16, a=4, b=4, c=1)],
            [("b", "a", 2.0, 2.0), ("c", "b", 4 * 2 ** (2 * math.log2(4.5) / math.log2(18)), 2.83)],
        ),
        ([even(1, a=1, b=2), even(2, a=1, b=2)], []),
        ([even("x", a=1, b=2), even("y", a=2, b=1)], []),  # no numbers
    ],
)
def test_a_crossing_lies_on_the_straight_lines_between_points(
    points: list[Point], crossings: list[tuple[str, str, float, float]]
) -> None:
    found = find_crossings(swept(*points))
    assert found is not None
    assert [(c.faster, c.slower) for c in found] == [(a, b) for a, b, _, _ in crossings]
    assert [c.value for c in found] == pytest.approx([x for _, _, x, _ in crossings], rel=0.01)
    assert [c.seconds * 1e3 for c in found] == pytest.approx(
        [y for _, _, _, y in crossings], rel=0.1
    )


def test_where_an_arm_was_left_out_the_crossing_is_not_known() -> None:
    points = [even(1, a=1, b=2), even(2, b=2, c=3)]
    found = swept(*points)
    assert find_crossings(found) is None
    assert headline(found).figure == "a is the fastest at n = 1; b is the fastest at n = 2"
    assert chart(swept(even(1, a=1, b=2), even(2, a=1, b=2))).marks == ()


def test_the_headline_says_between_which_points_the_only_crossing_was_seen() -> None:
    one = swept(even(1, a=1, b=2), even(2, a=2, b=2), even(4, a=4, b=2))
    assert headline(one).detail == "a is fastest up to 1, b from 4"
    two = swept(even(1, a=1, b=2), even(4, a=4, b=2), even(16, a=4, b=8))
    assert headline(two).figure == "b overtakes a at n ≈ 2.0; a overtakes b at n ≈ 8.0"
    assert headline(two).detail == ""
    words = swept(even("f32", a=1, b=2), even("f64", a=2, b=1), names=("dtype",))
    assert headline(words).figure == (
        "a is the fastest at dtype = f32; b is the fastest at dtype = f64"
    )


def test_a_frame_has_a_row_for_each_arm() -> None:
    frame = MIXED.to_pandas().set_index("arm")
    assert list(frame.index) == ["a", "same", "bad", "slow"]
    assert frame.loc["slow", "verdict"] == "SLOWER"
    assert frame.loc["slow", "median_s"] == MIXED["slow"].median
    assert frame.loc["slow", "throughput_s"] == 0.004
    assert frame.loc["bad", "failed"] == "ValueError: no"
    assert math.isnan(frame.loc["bad", "median_s"])
    assert frame.loc["same", "ratio_low"] < frame.loc["same", "ratio"] < 1.01


def test_a_frame_of_a_sweep_has_a_row_for_each_arm_at_each_value() -> None:
    frame = SWEPT.to_pandas()
    assert list(zip(frame["n"], frame["arm"], strict=True)) == [
        *itertools.product(("10", "100", "1000"), ("line", "square"))
    ]
    wide = frame.pivot(index="n", columns="arm", values="median_s")
    assert wide.loc["1000", "square"] == SWEPT.times("square")[-1][1]


@pytest.fixture
def axes() -> object:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    _, ax = pyplot.subplots()
    yield ax
    pyplot.close("all")


def test_arms_are_drawn_as_bars_of_their_times(axes: object) -> None:
    assert MIXED.plot(axes) is axes
    assert PAIR.plot() is not axes
    drawn = zip(axes.get_yticklabels(), axes.patches, strict=True)
    assert {tick.get_text(): bar.get_width() for tick, bar in drawn} == {
        label: MIXED[label].median for label in ("a", "same", "slow")
    }


def test_a_sweep_is_drawn_as_lines_on_logarithmic_scales(axes: object) -> None:
    SWEPT.plot(axes)
    drawn = {line.get_label(): list(line.get_xydata().tolist()) for line in axes.lines}
    assert drawn == {label: [list(p) for p in SWEPT.times(label)] for label in SWEPT.labels}
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "n")
