"""What a function returns that JAX cannot take, and on which line."""

from typing import Any

import jax.numpy as jnp
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.jax.diagnosis import return_types
from ipyjaxbench.adapters.jax.diagnosis.return_types import NoDataError
from tests.adapters.jax.written import why, written

X = jnp.ones(3)


class Owl:
    pass


owl = written("x", "return Owl()", Owl=Owl)


@pytest.mark.parametrize(
    ("lines", "message", "line"),
    [
        ("return Owl()", "the result is an Owl", 2),
        ("return x, [Owl()]", "result[1][0] is an Owl", 2),
        # That of the function, as there are several.
        ("if x is None:\n    return 'none'\nreturn 'some'", "the result is a str", 1),
    ],
)
def test_what_is_no_data_is_told_with_the_line_that_returns_it(
    lines: str, message: str, line: int
) -> None:
    found = why(written("x", lines, Owl=Owl), X)
    assert (found.message, found.line) == (message, line)


def test_a_shape_that_is_returned_computes_nothing() -> None:
    shape = written("x", "return {'a': jax.ShapeDtypeStruct(x.shape, x.dtype)}")
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
