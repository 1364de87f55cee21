"""Functions are compared from Python, with what a cell's set-up, sweep and options give."""

from typing import Any

import pytest

from ipyjaxbench import Comparison, OptionError, Sweep, compare


def test_a_set_up_runs_once_and_makes_the_arguments() -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(1)
        return [3, 1, 2]

    found = compare({"sorted": sorted, "list": list}, setup=make, budget=0.05)
    assert isinstance(found, Comparison)
    assert made == [1]
    assert [side.measured is not None for side in found.sides] == [True, True]


def test_a_tuple_of_a_set_up_are_several_arguments() -> None:
    seen: set[tuple[Any, ...]] = set()
    arms = {"a": lambda *args: seen.add(args), "b": lambda x, y: x + y}
    compare(arms, setup=lambda: (1, 2), budget=0.05)
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
    assert [point.values for point in found.points] == [("10", "1"), ("10", "2"), ("20", "1"),
                                                        ("20", "2")]  # fmt: skip


def test_the_set_up_of_one_arm_gets_the_swept_values_too() -> None:
    arms = {"a": lambda x: x.sort(), "b": lambda n: n}
    found = compare(arms, setup={"a": lambda n: [n, 1]}, sweep={"n": [2, 3]}, repeat=3)
    assert [side.failed for point in found.points for side in point.compared.sides] == [""] * 4


def test_names_of_arms_arguments_and_values_do_not_clash() -> None:
    arms = {"arg0": lambda x, n, setup: x, "n": lambda x, n, setup: n, "in": lambda *a, **k: 0}
    found = compare(arms, 5, sweep={"n": [2], "setup": [3]}, repeat=3)
    assert [side.failed for side in found.points[0].compared.sides] == ["", "", ""]


def test_options_are_those_of_the_magic() -> None:
    found = compare({"a": sum, "b": sorted}, [1, 2], number=3, repeat=8, align=True)
    assert (found["a"].loops, found["b"].repeat) == (3, 8)
    assert compare({"a": sum, "b": sorted}, [1, 2], aim="quick", baseline="b").elapsed < 3


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        ((), {"setup": 3}, "setup must be a function that returns the arguments"),
        ((1,), {"setup": int}, "setup returns the arguments: pass either of them, not both"),
        ((1,), {"setup": {"c": int}}, "setup for 'c': no such arm; the arms are a, b"),
        ((1,), {"keep_going": 2}, "keep_going=2: must be False or True"),
        ((1,), {"baseline": 2}, "baseline=2: must be a string that is not empty"),
        ((1,), {"sweep": 3}, "sweep takes names with their values, as in sweep={"),
        ((1,), {"sweep": {"n": 3}}, "sweep takes names with their values, as in sweep={"),
        ((1,), {"sweep": {"n": "abc"}}, "sweep takes names with their values, as in sweep={"),
        ((1,), {"sweep": {"for": [1]}}, "sweep takes names with their values, as in sweep={"),
        ((1,), {"sweep": {"n": range(300)}}, "300 points are too many: a sweep has at most 200"),
        ((1,), {"aim": "best"}, "aim='best': must be 'usual', 'quick' or 'precise'"),
        ((1,), {"budget": 1, "repeat": 3}, "repeat=3 and budget=1 cannot be combined"),
        ((1,), {"budget": 2.0, "number": 3}, "number=3 and budget=2.0 cannot be combined"),
        ((1,), {"aim": "quick", "repeat": 3}, "repeat=3 and aim='quick' cannot be combined"),
        ((1,), {"budget": -1}, "budget=-1: must be a number of seconds, 0 or more"),
        ((1,), {"baseline": "c"}, "baseline 'c': no such arm; the arms are a, b"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    args: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError) as caught:
        compare({"a": int, "b": float}, *args, **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (1, "label 1: must be a string, for example compare({'1': f, ...})"),
        ("", "label '': must be a label that begins with a letter, digit or _ and has none"),
        ("<b>", "label '<b>': must be a label that begins with a letter, digit or _ and has none"),
        (
            "for loop",
            "label 'for loop': must be a label that does not begin with for, as",
        ),
    ],
)
def test_a_label_keeps_the_rule_of_a_cell(label: object, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        compare({label: int, "b": int})
    assert str(caught.value).startswith(message)
