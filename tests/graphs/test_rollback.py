"""What a look changes is put back, in all frameworks."""

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


def test_an_error_knows_the_names_of_the_users_functions() -> None:
    outer = "here"
    with pytest.raises(KeyError) as raised:
        fail("there")
    roots = roots_in(raised.value)
    assert (roots["outer"], roots["inner"], roots["GLOBAL"]) == (outer, "there", GLOBAL)
    assert roots["fail"] is fail
    assert "Frameworks" not in roots


@pytest.mark.parametrize("by", ["cause", "context"])
def test_so_do_the_errors_from_which_it_came(by: str) -> None:
    def later() -> None:
        try:
            fail("there")
        except KeyError as error:
            raise TypeError from error if by == "cause" else None

    with pytest.raises(TypeError) as raised:
        later()
    roots = roots_in(raised.value)
    assert roots["inner"] == "there"
    raised.value.__context__ = raised.value  # in a circle
    raised.value.__cause__ = None
    assert "inner" not in roots_in(raised.value)


def test_names_of_libraries_are_left_out() -> None:
    import json

    with pytest.raises(json.JSONDecodeError) as raised:
        json.loads("{")
    assert "idx" not in roots_in(raised.value)
    exec_names = {"mine": 1}
    with pytest.raises(ZeroDivisionError) as divided:
        exec(compile("mine / 0", "<cell>", "exec"), exec_names)
    roots = roots_in(divided.value)
    assert roots["mine"] == 1
    assert "__builtins__" not in roots
