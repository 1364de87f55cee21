"""A copy of a function that computes with jax.numpy where the user's computes with NumPy."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy import busday_count, float32, sin

from ipyjaxbench.adapters.jax.graphs.numpy_to_jax import use_jax_numpy


class Model:
    def step(self, x: Any) -> Any:
        return sin(x), float32, math.pi, busday_count


def even(n: int, x: Any) -> Any:
    return odd(n - 1, x) if n else np.cos


def odd(n: int, x: Any) -> Any:
    return even(n - 1, x) if n else np.sin


def closing(function: Any, value: Any) -> Any:
    return lambda x, n=3, *, m=4: (value, function(4, 0), n, m)


def test_what_is_imported_from_numpy_becomes_that_of_jax_and_what_is_no_users_stays() -> None:
    model = Model()
    copied = use_jax_numpy(model.step)
    assert copied.__self__ is model
    computed, kind, pi, unknown = copied(1.0)
    assert isinstance(computed, jnp.ndarray)
    assert not isinstance(model.step(1.0)[0], jnp.ndarray)
    assert (kind, pi) == (jnp.float32, math.pi)
    assert unknown is busday_count  # jax.numpy has none
    assert use_jax_numpy(np.sin) is jnp.sin
    for value in (len, jnp.sin, Model, 3, None):
        assert use_jax_numpy(value) is value


def test_functions_that_call_each_other_still_do_in_the_copy_alone() -> None:
    copied = use_jax_numpy(even)
    assert (copied(4, 0), copied(3, 0)) == (jnp.cos, jnp.sin)
    assert even(4, 0) is np.cos
    function = closing(even, np)
    assert use_jax_numpy(function)(0) == (jnp, jnp.cos, 3, 4)
    assert function(0) == (np, np.cos, 3, 4)
