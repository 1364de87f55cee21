"""A copy of a function that computes with jax.numpy where the user's computes with NumPy."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy import busday_count, float32, sin

from ipyjaxbench.adapters.jax.graphs.numpy_to_jax import use_jax_numpy


class Model:
    def step(self, x: Any) -> Any:
        return np.sin(x)


def by_name(x: Any) -> Any:
    return sin(x), float32, math.pi, busday_count


def even(n: int, x: Any) -> Any:
    return odd(n - 1, x) if n else np.cos


def odd(n: int, x: Any) -> Any:
    return even(n - 1, x) if n else np.sin


def closing(function: Any, value: Any) -> Any:
    return lambda x, n=3, *, m=4: (value, function(4, 0), n, m)


def test_numpy_and_what_is_imported_from_it_become_those_of_jax() -> None:
    computed, kind, pi, unknown = use_jax_numpy(by_name)(1.0)
    assert isinstance(computed, jnp.ndarray)
    assert kind is jnp.float32
    assert pi == math.pi
    assert unknown is busday_count  # jax.numpy has none
    assert use_jax_numpy(np.sin) is jnp.sin


def test_functions_that_call_each_other_still_do_in_the_copy_alone() -> None:
    copied = use_jax_numpy(even)
    assert (copied(4, 0), copied(3, 0)) == (jnp.cos, jnp.sin)
    assert even(4, 0) is np.cos
    function = closing(even, np)
    assert use_jax_numpy(function)(0) == (jnp, jnp.cos, 3, 4)
    assert function(0) == (np, np.cos, 3, 4)


def test_methods_keep_their_object_and_what_is_no_function_of_the_users_stays() -> None:
    model = Model()
    copied = use_jax_numpy(model.step)
    assert copied.__self__ is model
    assert isinstance(copied(1.0), jnp.ndarray)
    assert not isinstance(model.step(1.0), jnp.ndarray)
    for value in (len, jnp.sin, Model, 3, None):
        assert use_jax_numpy(value) is value
