"""What a look changes is put back, in all frameworks."""

import json

import pytest

from ipyjaxbench.graphs import keep_random_state, rolled_back, roots_of
from ipyjaxbench.graphs.rollback import roots_in
from ipyjaxbench.usercode import Call
from tests.graphs.conftest import Frameworks


def test_values_and_random_state_are_put_back(frameworks: Frameworks) -> None:
    items, one = [1], frameworks.one
    with rolled_back({"items": items}) as checkpoint:
        items.append(2)
        one.random = 5
    assert (items, one.random, checkpoint.failed) == ([1], 0, [])
    assert checkpoint.restored == ["items"]
    assert one.kept == [([[1]], True)]  # what is drawn meanwhile is of no account


def test_they_are_put_back_after_an_error(frameworks: Frameworks) -> None:
    items, one = [1], frameworks.one

    def change() -> None:
        items.append(2)
        one.random = 5
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), rolled_back({"items": items}):
        change()
    assert (items, one.random) == ([1], 0)
    with pytest.raises(ZeroDivisionError), keep_random_state([7]):
        change()
    assert (one.random, one.kept[-1]) == (0, ([7], True))
    with keep_random_state():
        one.random = 3
    assert (one.random, one.kept[-1]) == (0, ([], True))


def test_a_call_is_its_function_and_its_arguments() -> None:
    assert roots_of(Call.from_function(max, 3, key=abs)) == {"self": max, "arg0": 3, "key": abs}


GLOBAL = ["a global"]


def fail(inner: object) -> None:
    if GLOBAL:
        raise KeyError


@pytest.mark.parametrize("by", ["itself", "cause", "context"])
def test_an_error_and_its_causes_know_the_names_of_the_users_functions(by: str) -> None:
    def later() -> None:
        outer = "here"
        try:
            fail(outer)
        except KeyError as error:
            if by == "itself":
                raise
            raise TypeError from error if by == "cause" else None

    with pytest.raises((KeyError, TypeError)) as raised:
        later()
    roots = roots_in(raised.value)
    assert (roots["outer"], roots["inner"], roots["GLOBAL"]) == ("here", "here", GLOBAL)
    assert roots["fail"] is fail
    assert "Frameworks" not in roots
    raised.value.__context__ = raised.value  # in a circle
    raised.value.__cause__ = None
    assert ("inner" in roots_in(raised.value)) is (by == "itself")


def test_names_of_libraries_are_left_out() -> None:
    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads("{")
    assert "idx" not in roots_in(raised.value)
    with pytest.raises(ZeroDivisionError) as divided:
        exec(compile("mine / 0", "<cell>", "exec"), {"mine": 1})
    roots = roots_in(divided.value)
    assert roots["mine"] == 1
    assert "__builtins__" not in roots
