"""The program of calls that libraries over JAX made, with models in and out of them."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench import Graph, UntraceableError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_call
from ipyjaxbench.usercode.call import Call

X = jnp.ones((4, 2))


def graph(function: Any, *args: Any, **options: Any) -> Graph:
    return trace_call(Call.from_function(function, *args), GraphOptions(**options))


def mlp(eqx: Any) -> Any:
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
    found = graph(eqx.filter_jit(trained(eqx)), mlp(eqx), X, stats=True)
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

    found = graph(Scale(jnp.ones(2), jnp.tanh).step, X)
    assert [each.shape for each in found.outputs] == [(2,), (4, 2)]


def test_the_same_step_without_a_filter_does_not_trace() -> None:
    eqx = pytest.importorskip("equinox")
    with pytest.raises(UntraceableError) as caught:
        graph(trained(eqx), mlp(eqx), X)
    assert "activation" in str(caught.value)


def test_variables_with_types_of_their_own_have_the_shapes_of_their_arrays() -> None:
    nnx = pytest.importorskip("flax.nnx")
    if not hasattr(nnx, "var_defaults"):
        pytest.skip("this flax has no variables of their own type")
    with nnx.var_defaults(hijax=True):
        weights = nnx.Param(jnp.ones((2, 3)))
        found = graph(lambda w, x: x @ w[...], weights, X)
        given = graph(lambda w: w, weights)
    assert [(v.dtype, v.shape, v.nbytes) for v in found.inputs] == [
        ("float32", (2, 3), 24), ("float32", (4, 2), 32),
    ]  # fmt: skip
    assert "None[]" not in f"{found}{given}"
    assert " 0 B" not in f"{found}{given}"
