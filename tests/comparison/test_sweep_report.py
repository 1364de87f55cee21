"""What is said of a sweep, from hand-made samples: its headline, its picture, how time grows."""

import dataclasses
import itertools
import math

import pytest

from ipyjaxbench import Comparison, Sweep
from ipyjaxbench.comparison import notes
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.comparison.crossings import find_crossings
from ipyjaxbench.comparison.sweep import Point, Skipped
from ipyjaxbench.reports import Chart, Note
from ipyjaxbench.timing import notes as timing_notes
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.comparison.made import MS, UNSURE, arm, compared, even, noted, only, sampled, swept
from tests.results import headline, rows


def point(n: int, **times: int) -> Point:
    sides = (arm(label, ns, step=300 + 100 * i) for i, (label, ns) in enumerate(times.items()))
    return Point((str(n),), compared(*sides))


SWEPT = swept(
    point(10, line=40_000, square=4_000),
    point(100, line=400_000, square=400_000),
    point(1000, line=4_000_000, square=40_000_000),
    skipped=(Skipped("square", ("1000",), per_call=0.04, budget=0.02),),
    planned=4,
)
BELOW_THE_PICTURE = """\
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


def test_a_sweep_reads_so() -> None:
    assert str(SWEPT).endswith("\n" + BELOW_THE_PICTURE.rstrip("\n"))
    assert str(SWEPT).splitlines()[:2] == [
        "line, square by n  line overtakes square at n ≈ 100   square is        ⇄ CHANGES",
        "                   fastest up to 10, line from 1000",
    ]
    assert repr(SWEPT) == "<Sweep line, square over 3 points>"
    at = [(row["n"], row["arm"]) for row in SWEPT.rows()]
    assert at == [*itertools.product(("10", "100", "1000"), ("line", "square"))]
    assert SWEPT.rows()[-1]["median_s"] == SWEPT.times("square")[-1][1]


def test_the_picture_of_a_sweep_has_axes_lines_and_where_they_cross() -> None:
    drawn = only(SWEPT, Chart)
    assert (drawn.x.name, drawn.x.at, drawn.x.log) == ("n", (10, 100, 1000), True)
    assert (drawn.y.name, drawn.y.unit, drawn.y.log) == ("median ± rerun, per call", "s", True)
    lines = [[point[:2] for point in line.points] for line in drawn.series]
    assert lines == [SWEPT.times("line"), SWEPT.times("square")]
    (mark,) = drawn.marks
    assert mark.words == "line overtakes square at n ≈ 100"
    assert (mark.x, mark.y) == (pytest.approx(100, rel=0.01), pytest.approx(400e-6, rel=0.01))


FAILED = [ArmResult(label, None, "E") for label in "ab"]


@pytest.mark.parametrize(
    ("points", "figure", "word"),
    [
        ([even(1, a=1, b=2), even(2, a=3, b=4)], "a is the fastest everywhere", "FASTEST"),
        ([even(1, a=1, b=2), even(2, a=3, b=4), even(3, a=2, b=1)],
         "b overtakes a at n ≈ 2.3", "CHANGES"),
        ([even(1, a=1, b=2), even(4, a=4, b=2), even(16, a=4, b=8)],
         "b overtakes a at n ≈ 2.0; a overtakes b at n ≈ 8.0", "CHANGES"),
        ([even("f32", a=1, b=2), even("f64", a=2, b=1)],  # values that are no numbers
         "a is the fastest at n = f32; b is the fastest at n = f64", "CHANGES"),
        ([even(1, a=1, b=1), even(2, a=3, b=4)], "a is the fastest at n = 2", "FASTEST"),
        ([even(1, a=1, b=1), even(2, a=1, b=1)], "no clear winner", "SAME"),
        ([Point(("1",), compared(arm("a", MS, step=0), sampled("b", UNSURE)))],
         "no clear winner", "CAN'T TELL"),
        ([Point(("1",), compared(*FAILED))], "no clear winner", "FAILED"),
        ([Point(("1",), compared(arm("a", MS), FAILED[1]))], "no clear winner", "FAILED"),
        ([], "no result", "FAILED"),
    ],
)  # fmt: skip
def test_the_headline_says_who_is_the_fastest_where(
    points: list[Point], figure: str, word: str
) -> None:
    shown = headline(swept(*points))
    assert (shown.figure, shown.verdict) == (figure, word)


def failing(n: int, label: str) -> Point:
    """A point at which an arm of three has no time."""
    sides = (ArmResult(each.label, None, "E") if each.label == label else each
             for each in even(n, a=1, b=2, c=3).compared.sides)  # fmt: skip
    return Point((str(n),), compared(*sides))


@pytest.mark.parametrize(
    ("points", "planned", "figure", "detail"),
    [
        ([even(1, a=1, b=2, c=3), failing(2, "c"), failing(4, "c")], 0,
         "a is the fastest at n = 1 to 4", "c has no time at n = 2 and 1 more point"),
        ([failing(1, "b"), failing(2, "c")], 0,
         "a is the fastest at n = 1 to 2", "b has no time at n = 1; c has no time at n = 2"),
        ([even(1, a=1, b=2), Point(("2",), compared(arm("a", MS), FAILED[1]))], 0,
         "a is the fastest at n = 1", "b has no time at n = 2"),
        ([even(1, a=1, b=2), even(2, a=1, b=2)], 3, "a is the fastest at n = 1 to 2", ""),
    ],
)  # fmt: skip
def test_the_fastest_is_so_where_it_was_compared(
    points: list[Point], planned: int, figure: str, detail: str
) -> None:
    shown = headline(swept(*points, planned=planned))
    assert (shown.figure, shown.detail) == (figure, detail)


def test_an_arm_is_the_fastest_where_it_beats_the_second_and_the_control() -> None:
    noisy = sampled("b", [2 * t for t in UNSURE])  # code against itself may differ so
    wide = Point(("1",), compared(noisy, arm("a", MS, step=0), arm("c", 1_020_000, step=0)))
    alone = Point(("1",), compared(arm("a", MS), FAILED[1]))
    none = Point(("1",), compared(sampled("a", []), FAILED[1]))
    for at, fastest in (
        (even(1, b=2, a=1, c=1.005), ""),  # the second is within one percent
        (even(1, b=2, a=1, c=1.02), "a"),
        (wide, ""),
        (alone, ""),  # it was compared with nothing
        (none, ""),
    ):
        assert swept(at).fastest(at) == fastest


@pytest.mark.parametrize(("planned", "fastest"), [(0, "a"), (1, "a"), (100, "")])
def test_of_many_points_each_answer_is_to_be_surer(planned: int, fastest: str) -> None:
    """Three of twenty pairs speak against it: of fair coins that is one case in 400."""
    times = [900_000 if i in (2, 9, 15) else 1_050_000 for i in range(20)]
    at = Point(("1",), compared(sampled("a", [MS] * 20), sampled("b", times)))
    assert dataclasses.replace(swept(at), planned=planned).fastest(at) == fastest


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
        ([Point((str(n),), compared(sampled("a", LOUD), arm("b", n * MS))) for n in (1, 2, 4)],
         "time grows like n^1.0 (b); too noisy to tell for a"),
        # Of few samples it is told where it is much.
        ([Point((str(n),), compared(sampled("a", [n * n * MS, n * n * MS + 1]),
                                    sampled("b", [MS, MS + 1]))) for n in (1, 2, 4)],
         "time grows like n^2.0 (a); too noisy to tell for b"),
    ],
)  # fmt: skip
def test_how_time_grows_is_told_as_far_as_intervals_allow(points: list[Point], words: str) -> None:
    assert rows(swept(*points))["growth"] == words


def test_a_value_that_a_logarithmic_axis_has_not_is_said_to_be_left_out() -> None:
    found = swept(*(even(n, a=n + 1, b=2) for n in (0, 10, 100, 1000)))
    assert rows(found)["not drawn"] == "n = 0: the axis is logarithmic, and growth is of ratios"
    assert [x for x, _ in found.times("a")] == [10, 100, 1000]
    for series in only(found, Chart).series:  # each band is at its own value
        assert all(low <= t <= high for _, t, low, high in series.points)
    assert "not drawn" not in rows(swept(*(even(n, a=1, b=2) for n in (1, 10))))


def test_two_values_stand_beside_their_names_and_neither_is_drawn() -> None:
    points = [
        dataclasses.replace(even(1, a=a, b=b), values=(n, "2"))
        for n, a, b in (("16", 1, 2), ("64", 1, 2), ("99", 2, 1))
    ]
    found = swept(*points, names=("n", "dt"))
    assert headline(found).title == "a, b by n, dt"
    assert headline(found).figure == (
        "a is the fastest from n=16, dt=2 to n=64, dt=2; b is the fastest at n=99, dt=2"
    )
    assert (found.times("a"), found.growth("a")) == ([], None)
    assert not any(isinstance(block, Chart) for block in found.report().blocks)


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

    lazy = validity_notes.lazy("generator", "")
    late = [timing_notes.compiled_late(n) for n in (2, 3)]
    copies = [validity_notes.copies("x goes", n) for n in (12, 24)]
    slowed = [notes.slowed_by_others({label: 2.0}) for label in "ab"]
    points = [at(1, late[0], copies[0], slowed[0]), at(2, lazy, late[1], copies[1], slowed[1])]
    assert noted(swept(*points)) == (slowed[0], lazy, late[0], copies[0])


def test_what_is_not_said_of_a_comparison_or_a_sweep_was_not_so() -> None:
    bare = Comparison((arm("a", MS), arm("b", MS)), "a")
    assert (bare.interleaved, bare.elapsed, bare.equal, bare.notes) == (True, 0.0, (), ())
    assert (bare.sides[0].failed, ArmResult("c", None).failed) == ("", "")
    assert Sweep(("n",), ("a", "b"), ()) == Sweep(("n",), ("a", "b"), (), (), 0, {})


@pytest.mark.parametrize(
    ("points", "crossings"),
    [
        ([even(1, a=1, b=2), even(4, a=4, b=2)], [("b", "a", 2.0, 2.0)]),
        ([even(4, a=4, b=2), even(1, a=1, b=2)], [("b", "a", 2.0, 2.0)]),  # in any order
        ([even(1, a=1, b=2), even(4, a=2, b=2), even(16, a=4, b=2)], [("b", "a", 4.0, 2.0)]),
        ([even(1, a=1, b=2, c=9), even(4, a=4, b=2, c=9), even(16, a=4, b=4, c=1)],
         [("b", "a", 2.0, 2.0), ("c", "b", 4 * 2 ** (2 * math.log2(4.5) / math.log2(18)), 2.83)]),
        ([even(1, a=1, b=2), even(2, a=1, b=2)], []),
        ([even("x", a=1, b=2), even("y", a=2, b=1)], []),  # no numbers
    ],
)  # fmt: skip
def test_a_crossing_lies_on_the_straight_lines_between_points(
    points: list[Point], crossings: list[tuple[str, str, float, float]]
) -> None:
    found = find_crossings(swept(*points))
    assert found is not None
    assert [(c.faster, c.slower) for c in found] == [each[:2] for each in crossings]
    assert [c.value for c in found] == pytest.approx([x for _, _, x, _ in crossings], rel=0.01)
    seconds = [y for _, _, _, y in crossings]
    assert [c.seconds * 1e3 for c in found] == pytest.approx(seconds, rel=0.1)


def test_where_an_arm_was_left_out_the_crossing_is_not_known() -> None:
    found = swept(even(1, a=1, b=2), even(2, b=2, c=3))
    assert find_crossings(found) is None
    assert headline(found).figure == "a is the fastest at n = 1; b is the fastest at n = 2"
    assert only(swept(even(1, a=1, b=2), even(2, a=1, b=2)), Chart).marks == ()
