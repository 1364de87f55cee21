"""Calls of jitted functions, each typed in a cell of its own, with verdicts known to be right."""

import functools
import types

import equinox
import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from tests.shell import Shell
from tests.typed_calls import score

SESSIONS = {
    "values that are baked in": (
        "def times(n):\n    return jax.jit(lambda x: jnp.sin(x) * n)",
        "t1, t2 = times(1), times(2)",
        "t1(x3) => TRACED first call",
        "t2(x3) => TRACED new function object (captured n: 1 → 2)",
        "p1, p2 = (jax.jit(functools.partial(jnp_add, s)) for s in (1.0, 2.0))",
        "p1(x3) => TRACED first call",
        "p2(x3) => TRACED new function object (captured s: 1.0 → 2.0)",
        "n = 1",
        "g1 = jax.jit(lambda x: jnp.tan(x) * n)",
        "g1(x3) => TRACED first call",
        "n = 2",
        "g1 = jax.jit(lambda x: jnp.tan(x) * n)",
        "g1(x3) => TRACED new function object (captured n: 1 → 2)",
    ),
    "calls that were made before": (
        "@jax.jit\ndef timed(x):\n    return jnp.sum(jnp.sin(x))",
        "%fwtime -q -n1 -r2 timed(x3)",
        "timed(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "jax.clear_caches()",
        "timed(x33) => TRACED first call since caches were cleared",
        "timed(x3) => TRACED same signature as an earlier call, but caches were cleared",
        "timed(x4) => TRACED same signature as an earlier call, but caches were cleared",
        "timed(x33[0:2]) => TRACED x: f32[3,3] → f32[2,3] (shape)",
        "timed.clear_cache()",
        "timed(x33[0:1]) => TRACED first call since caches were cleared",
        "jax.clear_caches()",
        ("list(map(timed, [x33[0:1]]))\n"
        " => TRACED same signature as an earlier call, but caches were cleared"),
        "list(map(timed, [x33.T[0:1, 0:1]]))\n => TRACED x: f32[1,3] → f32[1,1] (shape)",
        "jax.clear_caches()",
        "list(map(timed, [x33[0, 0]]))\n => TRACED first call since caches were cleared",
        "jax.grad(timed)(x3) => TRACED x: f32[] → f32[3] (rank)",
        "jax.clear_caches()",
        "jax.grad(timed)(x4) => TRACED first call since caches were cleared",
        ("jax.grad(timed)(x3)"
        " => TRACED same signature as an earlier call, but caches were cleared"),
        "@jax.jit\ndef timed(x):\n    return jnp.sum(jnp.sin(x))",
        "timed(x33[1]) => TRACED new function object (same code)",
        "@jax.jit\ndef seen(x):\n    return jnp.sum(jnp.sin(x))",
        "%jaxpr -q seen(x3)",
        "seen(x3) => COMPILED first call; already traced, as within another function or by %jaxpr",
    ),
    "where functions are defined": (
        "mod.step(x3) => TRACED first call",
        "mod.step(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "def outer(x):\n    return inner(x) + 1\n@jax.jit\ndef inner(x):\n    return jnp.cos(x)",
        "outer(x3) => TRACED first call",
        "outer(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "@jax.jit\ndef inner(x):\n    return jnp.sin(x)",
        "inner(x3) => TRACED first call after redefinition",
        ("class Model:\n"
        "    def __init__(self, k):\n        self.k = k; self.step = jax.jit(self._step)\n"
        "    def _step(self, x):\n        return jnp.sin(x) * self.k\n"
        "m1, m2 = Model(1), Model(2)"),
        "m1.step(x3) => TRACED first call",
        ("m2.step(x3) => TRACED new function object"
        " (captured self: Model object → another Model object)"),
    ),
    "transformations": (
        "@jax.jit\ndef loss(x):\n    return jnp.sum(jnp.sin(x) * 2)",
        "jax.grad(loss)(x3) => TRACED first call",
        "jax.grad(loss)(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "loss(x3) => RECOMPILED was called under grad, is now called directly",
        "jax.value_and_grad(loss)(x3) => CACHED",
        "jax.vmap(loss)(x33) => RECOMPILED was called directly, is now called under vmap over 3",
        ("jax.vmap(loss)(x33[:2])"
        " => RECOMPILED was called under vmap over 3, is now called under vmap over 2"),
        "jax.vmap(loss, in_axes=1)(x33[:2]) => TRACED x: f32[3] → f32[2] (shape)",
        ("jax.vmap(jax.grad(loss))(x33)"
        " => RECOMPILED was called under vmap over 2, is now called under vmap over 3 of grad"),
        ("jax.jacfwd(loss)(x3)"
        " => RECOMPILED was called under vmap over 3 of grad, is now called under jacfwd"),
        ("jax.hessian(loss)(x3)"
        " => RECOMPILED was called under jacfwd, is now called under jacfwd of jacrev"),
        "vg = jax.jit(jax.value_and_grad(loss))",
        "vg(x3) => TRACED first call after redefinition",
    ),
    "Equinox": (
        ("class Net(eqx.Module):\n"
        "    w: jax.Array\n    act: str = eqx.field(static=True)\n"
        "    def __call__(self, x):\n        return jnp.sin(self.w * x)\n"
        "n1, n2 = Net(x3, 'relu'), Net(x3, 'tanh')"),
        "@eqx.filter_jit\ndef apply(net, x, training):\n    return net(x)",
        "apply(n1, x3, True) => TRACED first call",
        "apply(n2, x3, True) => TRACED net.act: 'relu' → 'tanh' (static value)",
        "apply(n2, x3, False) => TRACED training: True → False (static value)",
        ("apply(Net(x4, 'tanh'), x4, False)"
        " => TRACED net.w: f32[3] → f32[4] (shape); x: f32[3] → f32[4] (shape)"),
        "apply(eqx.nn.inference_mode(n1), x3, True) => CACHED",
        ("jax.vmap(apply, (None, 0, None))(n1, jnp.ones((2, 3)), True)"
        " => RECOMPILED was called directly, is now called under vmap over 2"),
    ),
    "Flax NNX": (
        ("class M(nnx.Module):\n"
        "    def __init__(self, rngs):\n        self.drop = nnx.Dropout(0.5, rngs=rngs)\n"
        "    def __call__(self, x):\n        return self.drop(x)\n"
        "m = M(nnx.Rngs(0))"),
        "@nnx.jit\ndef forward(model, x):\n    return model(x)",
        "forward(m, x33) => TRACED first call",
        "forward(m, x33) => CACHED",
        "m.drop.eval()\nNone",
        "forward(m, x33) => TRACED model.drop.deterministic: False → True (static value)",
        "m.drop.train()\nNone",
        "forward(m, x33) => CACHED",
    ),
}  # fmt: skip


@pytest.fixture
def typing(shell: Shell) -> Shell:
    mod = types.ModuleType("mod_of_mine")
    source = "import jax, jax.numpy as jnp\n@jax.jit\ndef step(x):\n    return jnp.sin(x)\n"
    exec(compile(source, "mod_of_mine.py", "exec"), mod.__dict__)
    shell.names.update(
        jax=jax, jnp=jnp, functools=functools, eqx=equinox, nnx=nnx,
        mod=mod, jnp_add=lambda s, x: jnp.sin(x) + s,
        x3=jnp.ones(3), x4=jnp.ones(4), x33=jnp.ones((3, 3)),
    )  # fmt: skip
    shell.run("1")  # from now on what is traced is learned
    return shell


def test_each_call_is_told_right(typing: Shell) -> None:
    found = score(typing, SESSIONS)
    assert not found.wrong, "\n".join(found.wrong)
    assert not found.unknown, "\n".join(found.unknown)
    assert found.calls >= 50
