"""What a function returns and JAX cannot take: told as what it is, with its line."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax.diagnosis import return_types
from ipyjaxbench.adapters.jax.diagnosis.return_types import NoDataError
from tests.adapters.jax.written import why, written

X = jnp.arange(6.0) - 2


class Owl:
    pass


async def awaited(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("function", "message", "line"),
    [
        (written("x", "yield x"), "the result is a generator", 1),
        (written("x", "x = x + 1\nreturn {'a': x, 'b': [Owl()]}", Owl=Owl),
         "result['b'][0] is an Owl", 3),
        (written("x", "if x is None:\n    return 'none'\nreturn 'some'"),
         "the result is a str", 1),  # that of the function, as there are several
        (awaited, "the result is a coroutine: the function is async", None),
        (written("x", "return awaited(x)", awaited=awaited), "the result is a coroutine", 2),
    ],
)  # fmt: skip
def test_a_result_that_is_no_array_is_called_so_with_its_line(
    function: Callable[..., Any], message: str, line: int | None
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as where a coroutine was never awaited
        found = why(function, X)
    assert (found.error, found.message, found.blamed) == ("TypeError", message, ())
    assert found.because.startswith("The function must return arrays")
    assert line in (found.line, None)
    assert asyncio.run(awaited(1)) == 1


owl = written("x", "return Owl()", Owl=Owl)


def test_what_was_made_says_of_which_package_it_is() -> None:
    with pytest.raises(NoDataError) as caught:
        return_types.refuse_other_than_data(owl, [Owl()])
    assert caught.value.package == "tests"
    assert not return_types.is_of_another_framework(caught.value)
    for package, is_other in (("torch", True), ("tensorflow", True), ("numpy", False)):
        error = NoDataError("", owl, package)
        assert return_types.is_of_another_framework(error) is is_other
    assert not return_types.is_of_another_framework(TypeError())


def test_results_that_are_no_data_are_refused_and_others_handed_on() -> None:
    shape = [{"a": jax.ShapeDtypeStruct((3,), "float32")}]
    with pytest.raises(NoDataError) as caught:
        return_types.refuse_shapes(owl, shape)
    told = "'f' is only the shape of an array and computes nothing: pass it to a function"
    assert return_types.explain_result("f", caught.value) == told
    for result in (X, 3, (X, {"a": 2.0}), None, ()):
        return_types.refuse_other_than_data(owl, [result])
        return_types.refuse_shapes(owl, [result])
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
