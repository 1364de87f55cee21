"""What is to be written instead, in JAX: traced, and held against the code without jit."""

import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ipyjaxbench.adapters.jax.diagnosis import eager_check, fixes
from ipyjaxbench.adapters.jax.diagnosis.eager_check import EagerCall
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode.call import Call
from tests.adapters.jax.written import why, written

X = jnp.arange(6.0) - 2
POSITIVE = jnp.array(2.0)
ONE, THREE = jnp.array(1), jnp.array(3)

CHAINED = "if x[0] > 1:\n    return x\nelif x[0] > 0:\n    return x * 2\nelse:\n    return -x"
TURNED = "if x.sum() > 0:\n    x = -x\nreturn x"
BOTH_NAMES = (
    "if x.sum() > 0 and not x[0] > 3:\n    a, b = 1.0, x\nelse:\n    a, b = 2.0, -x\nreturn a * b",
    (
        "a, b = (jnp.where((x.sum() > 0) & ~(x[0] > 3), 1.0, 2.0),"
        " jnp.where((x.sum() > 0) & ~(x[0] > 3), x, -x))"
    ),
)
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
        ("return math.sqrt(x) + math.atan2(x, 1.0)", "return jnp.sqrt(x) + jnp.arctan2(x, 1.0)",
         (POSITIVE,)),
        ("x[0] = 1\nreturn x", "x = x.at[0].set(1)", (X,)),
        ("x[0] -= 1\nreturn x", "x = x.at[0].add(-1)", (X,)),
        ("x[x < 0] = 0\nreturn x", "x = jnp.where(x < 0, 0, x)", (X,)),
        ("return x.at[x < 0].set(0)", "return jnp.where(x < 0, 0, x)", (X,)),
        (CHAINED, "return jnp.where(x[0] > 1, x, jnp.where(x[0] > 0, x * 2, -x))", (X,)),
        (TURNED, "x = jnp.where(x.sum() > 0, -x, x)", (X,)),
        (*BOTH_NAMES, (X,)),
        (*BRANCH_IN_LOOP, (X, THREE)),
        ("return max(x.sum(), 0.0)", "return jnp.maximum(x.sum(), 0.0)", (X,)),
        ("return x * x.sum().item()", "return x * x.sum()", (X,)),
        ("numbers = [1.0, 2.0, 3.0]\nreturn numbers[n] * x", "return jnp.asarray(numbers)[n] * x",
         (X, ONE)),
        ("return [jnp.sin, jnp.cos][n](x)", "return jax.lax.switch(n, [jnp.sin, jnp.cos], x)",
         (X, ONE)),
        ("return (x > 0) and not (n > 3)", "return (x > 0) & ~(n > 3)", (POSITIVE, POSITIVE)),
        (*FILLED, (X,)),
        ("return x[n : n + 2]", "return jax.lax.dynamic_slice_in_dim(x, n, 2)", (X, THREE)),
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
    (fix, *_) = why(written("params, batch", STEP), {"w": X}, X).fixes
    assert fix.same
    assert fix.code == MENDED_STEP


STEP = """\
loss = ((params["w"] * batch) ** 2).mean()
if loss > 1:
    params = jax.tree.map(lambda p: p * 0.5, params)
print(f"loss={float(loss):.3f}")
return params, loss"""
MENDED_STEP = """\
def if_true(params):  # line 3
    params = jax.tree.map(lambda p: p * 0.5, params)
    return params

def if_false(params):
    return params
params = jax.lax.cond(loss > 1, if_true, if_false, params)
jax.debug.print('loss={:.3f}', loss)  # line 5"""


def test_an_array_that_could_be_a_python_number_up_to_1000_is_tried_as_one() -> None:
    (fix,) = why(written("x, n", "return jnp.zeros(n) + x[:n]"), X, THREE).fixes
    assert fix.code == "jax.jit(f, static_argnames='n')"
    assert fix.cost == "pass n as a Python number, such as 3; compiles once per value"
    of_length = written("x, n", "return jnp.zeros(n)")
    assert len(why(of_length, X, jnp.array(1000)).fixes) == 1
    assert why(of_length, X, jnp.array(1001)).fixes == ()


@pytest.mark.parametrize(
    ("lines", "args"),
    [("return x if x.sum() > 0 else x[:2]", (X,)),
     ("return x if x.sum() > 0 else x.astype(int)", (X,)),
     ("return x if n else -x", (POSITIVE, jnp.array([True]))), ("helper(x)\nreturn x", (X,)),
     ("return math.floor(x)", (POSITIVE,))],
)  # fmt: skip
def test_a_fix_of_another_shape_dtype_or_value_is_withheld(
    lines: str, args: tuple[Any, ...]
) -> None:
    function = written(
        "x, n" if len(args) > 1 else "x", lines, helper=written("x", "x[0] = 1\nreturn x")
    )
    assert why(function, *args).fixes == ()


def test_a_fix_that_gives_something_else_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = written("x", TURNED)
    found = why(turned, jax.ShapeDtypeStruct((3,), "float32"))
    assert [fix.same for fix in found.fixes] == [""]  # it is only traced
    assert "✓ traces\n" in str(found)
    monkeypatch.setattr(EagerCall, "agrees", lambda *_: False)
    assert why(turned, X).fixes == ()


SEEN: list[float] = []


def told_and_kept(x: Any) -> Any:
    SEEN.append(1.0)
    print("computed")
    return x if x.sum() > 0 else -x


def test_making_the_call_leaves_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    SEEN.clear()
    drawn = np.random.get_state()[1].copy()
    mine = np.array(X)
    assert why(told_and_kept, mine).fixes[0].same
    assert why(written("x", "x[x < 0] = 0\nreturn x"), mine).fixes[0].same
    assert SEEN == []
    assert capsys.readouterr().out == ""
    assert (mine == np.array(X)).all()
    assert (np.random.get_state()[1] == drawn).all()


def test_code_that_takes_too_long_without_jit_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager_check, "MAX_SECONDS", 0.3)
    (fix,) = why(written("x", "while x[0] < 5:\n    x = x + 0\nreturn x"), X).fixes
    assert fix.code == "x = jax.lax.while_loop(lambda x: x[0] < 5, lambda x: x + 0, x)"
    assert fix.same == ""
    assert sys.gettrace() is None


def fixes_of(function: Any) -> fixes.Fixes:
    call = Call.from_function(function, X)
    with pytest.raises(tracing.NoChoiceError) as caught:
        tracing.trace(call)
    return fixes.Fixes(call, caught.value.static, caught.value.error)


@pytest.mark.parametrize(("nanoseconds", "is_found"), [(8 * 10**9, True), (8 * 10**9 + 1, False)])
def test_fixes_are_looked_for_for_eight_seconds(
    nanoseconds: int, is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    clock.advance(10**9)
    monkeypatch.setattr(fixes, "_CLOCK", clock)
    search = fixes_of(written("x", TURNED))
    clock.advance(nanoseconds)
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
