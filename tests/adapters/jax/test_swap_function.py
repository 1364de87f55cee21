"""Copies of functions: with another function, or with jax.numpy, where one was used."""

import functools
import math
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy import busday_count, float32, sin

from ipyjaxbench.adapters.jax.diagnosis.swap_function import replace_function
from ipyjaxbench.adapters.jax.graphs.numpy_to_jax import use_jax_numpy
from ipyjaxbench.usercode.call import Call


def old(x: Any) -> Any:
    return ("old", x)


def new(x: Any) -> Any:
    return ("new", x)


def other(x: Any) -> Any:
    return ("other", x)


def by_global(x: Any) -> Any:
    return old(x)


def by_two(x: Any) -> Any:
    return by_global(x), old(x), other(x)


class Layer:
    def __init__(self, function: Any = other) -> None:
        self.function, self.n = function, 7

    def act(self, x: Any) -> Any:
        return self.function(x), self.n

    def __call__(self, x: Any) -> Any:
        return old(x)

    @staticmethod
    def fixed(x: Any) -> Any:
        return old(x)

    @classmethod
    def made(cls, x: Any) -> Any:
        return cls.__name__, old(x)


class Model:
    def __init__(self) -> None:
        self.layer = Layer()

    def run(self, x: Any) -> Any:
        return self.layer(x)


def apply(f: Any, x: Any) -> Any:
    return f(x)


def again(n: int) -> Any:
    return again(n - 1) if n else "old"


def once_more(n: int) -> Any:
    return again(n - 1) if n else "new"


HOLDING = Layer(old)
MODEL = Model()


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "result"),
    [
        (old, (1,), {}, ("new", 1)),
        (by_two, (1,), {}, (("new", 1), ("new", 1), ("other", 1))),
        ((lambda function: lambda x: (function(x), 3))(old), (1,), {}, (("new", 1), 3)),
        (functools.partial(apply, old), (1,), {}, ("new", 1)),
        (functools.partial(apply, x=1), (old,), {}, ("new", 1)),
        (functools.partial(apply, f=by_global), (), {"x": 1}, ("new", 1)),
        (jax.jit(by_global), (1,), {}, ("new", 1)),
        (HOLDING.act, (1,), {}, (("new", 1), 7)),
        (Layer(), (1,), {}, ("new", 1)),
        (Layer.fixed, (1,), {}, ("new", 1)),
        (Layer.made, (1,), {}, ("Layer", ("new", 1))),
        (MODEL.run, (1,), {}, ("new", 1)),
        (apply, (MODEL.run, 1), {}, ("new", 1)),
        (apply, (), {"f": MODEL.run, "x": 1}, ("new", 1)),
        (apply, (other, 1), {}, ("other", 1)),
    ],
)  # fmt: skip
def test_the_new_function_is_used_wherever_the_old_one_was(
    function: Any, args: Any, kwargs: Any, result: Any
) -> None:
    call = Call.from_function(function, *args, **kwargs)
    swapped = replace_function(call, old, new)
    assert swapped.function(*swapped.args, **swapped.kwargs) == result
    if not hasattr(function, "lower"):  # the user's own call does what it did
        assert repr(function(*args, **kwargs)) == repr(result).replace("new", "old")
    assert (MODEL.layer.n, HOLDING.function, type(MODEL)) == (7, old, Model)


def test_a_function_that_calls_itself_is_replaced_there_too() -> None:
    swapped = replace_function(Call.from_function(again, 3), again, once_more)
    assert swapped.function(3) == "new"
    assert again(3) == "old"


def test_functions_in_modules_of_the_users_are_replaced_in_copies_of_these() -> None:
    outer, inner = ModuleType("outer"), ModuleType("inner")
    for module in (outer, inner):
        module.__file__ = __file__
    inner.old, inner.kept, outer.inner = old, other, inner  # type: ignore[attr-defined]
    names: dict[str, Any] = {"outer": outer}
    text = "def f(x):\n    return outer.inner.old(x), outer.inner.kept(x)\n"
    exec(compile(text, __file__, "exec"), names)
    swapped = replace_function(Call.from_function(names["f"], 1), old, new)
    assert swapped.function(1) == (("new", 1), ("other", 1))
    assert names["f"](1) == (("old", 1), ("other", 1))
    assert inner.old is old  # type: ignore[attr-defined]


# jax.numpy where the user's function computes with NumPy


class Computes:
    def step(self, x: Any) -> Any:
        return sin(x), float32, math.pi, busday_count


def even(n: int, x: Any) -> Any:
    return odd(n - 1, x) if n else np.cos


def odd(n: int, x: Any) -> Any:
    return even(n - 1, x) if n else np.sin


def closing(function: Any, value: Any) -> Any:
    return lambda x, n=3, *, m=4: (value, function(4, 0), n, m)


def test_what_is_imported_from_numpy_becomes_that_of_jax_and_what_is_no_users_stays() -> None:
    model = Computes()
    copied = use_jax_numpy(model.step)
    assert copied.__self__ is model
    computed, kind, pi, unknown = copied(1.0)
    assert isinstance(computed, jnp.ndarray)
    assert not isinstance(model.step(1.0)[0], jnp.ndarray)
    assert (kind, pi) == (jnp.float32, math.pi)
    assert unknown is busday_count  # jax.numpy has none
    assert use_jax_numpy(np.sin) is jnp.sin
    for value in (len, jnp.sin, Computes, 3, None):
        assert use_jax_numpy(value) is value


def test_functions_that_call_each_other_still_do_in_the_copy_alone() -> None:
    copied = use_jax_numpy(even)
    assert (copied(4, 0), copied(3, 0)) == (jnp.cos, jnp.sin)
    assert even(4, 0) is np.cos
    function = closing(even, np)
    assert use_jax_numpy(function)(0) == (jnp, jnp.cos, 3, 4)
    assert function(0) == (np, np.cos, 3, 4)
