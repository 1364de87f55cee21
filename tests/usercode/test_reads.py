"""What a function reads of the names around it, as values; nothing of it is run."""

import os
from typing import Any

import pytest

from ipyjaxbench.usercode import MOST_READ, Reads, find_reads, fingerprint

SCALE, TABLE = 2.0, {"a": [1, 2]}


class Model:
    def __init__(self) -> None:
        self.w, self.unused = 3, 4

    def apply(self, x: int) -> int:
        return x * self.w


MODEL = Model()


def helper(x: float) -> float:
    return x * SCALE


def f(x: float, n: int = 5) -> Any:
    return helper(x) + TABLE["a"][n] + MODEL.apply(n) + MISSING  # type: ignore[name-defined]  # noqa: F821


def reads(function: Any) -> Reads:
    return find_reads(function, {}, lambda _: None)


def test_each_name_has_its_path_and_what_it_stands_for() -> None:
    found = reads(f)
    table = ("TABLE['a']", "TABLE['a'][0]", "TABLE['a'][1]")
    assert {*found.paths} == {"helper", "SCALE", "MODEL.apply", "MODEL.w", "n", *table}
    assert {*found.values} - {*found.paths} == {"MISSING"}
    assert found.values["SCALE"].content == ("float", "2.0")
    assert (found.is_cut, found.raised, found.side_effects) == (False, False, ())


class Defaults:
    rate, left = 1.0, 5.0

    def __init__(self) -> None:
        self.rate = 2.0
        vars(self)["both"] = 7.0

    @property
    def both(self) -> float:
        return self.rate * self.left


DEFAULTS = Defaults()


def use(held: Defaults) -> float:
    return held.both


def test_an_attribute_hides_what_the_class_has_under_its_name_but_for_properties() -> None:
    found = reads(lambda: use(DEFAULTS)).values
    own = {path: each.words for path, each in found.items() if path.startswith("DEFAULTS.")}
    rest = {"DEFAULTS.__init__": "__init__", "DEFAULTS.both": "both"}
    assert own == {"DEFAULTS.rate": "2.0", "DEFAULTS.left": "5.0", **rest}


def test_codes_are_those_of_the_function_and_of_those_that_it_reaches() -> None:
    assert reads(f).codes == {fingerprint(each.__code__) for each in (f, helper, Model.apply)}
    assert reads(helper).codes == {fingerprint(helper.__code__)}


def given(m: Any, n: Any, x: Any) -> Any:
    y = x
    z = m.w
    return helper(n, y) + z


def given_within(m: Any, n: Any, x: Any) -> Any:
    return [m.w * each for each in x], lambda: lambda: helper(n)


def given_to_two(m: Any, n: Any, x: Any) -> Any:
    def inner() -> Any:
        class Row:
            wide = m.w * helper(n)

        return Row, lambda: (m.w, n)

    return inner, lambda: n


def given_around(m: Any, n: Any, x: Any) -> Any:
    return m.w + helper(n), lambda: (m, n)


@pytest.mark.parametrize("function", [given, given_within, given_to_two, given_around])
def test_arguments_are_read_however_python_loads_them(function: Any) -> None:
    found = find_reads(function, {"m": MODEL, "n": 7}, lambda _: None)
    assert {"m.w", "n"} <= {*found.paths}
    assert ("m" in found.paths) == (function is given_around)  # others read no more of it


def test_very_much_is_cut() -> None:
    many = [*range(2 * MOST_READ)]
    assert reads(lambda: many).is_cut
    deep: list[Any] = []
    for _ in range(99):
        deep = [deep]
    assert reads(lambda: deep).is_cut


@pytest.mark.parametrize(
    ("code", "acts"), [(lambda: os.system("true"), ("system",)), (lambda: helper(1), ())]
)
def test_what_acts_is_told(code: Any, acts: tuple[str, ...]) -> None:
    assert reads(code).side_effects == acts
