"""What is to be written instead, in JAX: traced, and held against the code without jit."""

import math
import sys
from collections.abc import Callable
from math import sqrt
from typing import Any

import jax
import jax.numpy as J  # as a user may call it
import numpy as N
import pytest

import ipyjaxbench
from ipyjaxbench import Diagnosis, UntraceableError
from ipyjaxbench.adapters.jax.diagnosis import fixes
from ipyjaxbench.adapters.jax.diagnosis.eager_check import EagerCall
from ipyjaxbench.adapters.jax.graphs import tracing
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode.call import Call

X = J.arange(6.0) - 2
POSITIVE = J.array(2.0)
THREE = J.array(3)


def why(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        ipyjaxbench.graph(function, *args, **kwargs)
    return caught.value.diagnosis


def root(x: Any) -> Any:
    return math.sqrt(x)


def roots(x: Any) -> Any:
    return sqrt(x) + math.atan2(x, 1.0)


def norm(x: Any) -> Any:
    return N.linalg.norm(x)


def first_is_one(x: Any) -> Any:
    x[0] = 1
    return x


def first_grows(x: Any) -> Any:
    x[0] += 1
    return x


def first_shrinks(x: Any) -> Any:
    x[0] -= 1
    return x


def at_indices(x: Any, i: Any, j: Any, v: Any) -> Any:
    x[i, j] = v
    return x


def none_negative(x: Any) -> Any:
    x[x < 0] = 0
    return x


def masked_at(x: Any) -> Any:
    return x.at[x < 0].set(0)


def chained(x: Any) -> Any:
    if x[0] > 1:
        return x
    elif x[0] > 0:  # noqa: RET505  as people write it
        return x * 2
    else:
        return -x


def turned(x: Any) -> Any:
    if x.sum() > 0:
        x = -x
    return x


def both_names(x: Any) -> Any:
    if x.sum() > 0 and not x[0] > 3:
        a, b = 1.0, x
    else:
        a, b = 2.0, -x
    return a * b


def several_statements(x: Any) -> Any:
    if x.sum() > 0:
        y = x * 2
        return y * (y + 1)
    return x


def two_carried(x: Any, n: Any) -> Any:
    total = 0.0
    for _ in range(n):
        x = x * 2
        total += x.sum()
    return x, total


def while_two(x: Any) -> Any:
    k = 0
    while x.sum() > 1:
        x = x / 2
        k += 1
    return x, k


def branch_in_loop(x: Any, n: Any) -> Any:
    found = J.zeros(())
    for i in range(1, n):
        each = x[i] * 2
        if each > 0:
            found = found + each
    return found


def largest(x: Any) -> Any:
    return max(x.sum(), 0.0)


def as_number(x: Any) -> Any:
    return x * x.sum().item()


def part(x: Any, i: Any) -> Any:
    return x[i : i + 2]


def three_faults(x: Any) -> Any:
    y = x[x > 0].sum()
    if y > 2:
        y = y * 2
    return float(y)


def copied(x: Any) -> Any:
    x = N.array(x)
    x[0] = 2
    return x


BOTH_NAMES = (
    "a, b = (J.where((x.sum() > 0) & ~(x[0] > 3), 1.0, 2.0),"
    " J.where((x.sum() > 0) & ~(x[0] > 3), x, -x))"
)
SEVERAL_STATEMENTS = """\
def if_true():
    y = x * 2
    return y * (y + 1)

def if_false():
    return x
return jax.lax.cond(x.sum() > 0, if_true, if_false)"""
TWO_CARRIED = """\
def body(_, carry):
    x, total = carry
    x = x * 2
    total += x.sum()
    return (x, total)
x, total = jax.lax.fori_loop(0, n, body, (x, total))"""
WHILE_TWO = """\
def goes_on(carry):
    x, k = carry
    return x.sum() > 1

def body(carry):
    x, k = carry
    x = x / 2
    k += 1
    return (x, k)
x, k = jax.lax.while_loop(goes_on, body, (x, k))"""
BRANCH_IN_LOOP = """\
def body(i, carry):
    found = carry
    each = x[i] * 2
    found = J.where(each > 0, found + each, found)
    return found
found = jax.lax.fori_loop(1, n, body, found)"""


def listed(x: Any, i: Any) -> Any:
    numbers = [1.0, 2.0, 3.0]
    return numbers[i] * x


def one_of_functions(x: Any, i: Any) -> Any:
    return [J.sin, J.cos][i](x)


def both_positive(x: Any, y: Any) -> Any:
    return (x > 0) and not (y > 3)


def filled(x: Any) -> Any:
    out = N.zeros(x.shape, "float32")
    for i in range(x.shape[0]):
        out[i] = x[i] * 2
    return out


def step(params: Any, batch: Any) -> Any:
    loss = ((params["w"] * batch) ** 2).mean()
    if loss > 1:
        params = jax.tree.map(lambda p: p * 0.5, params)
    print(f"loss={float(loss):.3f}")
    return params, loss


CASES = [
    (root, (POSITIVE,), "return J.sqrt(x)"),
    (roots, (POSITIVE,), "return J.sqrt(x) + J.arctan2(x, 1.0)"),
    (norm, (X,), "return J.linalg.norm(x)"),
    (first_is_one, (X,), "x = x.at[0].set(1)"),
    (first_grows, (X,), "x = x.at[0].add(1)"),
    (first_shrinks, (X,), "x = x.at[0].add(-1)"),
    (at_indices, (J.ones((3, 3)), 1, 2, 5.0), "x = x.at[i, j].set(v)"),
    (none_negative, (X,), "x = J.where(x < 0, 0, x)"),
    (masked_at, (X,), "return J.where(x < 0, 0, x)"),
    (chained, (X,), "return J.where(x[0] > 1, x, J.where(x[0] > 0, x * 2, -x))"),
    (turned, (X,), "x = J.where(x.sum() > 0, -x, x)"),
    (both_names, (X,), BOTH_NAMES),
    (several_statements, (X,), SEVERAL_STATEMENTS),
    (two_carried, (X, THREE), TWO_CARRIED),
    (while_two, (X,), WHILE_TWO),
    (branch_in_loop, (X, THREE), BRANCH_IN_LOOP),
    (largest, (X,), "return J.maximum(x.sum(), 0.0)"),
    (as_number, (X,), "return x * x.sum()"),
    (listed, (X, J.array(1)), "return J.asarray(numbers)[i] * x"),
    (one_of_functions, (X, J.array(1)), "return jax.lax.switch(i, [J.sin, J.cos], x)"),
    (both_positive, (POSITIVE, POSITIVE), "return (x > 0) & ~(y > 3)"),
    (filled, (X,), "out = J.asarray(out).at[i].set(x[i] * 2)"),
    (part, (X, THREE), "return jax.lax.dynamic_slice_in_dim(x, i, 2)"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "code"), CASES)
def test_a_fix_gives_what_the_code_gives_and_says_so(
    function: Callable[..., Any], args: tuple, code: str
) -> None:
    found = why(function, *args)
    (fix, *_) = found.fixes
    assert fix.code == code
    assert fix.same in ("without jit", "with arrays of NumPy")
    assert "✓ traces, same values" in str(found)


def test_several_faults_are_mended_together_each_with_its_line() -> None:
    first = three_faults.__code__.co_firstlineno
    (fix, *_) = why(three_faults, X).fixes
    assert fix.code.splitlines() == [
        f"y = x.sum(where=x > 0)  # line {first + 1}",
        f"y = J.where(y > 2, y * 2, y)  # line {first + 2}",
        f"return J.asarray(y, float)  # line {first + 4}",
    ]
    assert fix.same
    (fix, *_) = why(copied, X).fixes
    assert [line.partition("  #")[0] for line in fix.code.splitlines()] == [
        "x = J.array(x)", "x = x.at[0].set(2)",
    ]  # fmt: skip


def test_a_step_of_training_is_mended_where_it_asks_for_its_loss() -> None:
    first = step.__code__.co_firstlineno
    (fix, *_) = why(step, {"w": X}, X).fixes
    assert fix.same
    assert fix.code == (
        f"""\
def if_true(params):  # line {first + 2}
    params = jax.tree.map(lambda p: p * 0.5, params)
    return params

def if_false(params):
    return params
params = jax.lax.cond(loss > 1, if_true, if_false, params)
jax.debug.print('loss={{:.3f}}', loss)  # line {first + 4}"""
    )


def zeros(x: Any, n: Any) -> Any:
    return J.zeros(n) + x[:n]


def test_an_array_that_could_be_a_python_number_is_tried_as_one() -> None:
    (fix,) = why(zeros, X, THREE).fixes
    assert fix.code == "jax.jit(zeros, static_argnames='n')"
    assert fix.cost == "pass n as a Python number, such as 3; compiles once per value"


def of_length(x: Any, n: Any) -> Any:
    return J.zeros(n)


def test_a_number_of_more_than_1000_is_no_choice() -> None:
    (fix,) = why(of_length, X, J.array(1000)).fixes
    assert fix.code == "jax.jit(of_length, static_argnames='n')"
    assert why(of_length, X, J.array(1001)).fixes == ()


def other_shape(x: Any) -> Any:
    return x if x.sum() > 0 else x[:2]


def other_dtype(x: Any) -> Any:
    return x if x.sum() > 0 else x.astype(int)


def wide_condition(x: Any, c: Any) -> Any:
    return x if c else -x


def changed_by_helper(x: Any) -> Any:
    first_is_one(x)
    return x


def floored(x: Any) -> Any:
    return math.floor(x)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (other_shape, (X,)),
        (other_dtype, (X,)),
        (wide_condition, (POSITIVE, J.array([True]))),
        (changed_by_helper, (X,)),
        (floored, (POSITIVE,)),
    ],
)
def test_a_fix_of_another_shape_dtype_or_value_is_withheld(
    function: Callable[..., Any], args: tuple
) -> None:
    assert why(function, *args).fixes == ()


def test_a_fix_that_gives_something_else_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    assert why(turned, X).fixes
    monkeypatch.setattr(EagerCall, "agrees", lambda *_: False)
    assert why(turned, X).fixes == ()


def test_with_shapes_alone_a_fix_is_only_traced() -> None:
    found = why(turned, jax.ShapeDtypeStruct((3,), "float32"))
    assert [fix.same for fix in found.fixes] == [""]
    assert "✓ traces\n" in str(found)


SEEN: list[float] = []


def told_and_kept(x: Any) -> Any:
    SEEN.append(1.0)
    print("computed")
    return x if x.sum() > 0 else -x


def test_making_the_call_leaves_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    SEEN.clear()
    drawn = N.random.get_state()[1].copy()
    mine = N.array(X)
    assert why(told_and_kept, mine).fixes[0].same
    assert why(none_negative, mine).fixes[0].same
    assert SEEN == []
    assert capsys.readouterr().out == ""
    assert (mine == N.array(X)).all()
    assert (N.random.get_state()[1] == drawn).all()


WRITTEN: list[Any] = []


def writes(x: Any) -> Any:
    if x.sum() > 0:
        x = -x
    with open("/nowhere/at/all", "w"):
        pass
    return x


def test_code_that_acts_on_the_world_is_traced_alone() -> None:
    with pytest.raises(UntraceableError) as caught:
        ipyjaxbench.graph(lambda x: writes(x) if x.sum() > 0 else x, X)
    assert not any(fix.same for fix in caught.value.diagnosis.fixes)


def endless_without_jit(x: Any) -> Any:
    while x[0] < 5:
        x = x + 0
    return x


def test_code_that_takes_too_long_without_jit_is_stopped() -> None:
    (fix,) = why(endless_without_jit, X).fixes
    assert fix.code == "x = jax.lax.while_loop(lambda x: x[0] < 5, lambda x: x + 0, x)"
    assert fix.same == ""
    assert sys.gettrace() is None


def four_faults(x: Any) -> Any:
    y = x[x > 0].sum()
    if y > 2:
        y = y * 2
    if y > 3:
        y = y * 3
    return float(y)


def test_more_than_three_changes_are_no_fix() -> None:
    assert why(four_faults, X).fixes == ()


def fixes_of(function: Callable[..., Any]) -> fixes.Fixes:
    call = Call.from_function(function, X)
    with pytest.raises(tracing.NoChoiceError) as caught:
        tracing.trace(call)
    return fixes.Fixes(call, caught.value, caught.value.error)


@pytest.mark.parametrize(("nanoseconds", "is_found"), [(8 * 10**9, True), (8 * 10**9 + 1, False)])
def test_fixes_are_looked_for_for_eight_seconds(
    nanoseconds: int, is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    clock.advance(10**9)
    monkeypatch.setattr(fixes, "_CLOCK", clock)
    search = fixes_of(turned)
    clock.advance(nanoseconds)
    assert bool([*search.find()]) is is_found


@pytest.mark.parametrize(("tried", "more"), [(58, 2), (59, 1), (60, 0)])
def test_no_more_than_sixty_changes_are_tried(
    tried: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced: list[int] = []

    def error_of(*args: Any) -> Any:
        traced.append(1)
        return real(*args)

    search, real = fixes_of(three_faults), tracing.error_of
    search._tries = tried
    monkeypatch.setattr(tracing, "error_of", error_of)
    assert [*search.find()] == []
    assert len(traced) == more


def test_lists_of_rows_trace_as_they_are() -> None:
    assert ipyjaxbench.graph(lambda x: sum(list(x)), X).static_argnames == ()
