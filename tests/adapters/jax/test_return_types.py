"""What a function returns that JAX cannot take, and on which line."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ipyjaxbench
from ipyjaxbench import Diagnosis, UntraceableError
from ipyjaxbench.adapters.jax.diagnosis import return_types
from ipyjaxbench.adapters.jax.diagnosis.return_types import NoDataError

X = jnp.ones(3)


class Owl:
    pass


class Box:
    pass


def owl(x: Any) -> Any:
    return Owl()


def box(x: Any) -> Any:
    return x, [Box()]


def one_of_two(x: Any, flag: Any = None) -> Any:
    if flag is None:
        return "none"
    return "some"


def shape(x: Any) -> Any:
    y = x + 1
    return {"a": jax.ShapeDtypeStruct(y.shape, y.dtype)}


def why(function: Any) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        ipyjaxbench.graph(function, X)
    return caught.value.diagnosis


@pytest.mark.parametrize(
    ("function", "message", "line"),
    [
        (owl, "the result is an Owl", 1),
        (box, "result[1][0] is a Box", 1),
        (one_of_two, "the result is a str", 0),  # that of the function, as there are several
    ],
)
def test_what_is_no_data_is_told_with_the_line_that_returns_it(
    function: Any, message: str, line: int
) -> None:
    found = why(function)
    first = function.__code__.co_firstlineno
    assert (found.message, found.line) == (message, first + line)


def test_a_shape_that_is_returned_computes_nothing() -> None:
    with pytest.raises(
        ipyjaxbench.SnippetError, match="is only the shape of an array and computes"
    ):
        ipyjaxbench.graph(shape, X)


def test_what_was_made_says_of_which_package_it_is() -> None:
    with pytest.raises(NoDataError) as caught:
        return_types.refuse_other_than_data(owl, [Owl()])
    assert caught.value.package == "tests"
    assert not return_types.is_of_another_framework(caught.value)
    for package, is_other in (("torch", True), ("tensorflow", True), ("numpy", False)):
        error = NoDataError("", owl, package)
        assert return_types.is_of_another_framework(error) is is_other
    assert not return_types.is_of_another_framework(TypeError())


def test_a_result_of_data_alone_is_not_refused() -> None:
    for result in (X, 3, (X, {"a": 2.0}), None, ()):
        return_types.refuse_other_than_data(owl, [result])
        return_types.refuse_shapes(owl, [result])


def test_a_filter_hands_on_data_alone() -> None:
    assert return_types.keep_data({"a": X, "b": "word", "c": 2}) == {"a": X, "b": None, "c": 2}
    assert return_types.explain_result("f", NoDataError("", owl, whole=[X, "a"])) == ""
    assert return_types.explain_result("f", ValueError()) == ""
    told = return_types.explain_result("f", NoDataError("", owl, whole=owl))
    assert told == "'f' is not called. Call it:  f(...)"


def test_a_function_whose_source_is_gone_has_its_first_line() -> None:
    names: dict[str, Any] = {}
    exec(compile("\n\ndef gone(x):\n    return 'a'\n", "<gone one>", "exec"), names)
    assert NoDataError("", names["gone"]).place == ("<gone one>", 3)
    assert NoDataError("", jnp.sin).place == ("", 0)
    assert NoDataError("", Owl()).place == ("", 0)
