"""What is to be written instead, in JAX: traced, and held against the code without jit."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import ipyjaxbench
from ipyjaxbench.adapters.jax.diagnosis import fixes
from ipyjaxbench.adapters.jax.diagnosis.eager_check import EagerCall
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode.call import Call
from tests.adapters.jax.written import why, written

X = jnp.arange(6.0) - 2
POSITIVE = jnp.array(2.0)
ONE, THREE = jnp.array(1), jnp.array(3)

TURNED = "if x.sum() > 0:\n    x = -x\nreturn x"
BRANCH_IN_LOOP = (
    """\
found = jnp.zeros(())
for i in range(1, n):
    each = x[i] * 2
    if each > 0:
        found = found + each
return found""",
    """\
def body(i, carry):
    found = carry
    each = x[i] * 2
    found = jnp.where(each > 0, found + each, found)
    return found
found = jax.lax.fori_loop(1, n, body, found)""",
)
FILLED = (
    """\
out = np.zeros(x.shape, "float32")
for i in range(x.shape[0]):
    out[i] = x[i] * 2
return out""",
    "out = jnp.asarray(out).at[i].set(x[i] * 2)",
)


@pytest.mark.parametrize(
    ("lines", "code", "args"),
    [
        ("x[0] -= 1\nreturn x", "x = x.at[0].add(-1)", (X,)),
        (*BRANCH_IN_LOOP, (X, THREE)),
        ("return [jnp.sin, jnp.cos][n](x)", "return jax.lax.switch(n, [jnp.sin, jnp.cos], x)",
         (X, ONE)),
        (*FILLED, (X,)),
    ],
)  # fmt: skip
def test_a_fix_gives_what_the_code_gives_and_says_so(
    lines: str, code: str, args: tuple[Any, ...]
) -> None:
    found = why(written("x, n" if len(args) > 1 else "x", lines), *args)
    (fix, *_) = found.fixes
    assert fix.code == code
    assert fix.same in ("without jit", "with arrays of NumPy")
    assert "✓ traces, same values" in str(found)


THREE_FAULTS = written("x", "y = x[x > 0].sum()\nif y > 2:\n    y = y * 2\nreturn float(y)")
FOUR_FAULTS = written(
    "x",
    "y = x[x > 0].sum()\nif y > 2:\n    y = y * 2\nif y > 3:\n    y = y * 3\nreturn float(y)",
)


def test_faults_are_mended_together_up_to_three_each_with_its_line() -> None:
    (fix, *_) = why(THREE_FAULTS, X).fixes
    assert fix.code.splitlines() == [
        "y = x.sum(where=x > 0)  # line 2",
        "y = jnp.where(y > 2, y * 2, y)  # line 3",
        "return jnp.asarray(y, float)  # line 5",
    ]
    assert fix.same
    (fix, *_) = why(written("x", "x = np.array(x)\nx[0] = 2\nreturn x"), X).fixes
    assert [line.partition("  #")[0] for line in fix.code.splitlines()] == [
        "x = jnp.array(x)", "x = x.at[0].set(2)",
    ]  # fmt: skip
    assert why(FOUR_FAULTS, X).fixes == ()


def test_an_array_that_could_be_a_python_number_up_to_1000_is_tried_as_one() -> None:
    (fix,) = why(written("x, n", "return jnp.zeros(n) + x[:n]"), X, THREE).fixes
    assert fix.code == "jax.jit(f, static_argnames='n')"
    assert fix.cost == "pass n as a Python number, such as 3; compiles once per value"
    of_length = written("x, n", "return jnp.zeros(n)")
    assert len(why(of_length, X, jnp.array(1000)).fixes) == 1
    assert why(of_length, X, jnp.array(1001)).fixes == ()


def test_what_has_no_name_is_named_by_how_it_is_made() -> None:
    flagged = written("n, x, neg", "return -x if neg else x * n")
    for function, code in (
        (functools.partial(flagged, 2), "functools.partial(f, ...)"),
        (type("Net", (), {"__call__": flagged})(), "Net(...)"),
    ):
        fix, *_ = why(jax.jit(function), X, True).fixes
        assert fix.code == f"jax.jit({code}, static_argnames='neg')"


def test_a_random_key_beside_it_is_no_number() -> None:
    code = written("key, n", "return jax.random.normal(key, (n,))")
    (fix,) = why(code, jax.random.key(0), THREE).fixes
    assert fix.code == "jax.jit(f, static_argnames='n')"


def test_what_a_primitive_is_given_as_a_parameter_is_no_look_up_in_a_dict() -> None:
    found = why(written("x, n", "return jnp.tile(x, n)"), X, THREE)
    # Before JAX 0.5 it takes the number for an array, and needs its values.
    assert found.because.startswith("jnp.tile(x, n) needs ")
    assert "concrete value" in found.because
    assert [fix.code for fix in found.fixes] == ["jax.jit(f, static_argnames='n')"]
    if jax.__version_info__ >= (0, 5):  # before, a tracer has a hash, of which JAX warns
        found = why(written("x, n", "return {3: x}[n]"), X, THREE)
        assert found.because.startswith("Looking something up in a dict or set needs a concrete")


def test_a_fix_of_another_shape_dtype_or_value_is_withheld(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    helper = written("x", "x[0] = 1\nreturn x")
    for lines, value in (
        ("return x if x.sum() > 0 else x[:2]", X), ("helper(x)\nreturn x", X),
        ("return x if x.sum() > 0 else x.astype(int)", X), ("return math.floor(x)", POSITIVE),
    ):  # fmt: skip
        assert why(written("x", lines, helper=helper), value).fixes == ()
    turned = written("x", TURNED)
    found = why(turned, jax.ShapeDtypeStruct((3,), "float32"))
    assert [fix.same for fix in found.fixes] == [""]  # it is only traced
    assert "✓ traces\n" in str(found)
    monkeypatch.setattr(EagerCall, "agrees", lambda *_: False)
    assert why(turned, X).fixes == ()


def fixes_of(function: Any) -> fixes.Fixes:
    call = Call.from_function(function, X)
    with pytest.raises(tracing.NoChoiceError) as caught:
        tracing.trace(call)
    return fixes.Fixes(call, caught.value.static, caught.value.error)


@pytest.mark.parametrize(("past", "is_found"), [(0, True), (1, False)])
def test_fixes_are_looked_for_until_their_time_is_over(
    past: int, is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    clock.advance(10**9)
    monkeypatch.setattr(fixes, "_CLOCK", clock)
    search = fixes_of(written("x", TURNED))
    clock.advance(round(fixes._MAX_SECONDS * 1e9) + past)
    assert bool([*search.find()]) is is_found


@pytest.mark.parametrize(("tried", "more"), [(58, 2), (60, 0)])
def test_no_more_than_sixty_changes_are_tried(
    tried: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced: list[int] = []

    def error_of(*args: Any) -> Any:
        traced.append(1)
        return real(*args)

    search, real = fixes_of(THREE_FAULTS), tracing.error_of
    search._tries = tried
    monkeypatch.setattr(tracing, "error_of", error_of)
    assert [*search.find()] == []
    assert len(traced) == more


# In place of a static number, so that one program serves all its values

V, M = jnp.arange(12.0), jnp.arange(12.0).reshape(4, 3)
SLICE = "jax.lax.dynamic_slice_in_dim"


@pytest.mark.parametrize(
    ("lines", "args", "fix"),
    [
        ("return x[n:n + 2]", (V, 3), f"return {SLICE}(x, n, 2)"),
        ("return x[:, n:n + 2]", (M, 1), f"return {SLICE}(x, n, 2, axis=1)"),
        ("return x[:n].sum()", (V, 5), "return x.sum(where=jnp.arange(x.size) < n)"),
        ("return x[:n].sum()", (M, 2), None),  # of a vector alone
        ("return x.reshape(n, 3)", (V, 4), "return x.reshape(-1, 3)"),
        ("return x.reshape(n, -1)", (V, 4), None),
        ("return x.reshape(n, -1)", (M, 3), "return x.reshape(x.shape[1], -1)"),
        ("return x + jnp.arange(n)", (V, 12), "return x + jnp.arange(x.shape[0])"),
        ("return jax.lax.dynamic_slice(x, (0,), (n,))", (V, 12),
         "return jax.lax.dynamic_slice(x, (0,), (x.shape[0],))"),
        ("return jax.lax.dynamic_slice(x, (0,), (n,))", (V, 5), None),
        ("return x if n else -x", (V, True), None),
    ],
)  # fmt: skip
def test_the_better_way_is_found_where_there_is_one_and_compiles_once(
    lines: str, args: tuple[Any, ...], fix: str | None
) -> None:
    found = ipyjaxbench.graph(written("x, n", lines), *args)
    assert found.static_argnames == ("n",)
    assert [each.code for each in found.fixes] == ([fix] if fix else [])
    if fix:
        assert found.fixes[0].same
        jitted = jax.jit(written("x, n", fix))
        assert (jitted(*args) == written("x, n", lines)(*args)).all()
        jitted(args[0], args[1] - 1)
        assert jitted._cache_size() == 1


def test_of_two_numbers_one_may_have_to_stay_static() -> None:
    (fix,) = ipyjaxbench.graph(written("x, i, n", "return x[i:i + n]"), V, 3, 2).fixes
    assert fix.code == f"return {SLICE}(x, i, n)"
    assert fix.cost.endswith("; with static_argnames='n'")


def test_in_a_jitted_function_it_comes_before_static_arguments() -> None:
    jitted = jax.jit(written("x, n", "return x[n:n + 2]"))
    with pytest.raises(IndexError) as caught:
        jitted(V, 3)
    for found in (why(jitted, V, 3), ipyjaxbench.explain(caught.value)):
        once, static = (fix.code for fix in found.fixes)
        assert once == f"return {SLICE}(x, n, 2)"
        assert "static_argnames='n'" in static
