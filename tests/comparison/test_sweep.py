"""Arms compared at many values of a name."""

from contextlib import nullcontext
from typing import Any

import pytest

from ipyjaxbench import ArmFailedError, Comparison, OptionError, Sweep, units
from ipyjaxbench.comparison import run_sweep
from ipyjaxbench.comparison.arm import ArmSpec
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.comparison.run_sweep import sweep_snippets, values_of
from ipyjaxbench.comparison.sweep import Point, Skipped
from ipyjaxbench.errors import Interrupted
from ipyjaxbench.frameworks import Placement
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework
from tests.results import measured

ARMS = {"line": "for i in range(n): pass", "square": "for i in range(n * n // 50): pass"}


def entries(arms: dict[str, str], names: dict[str, Any]) -> list[ArmSpec]:
    return [ArmSpec(n, Snippet(Source.plain(code), names)) for n, code in arms.items()]


def run(
    names: dict[str, Any], swept: dict[str, list], arms: dict[str, str] = ARMS, **options: Any
) -> Sweep:
    setup = options.pop("setup", None)
    before = Snippet(Source.plain(setup), names) if setup else None
    chosen = CompareOptions(**{"budget": 0.4, "keep_going": True, **options})
    return sweep_snippets(before, entries(arms, names), swept, chosen)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("100,300,1000", [100, 300, 1000]), ("5", [5]), ("2**6..2**9", [64, 128, 256, 512]),
        ("100..900", [100, 200, 400, 800]), ("0.5..2", [0.5, 1.0, 2.0]), ("8..8", [8]),
        ("8..15", [8]), ("8..16", [8, 16]), ("size..2 * size", [7, 14]), ("'a', 'b'", ["a", "b"]),
        ("float32,bfloat16", ["float32", "bfloat16"]), ("size, 2 * size", [7, 14]),
    ],
)  # fmt: skip
def test_values_are_expressions_or_a_range_that_doubles(text: str, values: list) -> None:
    assert values_of("n", text, {"size": 7}) == values


RANGE = "a range is low..high with 0 < low <= high"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1,,2", "separate values with commas, for example n=100,300"), ("()", "no values given"),
        ("9..1", RANGE), ("0..8", RANGE), ("-2..8", RANGE), ("a..8", RANGE), ("2..a", RANGE),
        ("1/0", "ZeroDivisionError: division by zero"),
    ],
)  # fmt: skip
def test_what_is_no_value_is_told(text: str, why: str) -> None:
    with pytest.raises(OptionError) as caught:
        values_of("n", text, {})
    assert str(caught.value) == f"--sweep n={text}: {why}"


def by_hand(arms: dict[str, str], values: list[int], **options: Any) -> Sweep:
    """Compare code under a clock that ``work`` moves by a millisecond for each of its turns."""
    clock = FakeClock()
    names = {"work": lambda ms: clock.advance(round(10**6 * ms))}
    return sweep_snippets(
        None, entries(arms, names), {"n": values}, CompareOptions(**options), clock=clock
    )


def test_each_arm_is_measured_at_each_value() -> None:
    arms = {"line": "work(n / 1000)", "square": "work(n * n / 50_000)"}
    found = by_hand(arms, [100, 400, 1600], budget=1.2)
    assert [point.values for point in found.points] == [("100",), ("400",), ("1600",)]
    assert [x for x, _ in found.times("line")] == [100, 400, 1600]
    assert found.growth("line") == pytest.approx(1.0, abs=0.01)
    assert found.growth("square") == pytest.approx(2.0, abs=0.01)
    assert found.fastest(found.points[-1]) == "line"


def test_a_point_gets_half_of_what_a_comparison_does_or_its_share() -> None:
    arms = {"a": "work(2150 * n)", "b": "work(2250 * n)"}
    budget = pytest.approx(2.2)  # of two arms 4.4 s
    left_out = Skipped("b", ("1",), pytest.approx(2.25), budget, needed=0, free=0)
    for options in ({}, {"budget": 4.4}):
        found = by_hand(arms, [1, 2], **options)
        assert found.skipped == (left_out,)
        assert (len(found.points), found.planned) == (1, 2)  # one arm alone is not compared


def sized(*points: tuple[float, int], names: int = 1) -> Sweep:
    """A sweep in which an arm of the fake framework reads so many bytes at each value."""
    made = []
    for n, nbytes in points:
        place = Placement("x", "fake", 1, "float32", (nbytes // 4,), ("fake:0",), nbytes)
        m = measured([10**6] * 20, inputs=(place,), frameworks={"fake": "1.0"})
        sides = (ArmResult("a", m), ArmResult("b", measured([10**6] * 20)))
        made.append(Point((str(n),) * names, Comparison(sides, "a")))
    return Sweep(tuple("nk"[:names]), ("a", "b"), tuple(made))


@pytest.mark.parametrize(
    ("points", "following", "needed"),
    [
        # Bytes that grow with the square of n; two arms have to fit into 4,000,000.
        ([(10, 200_000), (20, 800_000)], 40, 3_200_000),
        ([(10, 200_000), (20, 800_000)], 31, None),  # 1,922,000 of each
        ([(10, 200_000), (20, 800_000)], 32, 2_048_000),
        ([(5, 799_999), (10, 200_000), (20, 800_000)], 40, 3_200_000),  # the last two tell
        ([(20, 800_000)], 4000, None),
        ([(20, 200_000), (10, 800_000)], 4000, None),  # values that fall
        ([(10, 800_000), (20, 800_000)], 4000, None),  # bytes that stay
        ([(10, 200_000), (20, 800_000)], 20, None),
        ([(10, 0), (20, 800_000)], 4000, None),
    ],
)
def test_bytes_at_the_next_point_grow_as_they_did(
    monkeypatch: pytest.MonkeyPatch,
    points: list[tuple[float, int]],
    following: float,
    needed: int | None,
) -> None:
    framework = FakeFramework()
    monkeypatch.setattr(run_sweep, "loaded", lambda: ([framework], {}))
    found = list(run_sweep._too_large(sized(*points), (following,)))
    last = (str(points[-1][0]),)
    known = Skipped("a", last, 0.0, 0.0, pytest.approx(needed), free=4_000_000)
    assert found == ([known] if needed else [])
    assert list(run_sweep._too_large(sized(*points, names=2), (following, 1))) == []


@pytest.mark.parametrize(
    ("values", "twice"),
    [
        ([1, 2, 1], "1"), (["a", "a"], "'a'"), ([(2, 3), (2, 3)], "(2, 3)"), ([len, len], "len"),
        ([1, 1.0, True, "1"], ""), ([[], []], ""), (range(3), ""),
    ],
)  # fmt: skip
def test_a_value_that_comes_twice_is_refused(values: list, twice: str) -> None:
    part = Snippet(Source.plain("n"), {})
    with pytest.raises(OptionError) if twice else nullcontext() as caught:
        run_sweep._refuse([part], {"n": values})
    told = (
        f"sweep={{'n': ...}}: {twice} appears twice. Values must be unique: leave one of them out"
    )
    assert not twice or str(caught.value) == told


def test_two_hundred_points_are_not_too_many_and_each_name_is_used() -> None:
    parts = [Snippet(Source.plain("n + k"), {})]
    run_sweep._refuse(parts, {"n": range(20), "k": range(10)})
    with pytest.raises(OptionError, match="210 points are too many: a sweep has at most 200"):
        run_sweep._refuse(parts, {"n": range(21), "k": range(10)})
    with pytest.raises(OptionError, match=r"^sweep={'j': \.\.\.}: no arm or setup uses j$"):
        run({}, {"n": [1], "j": [1]})


def test_the_baseline_is_another_arm_where_its_own_is_left_out() -> None:
    arms = {"slow": "work(n)", "quick": "work(1)", "also": "work(2)"}
    found = by_hand(arms, [5, 1500, 3000], budget=2.0, baseline="slow")
    assert [each.label for each in found.skipped] == ["slow"]
    assert [point.compared.baseline for point in found.points] == ["slow", "slow", "quick"]
    assert [side.label for side in found.points[-1].compared.sides] == ["quick", "also"]
    assert "slow after n = 1500: one call took" in " ".join(str(found).split())


def test_the_set_up_runs_at_each_value_and_its_names_go() -> None:
    names: dict[str, Any] = {"n": "mine", "xs": "mine too"}
    arms = {"sum": "sum(xs)", "len": "len(xs)"}
    found = run(names, {"n": [10, 1000]}, arms, setup="xs = list(range(n))")
    assert len(found.points) == 2
    assert names == {"n": "mine", "xs": "mine too"}
    with pytest.raises(ZeroDivisionError):  # which fails at every value
        run({}, {"n": [1, 2]}, {"a": "k + n", "b": "k * 2"}, setup="k = 1 / 0")


def test_an_arm_whose_arrays_would_not_fit_is_left_out_before_they_are_made() -> None:
    import numpy as np

    made: list[int] = []

    def zeros(n: int) -> np.ndarray:  # of memory that is only promised until it is written to
        made.append(n)
        return np.zeros(n)

    arms = {"a": "x[:9] + 1", "b": "x[:9] * 2"}
    sizes = [10**5, 10**6, 10**13]
    found = run({"zeros": zeros}, {"n": sizes}, arms, setup="x = zeros(n)")
    assert made == sizes[:2]
    assert [(each.label, each.needed) for each in found.skipped] == [
        ("a", pytest.approx(8e13, rel=0.01)),
        ("b", pytest.approx(8e13, rel=0.01)),
    ]
    needed = units.size(found.skipped[0].needed)
    assert f"its arrays need {needed} at the next point" in " ".join(str(found).split())


@pytest.mark.parametrize("values", [[10**6, 10**400], [1, float("inf")]])
def test_values_that_cannot_be_drawn_are_left_out_of_the_picture(values: list) -> None:
    found = run({}, {"n": values}, {"a": "n + 1", "b": "n + 2"})
    assert len(found.points) == 2
    assert "growth" not in str(found)


def test_a_set_up_or_an_arm_that_fails_at_one_value_leaves_the_others() -> None:
    found = run({}, {"n": [1, 0, 2]}, {"a": "1 / n", "b": "n * 2"})
    assert [point.values for point in found.points] == [("1",), ("0",), ("2",)]
    assert found.points[1].compared.sides[0].failed.startswith("ZeroDivisionError")
    found = run({}, {"n": [1, 0, 2]}, {"a": "k + 1", "b": "k * 2"}, setup="k = 1 / n")
    assert [point.values for point in found.points] == [("1",), ("2",)]
    assert found.unmade == {"0": "ZeroDivisionError: division by zero"}
    assert "failed at n = 0: ZeroDivisionError: division by zero" in str(found)


@pytest.mark.parametrize(
    ("arms", "options"),
    [
        ({"a": "1 / n", "b": "n * 2"}, {"keep_going": False}),
        ({"a": "k + 1", "b": "k * 2"}, {"keep_going": False, "setup": "k = 1 / n"}),
        ({"a": "1 / 0 + n", "b": "[][n]"}, {}),  # to go on is of no use
    ],
)
def test_what_failed_at_one_value_is_raised_at_the_end(
    arms: dict[str, str], options: dict[str, Any]
) -> None:
    with pytest.raises(ArmFailedError, match="division by zero") as caught:
        run({}, {"n": [1, 0, 2]}, arms, **options)
    assert isinstance(caught.value.result, Sweep)
    assert caught.value.result.points[-1].values == ("2",)


def test_an_interrupt_leaves_the_points_that_were_reached() -> None:
    def stop(n: int) -> None:
        if n == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        run({"stop": stop}, {"n": [1, 2, 3, 4]}, {"a": "stop(n)", "b": "n"})
    found = caught.value.result
    assert isinstance(found, Sweep)
    assert [point.values for point in found.points][:2] == [("1",), ("2",)]
    assert len(found.points) <= 3
    assert "of 4 measured" in str(found)
