"""Any call in JAX gives a program: over real libraries."""

import functools
from typing import Any

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from ipyjaxbench import Graph
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call, trace_program
from ipyjaxbench.usercode.call import Call
from ipyjaxbench.usercode.snippet import Source

KEY = jax.random.key(0)
X, W = jnp.ones((3, 4)), jnp.ones((4, 2))


def flagged(x: Any, neg: bool) -> Any:
    return -x if neg else x


class Affine:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x: Any) -> Any:
        return x @ self.w

    @functools.partial(jax.jit, static_argnums=0)
    def jitted(self, x: Any) -> Any:
        return x @ self.w


class Net(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        return nn.BatchNorm(use_running_average=not train)(nn.Dense(2)(x))


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(4, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.norm(self.first(x))


NET = Net()
NAMES = {
    "jax": jax, "jnp": jnp, "np": np, "eqx": eqx, "nnx": nnx, "x": X, "w": W,
    "functools": functools, "flagged": flagged,
    "affine": Affine(W), "net": NET, "nets": NET.init(KEY, X), "model": Model(nnx.Rngs(0)),
    "mlp": eqx.nn.MLP(4, 2, 8, 2, key=KEY), "batch": (X, 2), "more": {"axis": 0},
    "shape": jax.ShapeDtypeStruct((3, 4), "float32"),
}  # fmt: skip

CALLS = """
np.ones(4) @ w
jnp.sum(x, **more)
flagged(*batch)
functools.partial(jax.jit, static_argnums=1)(flagged)(x, True)
affine.jitted(x)
jax.vmap(jnp.dot, in_axes=(0, None))(x, jnp.ones(4))
jax.vjp(jnp.sin, x)[0]
affine(shape)
jax.vmap(mlp)(x)
eqx.filter_jit(mlp)(x[0])
eqx.filter_grad(lambda m, v: m(v).sum())(mlp, x[0])
net.apply(nets, x, train=True, mutable=["batch_stats"])
nnx.jit(lambda m, v: m(v))(model, x)
nnx.grad(lambda m, v: m(v).sum())(model, x)
""".strip().splitlines()


def test_calls_of_all_kinds_give_a_program() -> None:
    for code in CALLS:
        found = trace_program(Source.plain(code), dict(NAMES), GraphOptions())
        assert found.operations >= 0
        assert found.outputs, code


ROWS = jnp.ones((4, 2))


def graph_of(function: Any, *args: Any, **options: Any) -> Graph:
    return trace_call(Call.from_function(function, *args), GraphOptions(**options))


SMALL = eqx.nn.MLP(2, 2, 8, 1, key=KEY)


def trained(model: Any, x: Any) -> Any:
    """A step that gives back the model, whose activation is no array."""
    loss = eqx.filter_value_and_grad(lambda m: (jax.vmap(m)(x) ** 2).mean())
    value, gradient = loss(model)
    return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, gradient)), value


def test_a_filtered_step_that_gives_back_a_model_is_shown_with_its_arrays() -> None:
    found = graph_of(eqx.filter_jit(trained), SMALL, ROWS, stats=True)
    assert [each.shape for each in found.outputs] == [(8, 2), (8,), (2, 8), (2,), ()]
    assert found.compiled is not None


def test_variables_with_types_of_their_own_have_the_shapes_of_their_arrays() -> None:
    if not hasattr(nnx, "var_defaults"):
        pytest.skip("this flax has no variables of their own type")
    with nnx.var_defaults(hijax=True):
        weights = nnx.Param(jnp.ones((2, 3)))
        found = graph_of(lambda w, x: x @ w[...], weights, ROWS)
        given = graph_of(lambda w: w, weights)
    assert [(v.dtype, v.shape, v.nbytes) for v in found.inputs] == [
        ("float32", (2, 3), 24), ("float32", (4, 2), 32),
    ]  # fmt: skip
    assert "None[]" not in f"{found}{given}"
    assert " 0 B" not in f"{found}{given}"
