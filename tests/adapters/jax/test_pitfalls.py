"""Why a call in JAX does not trace: the line, the argument, and fixes that were tried."""

from decimal import Decimal
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import Diagnosis, SnippetError
from ipyjaxbench.adapters.jax.graphs import tracing
from tests.adapters.jax.written import why, written

X = jnp.arange(10.0) - 5
S = jnp.ones((4, 4))
FLAG, THREE = X[0] > 0, jnp.array(3)


def negatives(x: Any) -> Any:
    return x[x < 0]


@jax.jit
@partial(jax.jit, static_argnames=["neg"])
def twice_jitted(x: Any, neg: Any) -> Any:
    return -x if neg else x


def powered(x: Any, negative: Any) -> Any:
    return -(x**2) if negative else x**2


@pytest.mark.parametrize(
    ("lines", "args", "blamed", "fix"),
    [
        ("return x[x > 0].mean()", (X,), "x", "return x.mean(where=x > 0)"),
        ("return -x if n else x", (X, FLAG), "n", "return jnp.where(n, -x, x)"),
        ("return x.reshape(jnp.array(x.shape).prod())", (S,), "",
         "return x.reshape(np.array(x.shape).prod())"),
        ("return x[:n]", (X, THREE), "n", "return jnp.where(jnp.arange(len(x)) < n, x, 0)"),
        ("return x * int(x[0])", (X,), "x", "return x * jnp.asarray(x[0], int)"),
    ],
)  # fmt: skip
def test_the_line_the_argument_and_a_fix_are_told(
    lines: str, args: tuple[Any, ...], blamed: str, fix: str
) -> None:
    found = why(written("x, n" if len(args) > 1 else "x", lines), *args)
    assert ", ".join(found.blamed) == blamed
    assert fix in [each.code for each in found.fixes]
    assert found.source == lines.splitlines()[0]
    assert found.line == 2
    assert fix in " ".join(str(found).split())


OF_JIT = "@jax.jit\n@partial(jax.jit, static_argnames=['neg'])"
BY_LAMBDA = lambda x: x[x < 0]  # noqa: E731  as people write it
MODED = written("x, mode", "return x * 2 if mode == 'a' else x")


@pytest.mark.parametrize(
    ("function", "args", "blamed", "fix", "replaces"),
    [
        (jax.jit(negatives), (X,), "x", "return jnp.where(x < 0, x, 0)", "return x[x < 0]"),
        (BY_LAMBDA, (X,), "x", "jnp.where(x < 0, x, 0)", "x[x < 0]"),
        (twice_jitted, (X, True), "neg", "@partial(jax.jit, static_argnames='neg')", OF_JIT),
        (jax.jit(MODED), (X, "a"), "mode", "jax.jit(f, static_argnames='mode')", None),
        (np.sin, (X,), "x", "jax.numpy.sin", "numpy.sin"),
    ],
)  # fmt: skip
def test_a_fix_tells_which_lines_it_replaces(
    function: Any, args: tuple[Any, ...], blamed: str, fix: str, replaces: str | None
) -> None:
    found = why(function, *args)
    assert ", ".join(found.blamed) == blamed
    assert found.fixes[0].code == fix
    assert replaces in (None, found.fixes[0].replaces)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("return jnp.arange(x.sum())", "The length of jnp.arange("),
        ("return f(x)", "The recursion never ends"),
    ],
)
def test_what_has_no_fix_that_could_be_tried_is_explained(lines: str, words: str) -> None:
    found = why(written("x", lines), X)
    assert found.because.startswith(words)
    assert found.fixes == ()
    assert "(not verified)" in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("return jnp.transpose(x, n)", "Pass the argument as a Python number or a tuple"),
        ("return x.transpose(*n)", "Pass the argument as a Python number or a tuple"),
        ("return x + (1, 2)[n[0]]", "Use jax.lax.fori_loop instead of range(n), and jnp.take"),
        ("return sum(x[0, i] for i in range(n[0]))", "Use jax.lax.fori_loop instead of range"),
    ],
)
def test_axes_are_not_advised_to_be_looped_over(line: str, advice: str) -> None:
    assert why(written("x, n", line), S, jnp.array([1, 0])).advice.startswith(advice)


@pytest.mark.parametrize(
    ("lines", "args"),
    [("return jnp.sort(x[x > 0])", (X,)), ("return len(x[x > 0])", (X,)),
     ("return x[x[:, 0] > 2]", (S,)), ("return x[:n]", (S, THREE)), ("return x[:-n]", (X, THREE))],
)  # fmt: skip
def test_what_would_trace_and_give_something_else_is_not_told(
    lines: str, args: tuple[Any, ...]
) -> None:
    found = why(written("x, n" if len(args) > 1 else "x", lines), *args)
    assert not [fix for fix in found.fixes if "static_argnames" not in fix.code]


def test_a_fix_that_does_not_trace_is_not_told_and_trying_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = negatives.__code__
    found = why(negatives, X)
    assert negatives.__code__ is code
    assert Diagnosis.from_dict(found.to_dict()) == found
    monkeypatch.setattr(tracing, "error_of", lambda *_: ValueError())
    assert why(negatives, X).fixes == ()


@pytest.mark.parametrize(
    "line", ["return x @ jnp.ones((4, 4))", "raise RuntimeError(f'{x.shape} is immutable')"]
)
def test_where_no_value_is_asked_for_no_argument_is_to_blame(line: str) -> None:
    found = why(jax.jit(written("x", line)), X)
    assert (found.source, found.blamed, found.fixes) == (line, (), ())


# What is given

KEPT: list[Any] = []


def test_what_was_left_or_given_away_by_an_earlier_call_is_told() -> None:
    KEPT.clear()
    jax.jit(lambda x: KEPT.append(x + 1) or x)(X)
    found = why(written("x", "return x + KEPT[0]", KEPT=KEPT), X)
    assert (found.error, found.source) == ("UnexpectedTracerError", "return x + KEPT[0]")
    assert found.because.startswith("A tracer leaked")
    given = jnp.ones(3)
    jax.jit(lambda p: p + 1, donate_argnums=0)(given)
    with pytest.raises(SnippetError, match="x was donated to an earlier call"):
        ipyjaxbench.graph(negatives, given)
    reused = written("key", "return jax.random.normal(key) + jax.random.normal(key)")
    with jax.debug_key_reuse(True):
        found = why(reused, jax.random.key(0))
    assert found.because.startswith("A random key is used twice")


SHAPED = written("x, ks", "return jnp.ones(ks) + x[0]")
#: What a library for tables has, under its name.
TABLE = {"__module__": "pandas.fake", "to_numpy": lambda _: np.ones(3, np.float32),
         "__mul__": lambda self, _: self}  # fmt: skip


def test_arguments_of_another_kind_are_tried() -> None:
    (fix,) = why(lambda v: jnp.sum(v * 2), type("Table", (), TABLE)()).fixes
    assert fix.code == "v.to_numpy()"
    (fix,) = why(SHAPED, X, [5]).fixes
    assert fix.code == "jax.jit(f, static_argnames='ks')"
    assert fix.cost.startswith("pass ks as a tuple, (5,)")
    found = why(jax.grad(powered), 3, True)
    (fix,) = found.fixes
    assert (fix.code, fix.replaces, found.blamed) == ("x=3.0", "x=3", ())
    assert "static_argnames='negative'" in fix.cost
    assert "grad needs a float" in found.because
    assert why(jax.vmap(negatives), jnp.ones((2, 3))).fixes[0].code.startswith("return")
    assert not why(jax.grad(lambda x: x), X).fixes


@pytest.mark.parametrize("value", [None, "abc", Decimal(2), 2**70])
def test_what_stands_beside_an_array_and_is_no_number_is_to_blame(value: object) -> None:
    found = why(written("x, k", "return x * k"), X, value)
    assert (found.blamed, found.static) == (("k",), ())
    assert found.because.startswith(
        ("The code fails without jit too.", "A Python integer is too large")
    )


@pytest.mark.skipif(jax.__version_info__ < (0, 5), reason="this version of JAX warns, and goes on")
@pytest.mark.parametrize(("value", "fix"), [([5], ["ks=(5,)"]), (np.array([5]), [])])
def test_a_static_argument_that_cannot_be_hashed_is_called_so(value: Any, fix: list[str]) -> None:
    found = why(jax.jit(SHAPED, static_argnames="ks"), X, value)
    assert found.because.startswith("Static arguments must be hashable")
    assert found.blamed == ("ks",)
    assert [each.code for each in found.fixes] == fix


def test_what_was_compiled_ahead_of_time_is_not_said_to_fail_without_jit() -> None:
    compiled = jax.jit(powered, static_argnums=1).lower(X, True).compile()
    found = why(compiled, X)
    assert found.because.endswith("by .lower(...).compile(), cannot be traced again.")
    assert found.eager == ""


def test_what_failed_is_told_where_the_user_called_it() -> None:
    found = why(written("x, n", "return x if n == 0 else f(x + 1, n - 1)"), X, 100_000)
    assert found.because.endswith("or is too deep for Python's stack.")
    assert found.blamed == ()
    found = why(jnp.reshape, X, (4, 4))
    assert found.message.startswith("cannot reshape array of shape (10,)")
    assert (found.blamed, found.static) == ((), ())
    make = jax.make_jaxpr(lambda x: x)
    found = why(make, X)
    # Of another name since JAX 0.12.
    assert found.message == f"the result is a {type(make(X)).__name__}"
    assert found.line == 0


def test_the_error_is_told_as_far_as_it_says_something() -> None:
    found = why(jax.vmap(lambda a, b: a + b), jnp.ones(3), jnp.ones(4))
    assert "one axis had size 3" in found.message
    assert "one axis had size 4" in found.message
    assert why(lambda x: jnp.arange(x[3]), X).message.endswith("float32[]")
    mute = type("Mute", (Exception,), {"__str__": lambda _: 1 / 0})
    found = why(written("x", "raise Mute", Mute=mute), X)
    assert (found.error, found.message) == ("Mute", "")
