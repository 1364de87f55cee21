"""Functions are compared from Python, with what a cell's set-up, sweep and options give."""

from typing import Any

import pytest

from ipyjaxbench import Comparison, OptionError, Sweep, compare
from ipyjaxbench.comparison.options import CompareOptions


def test_a_set_up_runs_once_and_makes_the_arguments() -> None:
    made: list[int] = []
    seen: set[tuple[Any, ...]] = set()
    found = compare(
        {"sorted": sorted, "list": list}, setup=lambda: made.append(1) or [3, 1], budget=0.05
    )
    assert isinstance(found, Comparison)
    assert made == [1]
    assert [side.measured is not None for side in found.sides] == [True, True]
    arms = {"a": lambda *args: seen.add(args), "b": lambda x, y: x + y}
    compare(arms, setup=lambda: (1, 2), budget=0.05)  # a tuple are several
    assert seen == {(1, 2)}


def test_the_set_up_of_one_arm_runs_before_each_of_its_samples() -> None:
    made: list[list[int]] = []

    def make() -> list[int]:
        made.append([3, 1, 2])
        return made[-1]

    found = compare(
        {"in place": lambda x: x.sort(), "sorted": sorted}, [1, 2], setup={"in place": make},
        number=1, repeat=20,
    )  # fmt: skip
    assert len(made) > 20
    assert made[0] == [1, 2, 3]
    assert found["in place"].loops == 1
    assert not any(note.code == "state-advanced" for note in found["in place"].notes)


def test_swept_values_are_passed_by_name_to_the_functions() -> None:
    seen: set[tuple[int, int]] = set()

    def add(x: int, n: int) -> int:
        seen.add((x, n))
        return x + n

    found = compare({"add": add, "times": lambda x, n: x * n}, 7, sweep={"n": [2, 3]}, budget=0.1)
    assert isinstance(found, Sweep)
    assert [point.values for point in found.points] == [("2",), ("3",)]
    assert seen == {(7, 2), (7, 3)}


def test_swept_values_are_passed_to_the_set_up_where_there_is_one() -> None:
    made: list[tuple[int, int]] = []

    def make(n: int, k: int) -> tuple[list[int], int]:
        made.append((n, k))
        return [0] * n, k

    arms = {"len": lambda x, k: len(x), "sum": lambda x, k: sum(x)}
    found = compare(arms, setup=make, sweep={"n": [10, 20], "k": (1, 2)}, budget=0.2)
    assert made == [(10, 1), (10, 2), (20, 1), (20, 2)]
    assert [point.values for point in found.points] == [(str(n), str(k)) for n, k in made]
    arms = {"a": lambda x: x.sort(), "b": lambda n: n}  # and to the set-up of one arm
    found = compare(arms, setup={"a": lambda n: [n, 1]}, sweep={"n": [2, 3]}, repeat=3)
    assert [side.failed for point in found.points for side in point.compared.sides] == [""] * 4


def test_names_of_arms_arguments_and_values_do_not_clash() -> None:
    arms = {"arg0": lambda x, n, setup: x, "n": lambda x, n, setup: n, "in": lambda *a, **k: 0}
    found = compare(arms, 5, sweep={"n": [2], "setup": [3]}, repeat=3)
    assert [side.failed for side in found.points[0].compared.sides] == ["", "", ""]


def test_options_are_those_of_the_magic() -> None:
    found = compare({"a": sum, "b": sorted}, [1, 2], number=3, repeat=8, align=True)
    assert (found["a"].loops, found["b"].repeat) == (3, 8)
    quick = compare({"a": sum, "b": sorted}, [1, 2], aim="quick", baseline="b")
    assert (quick.baseline, quick.elapsed < 3) == ("b", True)


@pytest.mark.parametrize(
    ("options", "target", "seconds"),
    [
        ({}, 0.02, 6.6),  # for three arms
        ({"aim": "quick"}, 0.05, 1.5),
        ({"aim": "precise"}, 0.005, 30),
        ({"budget": 1.0}, 0.02, 1.0),
        ({"aim": "quick", "budget": 4.0}, 0.05, 4.0),
        ({"budget": 0.0}, 0.02, 0.0),
    ],
)
def test_an_aim_says_how_steady_ratios_are_to_be_and_for_how_long(
    options: dict, target: float, seconds: float
) -> None:
    chosen = CompareOptions(**options)
    assert (chosen.target, chosen.seconds_for(3)) == (target, pytest.approx(seconds))
    usual = (chosen.precision, chosen.restore, chosen.keep_going, chosen.align)
    assert (usual, chosen.baseline, chosen.sweep) == ((3, True, False, False), None, ())


TWO = {"a": int, "b": float}
SWEEP = "sweep takes names with their values, as in sweep={"


@pytest.mark.parametrize(
    ("functions", "args", "options", "message"),
    [
        ([int, float], (1,), {}, "compare takes functions by label, not a list: write compare("),
        ({}, (1,), {}, "no arms: a comparison needs at least two arms"),
        ({"a": int}, (1,), {}, "only one arm, 'a': a comparison needs at least two arms"),
        ({1: int, "b": int}, (), {}, "label 1: must be a string, for example compare({'1': f, .."),
        ({"": int, "b": int}, (), {}, "label '': must be a label that begins with a letter, digit"),
        ({"for loop": int, "b": int}, (), {}, "label 'for loop': must be a label that does not b"),
        ({"a": int, 25 * "b": int}, (), {}, f"label {25 * 'b'!r}: must be a label of at most 24 c"),
        (TWO, (), {"setup": 3}, "setup must be a function that returns the arguments"),
        (TWO, (1,), {"setup": int}, "setup returns the arguments: pass either of them, not both"),
        (TWO, (1,), {"setup": {"c": int}}, "setup for 'c': no such arm; the arms are a, b"),
        (TWO, (1,), {"keep_going": 2}, "keep_going=2: must be False or True"),
        (TWO, (1,), {"baseline": 2}, "baseline=2: must be a string that is not empty"),
        (TWO, (1,), {"baseline": "c"}, "baseline 'c': no such arm; the arms are a, b"),
        (TWO, (1,), {"sweep": 3}, SWEEP),
        (TWO, (1,), {"sweep": {"n": 3}}, SWEEP),
        (TWO, (1,), {"sweep": {"n": "abc"}}, SWEEP),
        (TWO, (1,), {"sweep": {"for": [1]}}, SWEEP),
        (TWO, (1,), {"aim": "best"}, "aim='best': must be 'usual', 'quick' or 'precise'"),
        (TWO, (1,), {"budget": 1, "repeat": 3}, "repeat=3 and budget=1 cannot be combined"),
        (TWO, (1,), {"budget": -1}, "budget=-1: must be a number of seconds, 0 or more"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_one_sentence(
    functions: Any, args: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        compare(functions, *args, **options)
    assert str(caught.value).startswith(message)


def test_a_label_is_given_once_and_may_have_24_characters() -> None:
    with pytest.raises(OptionError, match="'a' appears twice: labels must be unique"):
        CompareOptions().check(["a", "b", "a"])
    CompareOptions(baseline="b").check([24 * "a", "b"])
