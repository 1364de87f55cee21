"""Any call in JAX gives a program, or a diagnosis: over real libraries, and counted."""

import functools
from typing import Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

from ipyjaxbench import Graph, UntraceableError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call, trace_program
from ipyjaxbench.usercode.call import Call
from ipyjaxbench.usercode.snippet import Source

KEY = jax.random.key(0)
X, W = jnp.ones((3, 4)), jnp.ones((4, 2))


def flagged(x: Any, neg: bool) -> Any:
    return -x if neg else x


def applied(f: Any, *xs: Any, scale: float = 1.0, how: str = "sum") -> Any:
    made = f(*xs) * scale
    return made.sum() if how == "sum" else made


class Affine:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x: Any) -> Any:
        return x @ self.w

    @functools.partial(jax.jit, static_argnums=0)
    def jitted(self, x: Any) -> Any:
        return x @ self.w

    @staticmethod
    def doubled(x: Any) -> Any:
        return 2 * x


class Net(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(8)(x))
        return nn.Dense(2)(nn.relu(x))


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(4, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return nnx.relu(self.norm(self.first(x)))


def loss(params: Any, x: Any) -> Any:
    return ((x @ params["w"] + params["b"]) ** 2).mean()


def relu_by_if(x: Any) -> Any:
    if x.sum() > 0:
        return x
    return 0 * x


NET = Net()
NETS = NET.init(KEY, X)
MLP = eqx.nn.MLP(4, 2, 8, 2, key=KEY)
CONV = eqx.nn.Conv2d(3, 8, 3, key=KEY)
HAIKU = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 2])(2 * x)))
PARAMS = {"w": W, "b": jnp.zeros(2)}
ADAM = optax.adam(1e-3)
NAMES = {
    "jax": jax, "jnp": jnp, "np": np, "eqx": eqx, "nn": nn, "nnx": nnx, "optax": optax, "key": KEY,
    "functools": functools, "x": X, "w": W, "h": np.ones((3, 4)), "flagged": flagged,
    "applied": applied, "affine": Affine(W), "net": NET, "nets": NETS, "mlp": MLP, "conv": CONV,
    "image": jnp.ones((3, 16, 16)), "model": Model(nnx.Rngs(0)), "haiku": HAIKU,
    "haikus": HAIKU.init(KEY, X), "params": PARAMS, "loss": loss, "adam": ADAM,
    "state": ADAM.init(PARAMS), "batch": (X, 2), "more": {"axis": 0}, "relu_by_if": relu_by_if,
    "shape": jax.ShapeDtypeStruct((3, 4), "float32"), "dense": nn.Dense(2),
    "linear": nnx.Linear(4, 2, rngs=nnx.Rngs(0)), "gru": eqx.nn.GRUCell(4, 8, key=KEY),
}  # fmt: skip

CALLS = """
x @ w
x.at[0].set(1.0)
x[0] * 2 + jnp.sin(x[1])
h @ w
np.ones(4) @ w
jnp.dot(h, np.ones((4, 2)))
jnp.sum(x, axis=0)
jnp.sum(x, **more)
jnp.reshape(x, (4, 3))
jnp.linspace(0, 1, 5)
jnp.zeros((2, 3))
jnp.where(x > 0, x, 0)
jnp.einsum("ij,jk->ik", x, w)
jax.nn.one_hot(jnp.arange(3), 4)
jax.random.normal(key, (3,))
jax.random.choice(key, 5, (2,))
flagged(x, True)
flagged(*batch)
jax.jit(flagged, static_argnames="neg")(x, neg=True)
functools.partial(flagged, neg=True)(x)
functools.partial(jax.jit, static_argnums=1)(flagged)(x, True)
applied(jnp.tanh, x)
applied(jnp.add, x, 1.0, scale=2.0, how="none")
applied(lambda a: a @ w, x, how="sum")
affine(x)
affine.jitted(x)
affine.doubled(x)
jax.vmap(affine)(x)
jax.vmap(jnp.dot, in_axes=(0, None))(x, jnp.ones(4))
jax.grad(loss)(params, x)
jax.value_and_grad(loss)(params, x)
jax.jit(jax.grad(loss))(params, x)
jax.hessian(lambda v: (v**3).sum())(x[0])
jax.jvp(jnp.sin, (x,), (x,))
jax.vjp(jnp.sin, x)[0]
jax.lax.scan(lambda c, _: (c * 2, None), x, None, length=5)
jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)
jax.lax.fori_loop(0, 5, lambda i, v: v + i, x)
jax.lax.while_loop(lambda v: v.sum() < 99, lambda v: v * 2, x)
affine(shape)
mlp(x[0])
jax.vmap(mlp)(x)
conv(image)
eqx.filter_jit(mlp)(x[0])
eqx.filter_grad(lambda m, v: m(v).sum())(mlp, x[0])
gru(x[0], jnp.zeros(8))
net.apply(nets, x)
net.apply(nets, x, train=True, mutable=["batch_stats"])
net.init(key, x)
dense.init_with_output(key, x)
linear(x)
model(x)
nnx.jit(lambda m, v: m(v))(model, x)
nnx.grad(lambda m, v: m(v).sum())(model, x)
haiku.apply(haikus, x)
adam.update(params, state, params)
optax.apply_updates(params, params)
optax.softmax_cross_entropy(x, x).mean()
relu_by_if(x)
x[x > 0]
""".strip().splitlines()
_MEANT_TO_FAIL = {"relu_by_if(x)", "x[x > 0]"}


def test_calls_of_all_kinds_give_a_program_or_a_diagnosis() -> None:
    failed = {}
    for code in CALLS:
        try:
            found = trace_program(Source.plain(code), dict(NAMES), GraphOptions())
            assert found.operations >= 0
            assert found.outputs, code
        except UntraceableError as error:
            failed[code] = error.diagnosis.because
    assert len(CALLS) >= 60
    assert failed.keys() <= _MEANT_TO_FAIL
    assert all(failed.values())


ROWS = jnp.ones((4, 2))


def graph_of(function: Any, *args: Any, **options: Any) -> Graph:
    return trace_call(Call.from_function(function, *args), GraphOptions(**options))


def small_mlp(eqx: Any) -> Any:
    return eqx.nn.MLP(2, 2, 8, 1, key=jax.random.key(0))


def trained(eqx: Any) -> Any:
    """A step that gives back the model, whose activation is no array."""

    def step(model: Any, x: Any) -> Any:
        loss = eqx.filter_value_and_grad(lambda m: (jax.vmap(m)(x) ** 2).mean())
        value, gradient = loss(model)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, gradient)), value

    return step


def test_a_filtered_step_that_gives_back_a_model_is_shown_with_its_arrays() -> None:
    eqx = pytest.importorskip("equinox")
    found = graph_of(eqx.filter_jit(trained(eqx)), small_mlp(eqx), ROWS, stats=True)
    assert [each.shape for each in found.outputs] == [(8, 2), (8,), (2, 8), (2,), ()]
    assert found.compiled is not None


def test_a_filtered_method_that_gives_back_its_module_is_shown() -> None:
    eqx = pytest.importorskip("equinox")

    class Scale(eqx.Module):  # type: ignore[misc, name-defined]
        w: Any
        act: Any

        @eqx.filter_jit  # type: ignore[misc]
        def step(self, x: Any) -> Any:
            return self, self.act(x * self.w), "name"

    found = graph_of(Scale(jnp.ones(2), jnp.tanh).step, ROWS)
    assert [each.shape for each in found.outputs] == [(2,), (4, 2)]


def test_the_same_step_without_a_filter_does_not_trace() -> None:
    eqx = pytest.importorskip("equinox")
    with pytest.raises(UntraceableError) as caught:
        graph_of(trained(eqx), small_mlp(eqx), ROWS)
    assert "activation" in str(caught.value)


def test_variables_with_types_of_their_own_have_the_shapes_of_their_arrays() -> None:
    nnx = pytest.importorskip("flax.nnx")
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
