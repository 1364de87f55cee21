"""How a call is traced: what it prints, how long it may take, and how often it is tried."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import SnippetError
from ipyjaxbench.adapters.jax.graphs import program, tracer, tracing
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.timing import note_narrowed
from ipyjaxbench.usercode import PACKAGE, OutOfTimeError
from ipyjaxbench.usercode.call import Call

X = jnp.ones(3)


def endless(x: Any) -> Any:
    while True:
        x = x + 0


def loud(x: Any, n: Any) -> Any:
    print(type(n).__name__)
    return x[:n]


def fails(x: Any) -> Any:
    print("never shown")
    warnings.warn("never shown", stacklevel=1)
    raise KeyError("a")


def test_of_what_is_printed_only_the_last_try_is_kept() -> None:
    assert ipyjaxbench.graph(loud, X, 2).printed == "int\n"


def test_a_trace_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_MOST_SECONDS", 0.05)
    assert isinstance(tracing.error_of(Call.from_function(endless, X), ()), TimeoutError)
    assert not tracing.traces(Call.from_function(endless, X), ())


def test_why_a_call_does_not_trace_is_told_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(tracing.error_of(Call.from_function(fails, X), ()), KeyError)
    assert capsys.readouterr().out == ""
    assert tracing.error_of(Call.from_function(loud, X, 2), ("n",)) is None
    assert isinstance(tracing.error_of(Call.from_function(loud, X, 2), ()), IndexError)
    assert tracing.traces(Call.from_function(loud, X, 2), ("n",))
    assert not tracing.traces(Call.from_function(loud, X, 2), ("x",))


def test_a_call_is_computed_under_jit_with_fixed_values() -> None:
    assert tracing.run(Call.from_function(loud, X, 2), ("n",)).tolist() == [1, 1]


def test_more_than_2000_equations_are_not_compiled() -> None:
    @jax.jit
    def hundred(x: Any) -> Any:  # its own call is one more
        for _ in range(99):
            x = x * 2
        return x

    def long(x: Any) -> Any:
        for _ in range(20):
            x = hundred(x)
        return x + 1

    with pytest.raises(OutOfTimeError):
        tracing.run(Call.from_function(long, X), ())


@pytest.mark.parametrize(
    ("function", "args", "tries"),
    [
        (jnp.sin, (X,), 1),
        (jnp.power, (X, 2), 2),  # once more with the number as it is
        (jnp.sum, (X, 0), 2),  # once more with a static axis
        (jnp.linspace, (0, 1, 5), 3),  # and once more with the numbers as they are
        (jax.random.fold_in, (jax.random.key(0), -1), 2),  # which raises with the number fixed
        (lambda x, n: x * n, (X, 2), 1),
    ],
)
def test_how_often_the_code_was_traced_is_counted(function: Any, args: Any, tries: int) -> None:
    assert ipyjaxbench.graph(function, *args).tries == tries


def test_no_line_of_ours_is_taken_for_the_users() -> None:
    traced = tracing.trace(Call.from_function(jnp.sin, X))
    places = [program.nearest_of(each.source_info) for each in traced.closed.jaxpr.eqns]
    assert places
    assert not [file for file, _ in places if file.startswith(PACKAGE)]


def test_the_time_of_tracing_is_what_passes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracer, "_CLOCK", FakeClock(step=10**9))
    assert ipyjaxbench.graph(jnp.sin, X).seconds == pytest.approx(1.0)


def test_where_even_the_reason_cannot_be_told_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(*_: object) -> Any:
        raise LookupError

    monkeypatch.setattr(tracer, "diagnose", raises)
    with pytest.raises(SnippetError) as caught:
        ipyjaxbench.graph(fails, X)
    assert str(caught.value) == ("fails(...) does not trace, and the diagnosis failed: LookupError")


def test_arrays_of_numpy_that_become_narrower_are_told_together_by_dtype() -> None:
    def summed(a: Any, b: Any, c: Any, d: Any) -> Any:
        return a + b + c + d

    narrow, wide = np.ones(3, np.float32), np.ones(3)
    found = ipyjaxbench.graph(summed, wide, narrow, np.float64(2), np.ones(3, np.int64))
    assert [*found.notes] == [
        note_narrowed(["a", "c"], "float64", "float32"), note_narrowed(["d"], "int64", "int32"),
    ]  # fmt: skip
