"""User code is read as one call, whatever is called, and evaluated once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode.call import Call, label_arguments, read_call
from ipyjaxbench.usercode.snippet import Source


class Model:
    def __init__(self) -> None:
        self.w = np.ones(3)

    def __call__(self, x: Any) -> Any:
        return x * self.w

    def step(self, x: Any, *rest: Any, scale: float = 1.0) -> Any:
        return x * scale


def is_data(value: object) -> bool:
    return isinstance(value, np.ndarray | Model)


def call(code: str, **names: Any) -> Call:
    return read_call(Source.plain(code), {"np": np, **names}, is_data)


X = np.arange(3.0)


@pytest.mark.parametrize(
    ("code", "args", "kwargs", "names"),
    [
        ("f(x, 2)", (X, 2), {}, ("x", "y")),
        ("f(x, y=2)", (X,), {"y": 2}, ("x",)),
        ("f(*both)", (X, 5), {}, ("x", "y")),
        ("f(x, **more)", (X,), {"y": 7}, ("x",)),
        ("f(np.ones(3) + x, 2)", (X + 1, 2), {}, ("x", "y")),
        ("y = 4\nf(x, y)", (X, 4), {}, ("x", "y")),
    ],
)
def test_a_call_is_its_function_and_arguments(
    code: str, args: tuple, kwargs: dict, names: tuple
) -> None:
    def f(x: Any, y: Any) -> Any:
        raise AssertionError("it is not to be called")

    found = call(code, f=f, x=X, both=(X, 5), more={"y": 7})
    assert found.function is f
    assert all(np.array_equal(a, b) for a, b in zip(found.args, args, strict=True))
    assert (dict(found.kwargs), found.labels) == (kwargs, names)


@pytest.mark.parametrize(
    ("code", "value", "names"),
    [
        ("x @ x + 1", 6.0, ("x",)),
        ("x.sum()", 3.0, ("x",)),
        ("x", X, ("x",)),
        ("n + 1", 5, ()),
        ("[x, y][0] * n", X * 4, ("x", "y")),
        ("np.float32(x)", np.float32(X), ("x",)),
    ],
)
def test_any_other_expression_is_a_function_of_its_arrays(
    code: str, value: Any, names: tuple
) -> None:
    found = call(code, x=X, y=X + 1, n=4)
    assert found.labels == names
    assert np.array_equal(found.function(*found.args), value)


def test_models_and_their_methods_are_called_as_they_are() -> None:
    model = Model()
    assert call("model(x)", model=model, x=X).function is model
    method = call("model.step(x, scale=2)", model=model, x=X)
    assert (method.function, method.labels) == (model.step, ("x",))


def test_a_fresh_object_may_be_called() -> None:
    found = call("Model()(x)", Model=Model, x=X)
    assert isinstance(found.function, Model)


@pytest.mark.parametrize("code", ["y = 3", "", "for i in []: pass", "x = 1\ny = 2"])
def test_code_without_an_expression_at_its_end_is_refused(code: str) -> None:
    with pytest.raises(SnippetError, match="there is no expression to look at: end with a call"):
        call(code)


def test_what_evaluating_raises_is_raised() -> None:
    with pytest.raises(NameError, match="nope"):
        call("nope(3)")


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (lambda x, *rest: 0, (1, 2, 3), ("x", "rest[0]", "rest[1]")),
        (lambda: 0, (1,), ("arg0",)),
        (max, (1, 2), ("arg0", "arg1")),
        (Model().step, (1, 2), ("x", "rest[0]")),
    ],
)
def test_arguments_are_named_by_the_parameters_that_take_them(
    function: Callable[..., Any], args: tuple, expected: tuple
) -> None:
    assert label_arguments(function, args, {}) == expected
