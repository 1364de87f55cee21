"""Calls of functions that libraries jit, and of jitted methods."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx

from ipyjaxbench.retracing.trace_log import TRACE_LOG
from tests.traced import observed

X = jnp.ones((4, 4))


def test_wrappers_of_libraries_and_methods_are_seen_with_their_names() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.step = jax.jit(self._step)

        def _step(self, x: Any) -> Any:
            return x + 1

        def fit(self, x: Any, steps: int) -> None:
            for _ in range(steps):
                self.step(x)

    @eqx.filter_jit
    def filtered(model: Any, x: Any) -> Any:
        return model(x)

    @nnx.jit
    def of_nnx(model: Any, x: Any) -> Any:
        return model(x)

    TRACE_LOG.clear()
    names = {
        "X": X,
        "trainer": Trainer(), "filtered": filtered, "of_nnx": of_nnx,
        "eqx_model": eqx.nn.Linear(4, 2, key=jax.random.key(0)),
        "nnx_model": nnx.Linear(4, 2, rngs=nnx.Rngs(0)),
        "mapped": jax.pmap(lambda x: x * 2),
    }  # fmt: skip
    found = observed(
        "filtered(eqx_model, X[0]); filtered(eqx_model, X[0]); filtered(eqx_model, X[0, :4] * 1)\n"
        "of_nnx(nnx_model, X); of_nnx(nnx_model, X[:2])\n"
        "trainer.fit(X, 3); trainer.fit(X[:2], 1)\n"
        "mapped(X[:1]); mapped(X[:1])",
        names,
    )
    told = [(c.name, c.state, c.times, "; ".join(w.words() for w in c.why)) for c in found.calls]
    assert told == [
        ("filtered", "TRACED", 1, "first call"),
        ("filtered", "CACHED", 1, ""),
        ("filtered", "CACHED", 1, ""),
        ("of_nnx", "TRACED", 1, "first call"),
        ("of_nnx", "TRACED", 1, "x: f32[4,4] → f32[2,4] (shape)"),
        ("_step", "TRACED", 1, "first call"),
        ("_step", "CACHED", 2, ""),
        ("_step", "TRACED", 1, "x: f32[4,4] → f32[2,4] (shape)"),
        ("<lambda>", "TRACED", 1, "first call"),
        ("<lambda>", "CACHED", 1, ""),
    ]
