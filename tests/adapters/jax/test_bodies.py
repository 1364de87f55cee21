"""Functions that JAX calls with tracers whatever jit is told: static is impossible there."""

import re

import jax.numpy as jnp
import pytest

import ipyjaxbench
from tests.adapters.jax.written import why, written

X = jnp.arange(8.0)
FIXED, LOOP, CLOSURE = "with a fixed size", "loop in Python", "close over the number"


@pytest.mark.parametrize(
    ("where", "advice", "call"),
    [
        ("in the body of scan", LOOP,
         "jax.lax.scan(lambda c, i: (c + jnp.ones(i).sum(), c), 0.0, jnp.arange(3))"),
        ("in the body of while_loop", FIXED,
         "jax.lax.while_loop(lambda c: c < 3, lambda i: i + jnp.ones(i).size, 0)"),
        ("in the body of map", LOOP,
         "jax.lax.map(lambda i: jnp.ones(i).sum(), jnp.arange(3))"),
        ("under vmap", LOOP,
         "jax.vmap(lambda i: jnp.ones(i).sum())(jnp.arange(3))"),
        ("in the branches of cond", CLOSURE,
         "jax.lax.cond(True, lambda i: jnp.ones(i).sum(), lambda i: 0.0, 3)"),
        ("in the branches of switch", CLOSURE,
         "jax.lax.switch(jnp.int32(1), [lambda i: jnp.ones(i).sum()] * 2, 3)"),
        ("in the body of fori_loop", LOOP,
         "1 + jax.lax.fori_loop(0, 4, lambda i, c: c + jnp.ones(i).sum(), 0.0)"),
        ("under jit", "", "jax.jit(lambda i: jnp.ones(i).sum())(3)"),
    ],
)  # fmt: skip
def test_a_body_is_not_told_to_have_static_arguments(where: str, advice: str, call: str) -> None:
    function = written("x", f"return {call}")
    found = why(function, X)
    assert (where in found.because, advice in found.advice) == (True, True)
    assert (found.blamed, "static" in found.advice) == ((), where == "under jit")
    with pytest.raises(TypeError) as raised:
        function(X)
    found = ipyjaxbench.explain(raised.value)
    assert (where in found.because, advice in found.advice) == (True, True)
    assert any("static" in fix.code for fix in found.fixes) is (where == "under jit")
    assert re.search(r"\bstatic\b", found.advice) is None or where == "under jit"


IN_BODY = "def body(i, c):\n    return c + jnp.ones(i).sum()\n"
TURNS = "traces each turn, so that many turns compile slowly"


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (IN_BODY + "y = jax.lax.fori_loop(1, 4, body, 0.0)\nreturn y * x",
         "y = 0.0\nfor i in range(1, 4):\n    y = body(i, y)"),
        ("return jax.lax.fori_loop(0, 4, lambda k, c: c + x[:k + 1].sum(), 0.0)",
         "c = 0.0\nfor k in range(4):\n    c = c + x[:k + 1].sum()\nreturn c"),
        ("y = jax.lax.fori_loop(0, 4, lambda k, c: c + jnp.ones(k).sum(), 0.0)\nreturn y",
         "c = 0.0\nfor k in range(4):\n    c = c + jnp.ones(k).sum()\ny = c"),
    ],
)  # fmt: skip
def test_a_loop_of_python_knows_the_number_of_its_turn(lines: str, code: str) -> None:
    fixes = why(written("x", lines), X).fixes
    assert (code, TURNS, "without jit") in [(fix.code, fix.cost, fix.same) for fix in fixes]


def test_the_array_beside_a_counter_is_not_to_blame() -> None:
    for lines in (
        "return jax.lax.fori_loop(0, 4, lambda i, c: c + x[:i].sum(), 0.0)",
        "return jax.lax.fori_loop(0, 2, lambda i, c: c + float(i), x)",
        "return jax.lax.map(lambda i: x.reshape(i, -1).sum(), jnp.arange(3))",
    ):
        assert why(written("x", lines), X).blamed == ()
    bound = "return jax.lax.fori_loop(0, n, lambda i, c: c + float(i), x)"
    assert why(written("x, n", bound), X, jnp.int32(3)).blamed == ("n",)
    within = "return jax.lax.scan(lambda c, _: (c, x[:n].sum()), 0, None, length=2)"
    assert why(written("x, n", within), X, jnp.int32(3)).blamed == ("n",)


@pytest.mark.parametrize(("call", "blamed"), [
    ("cond(flag > 0, lambda v: v + 1, lambda v: x[:v], k)", "k"),
    ("cond(flag > 0, lambda v, w: v[:w], lambda v, w: v, x, k)", "k"),
    ("cond(flag > 0, lambda v, w: v if v.sum() > 0 else -v, lambda v, w: v, x, k)", "x"),
    ("cond(flag > 0, lambda v: v, lambda v: v if v.sum() > 0 else -v, operand=x)", "x"),
    ("cond(flag > 0, lambda v: v[0] if v[1] > 0 else -v[0], lambda v: v[0], (x, k))", "x, k"),
    ("cond(flag > 0, lambda *v: v[0] if v[1] > 0 else -v[0], lambda *v: v[0], x, k)", "x, k"),
    ("cond(flag, x, lambda v: v if v.sum() > 0 else -v, k, lambda v: x)", "flag, x, k"),
    ("switch(flag, [lambda v, w: v if w > 0 else -v, lambda v, w: v], x, k)", "k"),
    ("fori_loop(0, k, lambda i, c: c if i > 0 else -c, x)", "k"),
    ("scan(lambda c, a: (c if c > 0 else -c, a), k * 1.0, x)", "k, x"),
])  # fmt: skip
def test_what_a_branch_is_given_is_blamed_and_no_predicate(call: str, blamed: str) -> None:
    assert ", ".join(why(written("flag, k, x", f"return jax.lax.{call}"), 1, 3, X).blamed) == blamed
