"""Why a call in JAX does not trace: the line, the argument, and fixes that were tried."""

import inspect
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import Diagnosis, SnippetError, UntraceableError
from ipyjaxbench.adapters.jax.graphs import tracing

X = jnp.arange(10.0) - 5
THREE = jnp.array(3)


def negatives(x: Any) -> Any:
    return x[x < 0]


def averaged(x: Any) -> Any:
    return x[x > 0].mean()


def largest(x: Any) -> Any:
    return 2 * x[x < 0].max()


def waves(x: Any) -> Any:
    return np.sin(x) + np.cos(x)


def moded(x: Any, mode: Any) -> Any:
    return x * 2 if mode == "a" else x


def sorted_part(x: Any) -> Any:
    return jnp.sort(x[x > 0])


def counted(x: Any) -> Any:
    return len(x[x > 0])


def rows(s: Any) -> Any:
    return s[s[:, 0] > 2]


def first_rows(s: Any, n: Any) -> Any:
    return s[:n]


def all_but(x: Any, n: Any) -> Any:
    return x[:-n]


def meant(x: Any, n: Any) -> Any:
    return x[:n].mean()


def relu(x: Any) -> Any:
    if x.sum() > 0:
        return x
    return 0 * x


def chosen(x: Any, flag: Any) -> Any:
    return -x if flag else x


def assigned(x: Any, flag: Any) -> Any:
    if flag:  # noqa: SIM108  as people write it
        y = x + 1
    else:
        y = x - 1
    return y * 2


def flat(x: Any) -> Any:
    return x.reshape(jnp.array(x.shape).prod())


def first(x: Any, n: Any) -> Any:
    return x[:n]


def summed(x: Any, n: Any) -> Any:
    for i in range(n):
        x = x + i
    return x


def halved(x: Any) -> Any:
    while x.sum() > 1:
        x = x / 2
    return x


def scaled(x: Any) -> Any:
    return x * int(x[0])


def sine(x: Any) -> Any:
    return np.sin(x) + 1


def inner(x: Any) -> Any:
    return x[x > 1]


def outer(x: Any) -> Any:
    return inner(x) * 2


def upto(x: Any) -> Any:
    return jnp.arange(x.sum())


def unique(x: Any) -> Any:
    return jnp.unique(x)


@jax.jit
@partial(jax.jit, static_argnames=["neg"])
def twice_jitted(x: Any, neg: Any) -> Any:
    return -x if neg else x


def endless(x: Any) -> Any:
    return endless(x)


def reused(key: Any) -> Any:
    return jax.random.normal(key) + jax.random.normal(key)


KEPT: list[Any] = []


def keeps(x: Any) -> Any:
    KEPT.append(x + 1)
    return x


def uses_kept(x: Any) -> Any:
    return x + KEPT[0]


def why(function: Callable[..., Any], *args: Any) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        ipyjaxbench.graph(function, *args)
    return caught.value.diagnosis


@pytest.mark.parametrize(
    ("function", "args", "blamed", "fix"),
    [
        (negatives, (X,), "x", "return jnp.where(x < 0, x, 0)"),
        (averaged, (X,), "x", "return x.mean(where=x > 0)"),
        (largest, (X,), "x", "return 2 * x.max(where=x < 0, initial=-jnp.inf)"),
        (waves, (X,), "x", "return jnp.sin(x) + jnp.cos(x)"),
        (relu, (X,), "x", "return jnp.where(x.sum() > 0, x, 0 * x)"),
        (chosen, (X, X[0] > 0), "flag", "return jnp.where(flag, -x, x)"),
        (assigned, (X, X[0] > 0), "flag", "y = jnp.where(flag, x + 1, x - 1)"),
        (flat, (jnp.ones((2, 3)),), "", "return x.reshape(np.array(x.shape).prod())"),
        (first, (X, THREE), "n", "return jnp.where(jnp.arange(len(x)) < n, x, 0)"),
        (summed, (X, THREE), "n", "x = jax.lax.fori_loop(0, n, lambda i, x: x + i, x)"),
        (halved, (X,), "x",
         "x = jax.lax.while_loop(lambda x: x.sum() > 1, lambda x: x / 2, x)"),
        (scaled, (X,), "x", "return x * jnp.asarray(x[0], int)"),
        (sine, (X,), "x", "return jnp.sin(x) + 1"),
        (outer, (X,), "x", "return jnp.where(x > 1, x, 0)"),
        (twice_jitted, (X, True), "neg", "@partial(jax.jit, static_argnames='neg')"),
        (jax.jit(negatives), (X,), "x", "return jnp.where(x < 0, x, 0)"),
        (jax.jit(moded), (X, "a"), "mode", "jax.jit(moded, static_argnames='mode')"),
    ],
)  # fmt: skip
def test_the_line_the_argument_and_a_fix_are_told(
    function: Callable[..., Any], args: tuple, blamed: str, fix: str
) -> None:
    found = why(function, *args)
    assert ", ".join(found.blamed) == blamed
    assert fix in [each.code for each in found.fixes]
    plain = inner if function is outer else inspect.unwrap(function)
    if found.line:
        lines, start = inspect.getsourcelines(plain)
        assert lines[found.line - start].strip() == found.source
    assert fix in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (upto, "The length of jnp.arange("),
        (endless, "The recursion never ends"),
    ],
)
def test_what_has_no_fix_that_could_be_tried_is_explained(
    function: Callable[..., Any], words: str
) -> None:
    found = why(function, X)
    assert found.because.startswith(words)
    assert found.fixes == ()
    assert "(not verified)" in " ".join(str(found).split())


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (sorted_part, (X,)),
        (counted, (X,)),
        (rows, (jnp.ones((4, 4)),)),
        (first_rows, (jnp.ones((4, 4)), THREE)),
        (all_but, (X, THREE)),
        (meant, (X, THREE)),
    ],
)
def test_what_would_trace_and_give_something_else_is_not_told(
    function: Callable[..., Any], args: tuple
) -> None:
    assert not [f for f in why(function, *args).fixes if "static_argnames" not in f.code]


def test_a_fix_tells_which_lines_it_replaces() -> None:
    assert why(negatives, X).fixes[0].replaces == "return x[x < 0]"
    assert why(summed, X, THREE).fixes[0].replaces == "for i in range(n):\n    x = x + i"
    assert why(lambda x: x[x < 0], X).fixes[0].replaces == "x[x < 0]"
    decorators = "@jax.jit\n@partial(jax.jit, static_argnames=['neg'])"
    assert why(twice_jitted, X, True).fixes[0].replaces == decorators
    assert why(jax.grad(powered), 3, True).fixes[0].replaces == "x=3"
    assert why(jax.grad(lambda a: a), np.array(3)).fixes[0].replaces == "a"
    assert why(np.sin, X).fixes[0].replaces == "numpy.sin"


def test_an_address_is_no_part_of_a_message() -> None:
    assert " at 0x" not in why(jax.jit(moded), X, "a").message


@pytest.mark.parametrize("function", [averaged, largest, sine, waves, scaled])
def test_a_fix_gives_what_the_code_gives_without_jit(function: Callable[..., Any]) -> None:
    (fix, *_) = why(function, X).fixes
    names = {"jnp": jnp, "np": np, "x": X}
    written = eval(fix.code.removeprefix("return "), names)
    assert np.allclose(written, function(X), atol=1e-6)


def test_a_value_kept_from_an_earlier_trace_is_told() -> None:
    KEPT.clear()
    jax.jit(keeps)(X)
    found = why(uses_kept, X)
    assert (found.error, found.source) == ("UnexpectedTracerError", "return x + KEPT[0]")
    assert found.because.startswith("A tracer leaked")


def test_an_argument_whose_memory_was_given_away_is_told() -> None:
    given = jnp.ones(3)
    jax.jit(lambda p: p + 1, donate_argnums=0)(given)
    with pytest.raises(SnippetError, match="x was donated to an earlier call"):
        ipyjaxbench.graph(relu, given)


def test_a_key_used_twice_is_told() -> None:
    with jax.debug_key_reuse(True):
        found = why(reused, jax.random.key(0))
    assert found.because.startswith("A random key is used twice")


def test_a_fix_that_does_not_trace_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "error_of", lambda *_: ValueError())
    found = why(negatives, X)
    assert found.fixes == ()
    assert "jnp.where" not in str(found)


def test_what_was_called_is_not_changed_by_trying_fixes() -> None:
    code = negatives.__code__
    why(negatives, X)
    assert negatives.__code__ is code
    assert negatives(X).shape == (5,)


def test_an_error_is_explained_after_it_was_raised() -> None:
    with pytest.raises(jax.errors.NonConcreteBooleanIndexError) as caught:
        jax.jit(negatives)(X)
    found = ipyjaxbench.explain(caught.value)
    assert "return jnp.where(x < 0, x, 0)" in [fix.code for fix in found.fixes]


def test_explaining_runs_nothing_but_what_was_traced() -> None:
    made: list[int] = []

    def make() -> Any:
        made.append(1)
        return X

    with pytest.raises(jax.errors.NonConcreteBooleanIndexError) as caught:
        jax.jit(negatives)(make())
    ipyjaxbench.explain(caught.value)
    assert made == [1]


def test_an_error_that_has_nothing_to_do_with_tracing_is_called_so() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        1 / 0  # noqa: B018
    with pytest.raises(SnippetError, match="ZeroDivisionError did not come from tracing"):
        ipyjaxbench.explain(caught.value)


def test_the_record_reads_back() -> None:
    found = why(negatives, X)
    assert Diagnosis.from_dict(found.to_dict()) == found


# What is given


def powered(x: Any, negative: Any) -> Any:
    return -(x**2) if negative else x**2


def product(x: Any, k: Any) -> Any:
    return x * k


def shaped(x: Any, ks: Any) -> Any:
    return jnp.ones(ks) + x[0]


def deep(x: Any, n: Any) -> Any:
    return x if n == 0 else deep(x + 1, n - 1)


class Table:
    """What a library for tables has, under its name."""

    __module__ = "pandas.fake"

    def to_numpy(self) -> Any:
        return np.ones(3, np.float32)

    def __mul__(self, other: Any) -> Any:
        return self


def test_a_derivative_by_an_integer_is_mended_by_a_float_and_not_by_another_jit() -> None:
    found = why(jax.grad(powered), 3, True)
    (fix,) = found.fixes
    assert fix.code == "x=3.0"
    assert "static_argnames='negative'" in fix.cost
    assert "grad needs a float" in found.because
    ipyjaxbench.graph(jax.grad(powered), 3.0, True)


def test_decorators_that_are_no_jit_are_not_taken_away() -> None:
    assert why(jax.vmap(negatives), jnp.ones((2, 3))).fixes[0].code.startswith("return")
    assert not why(jax.grad(lambda x: x), X).fixes


@pytest.mark.parametrize("value", [None, "abc", Decimal(2), 2**70])
def test_what_stands_beside_an_array_and_is_no_number_is_to_blame(value: object) -> None:
    found = why(product, X, value)
    assert (found.blamed, found.static) == (("k",), ())
    assert found.because.startswith(
        ("The code fails without jit too.", "A Python integer is too large")
    )


def test_a_list_that_makes_a_shape_could_be_a_tuple() -> None:
    (fix,) = why(shaped, X, [5]).fixes
    assert fix.code == "jax.jit(shaped, static_argnames='ks')"
    assert fix.cost.startswith("pass ks as a tuple, (5,)")


@pytest.mark.skipif(jax.__version_info__ < (0, 5), reason="this version of JAX warns, and goes on")
@pytest.mark.parametrize(("value", "fix"), [([5], ["ks=(5,)"]), (np.array([5]), [])])
def test_a_static_argument_that_cannot_be_hashed_is_called_so(value: Any, fix: list[str]) -> None:
    found = why(jax.jit(shaped, static_argnames="ks"), X, value)
    assert found.because.startswith("Static arguments must be hashable")
    assert found.blamed == ("ks",)
    assert [each.code for each in found.fixes] == fix


def test_a_table_could_be_an_array() -> None:
    (fix,) = why(lambda v: jnp.sum(v * 2), Table()).fixes
    assert fix.code == "v.to_numpy()"


def test_a_recursion_that_ends_is_not_said_to_have_no_end_alone() -> None:
    found = why(deep, X, 100_000)
    assert found.because.endswith("or is too deep for Python's stack.")
    assert found.blamed == ()


def test_how_much_comes_out_of_arange_is_not_to_be_made_static_where_it_is_an_array() -> None:
    found = why(lambda x: jnp.arange(x[3]), X)
    assert found.because.startswith("The length of jnp.arange(")
    assert found.message.endswith("float32[]")


def test_the_error_is_told_as_far_as_it_says_something() -> None:
    found = why(jax.vmap(lambda a, b: a + b), jnp.ones(3), jnp.ones(4))
    assert "one axis had size 3" in found.message
    assert "one axis had size 4" in found.message


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_an_error_that_cannot_be_shown_is_told_by_its_name() -> None:
    def fails(x: Any) -> Any:
        raise Mute

    found = why(fails, X)
    assert (found.error, found.message) == ("Mute", "")


def test_what_a_fix_changes_stands_below_the_code_and_not_in_it() -> None:
    text = str(why(jax.jit(moded), X, "a"))
    rows = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert rows["+"] == "+ jax.jit(moded, static_argnames='mode')   ✓ traces"
    assert "compiles once per value" in rows["but"]


def test_the_fault_of_a_library_function_that_needs_static_arguments_is_the_one_told() -> None:
    found = why(jnp.reshape, X, (4, 4))
    assert found.message.startswith("cannot reshape array of shape (10,)")
    assert (found.blamed, found.static) == ((), ())


def test_a_line_of_jax_is_not_told_as_the_users() -> None:
    make = jax.make_jaxpr(lambda x: x)
    found = why(make, X)
    # Of another name since JAX 0.12.
    assert found.message == f"the result is a {type(make(X)).__name__}"
    assert found.line == 0
