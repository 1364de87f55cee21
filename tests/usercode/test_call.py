"""User code is read as one call, whatever is called, and evaluated once."""

import ast
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode.call import (
    Call,
    Shape,
    is_shape,
    label_arguments,
    read_call,
    read_call_of_shapes,
)
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
        ("f(x, 2)", (X, 2), {}, ("x", "y")), ("f(x, y=2)", (X,), {"y": 2}, ("x",)),
        ("f(*both)", (X, 5), {}, ("x", "y")), ("f(x, **more)", (X,), {"y": 7}, ("x",)),
        ("f(np.ones(3) + x, 2)", (X + 1, 2), {}, ("x", "y")),
        ("y = 4\nf(x, y)", (X, 4), {}, ("x", "y")),
    ],
)  # fmt: skip
def test_a_call_is_function_and_arguments(
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
        ("x @ x + 1", 6.0, ("x",)), ("x.sum()", 3.0, ("x",)), ("x", X, ("x",)), ("n + 1", 5, ()),
        ("[x, y][0] * n", X * 4, ("x", "y")), ("np.float32(x)", np.float32(X), ("x",)),
    ],
)  # fmt: skip
def test_an_expression_is_a_function_of_its_arrays(code: str, value: Any, names: tuple) -> None:
    found = call(code, x=X, y=X + 1, n=4)
    assert found.labels == names
    assert np.array_equal(found.function(*found.args), value)


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (lambda: 0, (1,), ("arg0",)),
        (max, (1, 2), ("arg0", "arg1")),
        (Model().step, (1, 2), ("x", "rest[0]")),
        (lambda x, y=1, *, z=2: 0, (1,), ("x",)),
        (lambda x, y, /, z: 0, (1, 2, 3), ("x", "y", "z")),
    ],
)  # fmt: skip
def test_arguments_are_named_by_parameters(
    function: Callable[..., Any], args: tuple, expected: tuple
) -> None:
    assert label_arguments(function, args, {}) == expected
    unknown = tuple(f"arg{n}" for n in range(len(args)))
    assert label_arguments(function, args, {"unknown": 1}) == unknown
    assert call("max(x, y)", x=X, y=X).labels == ("x", "y")  # as they were typed
    for code in ("max(x, x)", "max(x, 3)", "max(*both)"):
        assert call(code, x=X, both=(X, X)).labels == ("arg0", "arg1")


class Table:
    """Holds arrays, and has methods written in Python."""

    def __init__(self) -> None:
        self.w = X

    def total(self, scale: float = 1.0) -> float:
        return float(self.w.sum() * scale)


class Array(Table):
    """The same, and it is an array itself."""

    def __array__(self) -> Any:
        return self.w


class CallableArray(Array):
    """It can be called, too."""

    def __call__(self) -> float:
        return 7.0


class Sizes:
    """What is known of an array that does not exist."""

    shape, dtype = (3,), "float32"


def read(code: str, **names: Any) -> Call:
    """Read a call where tables and their holders are data."""
    kinds = (np.ndarray, Table, SimpleNamespace, Sizes)
    return read_call(Source.plain(code), names, lambda value: isinstance(value, kinds))


def test_methods_in_python_of_what_holds_arrays_are_called_as_they_are() -> None:
    model = Model()
    assert call("model(x)", model=model, x=X).function is model
    method = call("model.step(x, scale=2)", model=model, x=X)
    assert (method.function, method.labels) == (model.step, ("x",))
    assert isinstance(call("Model()(x)", Model=Model, x=X).function, Model)
    table, callable_one = Table(), CallableArray()
    held = SimpleNamespace(tables=[table], callable=callable_one)
    for code in ("table.total(2)", "held.tables[0].total(2)", "get().total(2)"):
        found = read(code, table=table, held=held, get=lambda: table)
        assert (found.function, found.args, found.made_of) == (table.total, (2,), None)
    assert read("held.callable.total(2)", held=held).function == callable_one.total
    found = read("array", array=callable_one)  # it can be called, and is an expression
    assert found.function(*found.args) is callable_one


def test_methods_of_arrays_are_part_of_an_expression() -> None:
    array = Array()
    held = SimpleNamespace(array=array, numbers=X)
    for code in ("array.total(2)", "held.array.total(2)", "held.numbers.sum()", "(x + x).sum()"):
        found = read(code, array=array, held=held, x=X)
        (name,) = found.labels
        assert name in {"array", "held", "x"}
        assert found.function(*found.args) == (3.0 if "numbers" in code else 6.0)
        assert isinstance(found.made_of, ast.Call)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("model", "'model' is not called. Call it:  model(...)"),
        ("held.f", "'held.f' is not called. Call it:  held.f(...)"),
        ("Model", "'Model' is not called. Call it:  Model(...)"),
        ("lambda v: v", "'lambda v: v' is not called. Call it:  (lambda v: v)(...)"),
        *((code, f"{code} awaits, so it has no program")
          for code in ("await f()", "await f() + x", "[i async for i in x]")),
        *((code, "the code must end with an expression, such as f(x)")
          for code in ("y = 3", "", "for i in []: pass", "x = 1\ny = 2")),
    ],
)  # fmt: skip
def test_what_is_no_call_is_refused(code: str, shown: str) -> None:
    with pytest.raises(SnippetError) as raised:
        read(code, model=Model(), Model=Model, held=SimpleNamespace(f=len), x=X)
    assert str(raised.value).startswith(shown)


def test_names_that_are_called_before_the_call_are_said_before_anything_is_called() -> None:
    order: list[Any] = []

    def make(*values: Any) -> Any:
        order.append("made")
        return make

    code = "make(a)(b, make(c), k=make())"
    names = {"make": make, **dict.fromkeys("abc", 1)}
    read_call(Source.plain(code), names, is_data, lambda names: order.append([*names]))
    assert order == [["make", "a", "make", "c", "make"], *["made"] * 3]
    order.clear()
    function = read_call_of_shapes(Source.plain("make(a)"), names, [], order.append).function
    assert (function, order) == (make, [["make", "a"], "made"])


def test_of_the_shape_of_an_array_all_is_looked_at_that_only_an_array_has() -> None:
    found = read("f(x.T)", f=len, x=Sizes())
    assert (found.labels, found.made_of is None) == (("x",), False)
    for values in ({"x": X}, {"x": 3}):
        with pytest.raises(AttributeError, match="missing"):
            read("f(x.missing)", f=len, **values)
    assert [*map(is_shape, (Sizes(), X, 3, Sizes))] == [True, False, False, False]


def test_a_function_is_called_with_arrays_of_shapes() -> None:
    def f(a: Any, b: Any) -> Any:
        raise AssertionError("it is not to be called")

    shapes = [("float32", (3, 4)), ("int32", ())]
    found = read_call_of_shapes(Source.plain("f  "), {"f": f}, shapes)
    assert (found.text, found.function, found.labels) == ("f", f, ("a", "b"))
    assert found.args == (Shape("float32", (3, 4)), Shape("int32", ()))
    made = found.with_arrays(lambda shape: (shape.dtype, shape.shape))
    assert made.args == tuple(shapes)
    assert Call.from_function(f, X, 3).with_arrays(len).args[1] == 3
    for code in ("3", "f\nf", "y = f", ""):
        with pytest.raises(SnippetError) as raised:
            read_call_of_shapes(Source.plain(code), {"f": len}, [])
        assert str(raised.value) == f"--shapes needs a function, and {code!r} is not one"


def test_a_call_from_python_has_its_functions_name_and_the_names_of_its_arguments() -> None:
    model = Model()
    found = [
        Call.from_function(model.step, X, scale=2),
        Call.from_function(model, X),
        Call.from_function(SimpleNamespace(), 1),
    ]
    assert [each.text for each in found] == ["step(...)", "Model(...)", "SimpleNamespace(...)"]
    assert found[0].arguments == [("x", X), ("scale", 2)]
