"""How a call is traced: what it prints, how long, and with which arguments it is tried."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench import SnippetError
from ipyjaxbench.adapters.jax.graphs import program, static_search, tracer, tracing
from ipyjaxbench.adapters.jax.graphs.static_search import Choices
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
    warnings.warn("never shown", stacklevel=1)
    return x[:n]


@pytest.mark.filterwarnings("ignore:never shown")
def test_why_a_call_does_not_trace_is_told_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    call = Call.from_function(loud, X, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(tracing.error_of(call, ()), IndexError)
        assert tracing.traces(call, ("n",))
        assert not tracing.traces(call, ("x",))
    assert capsys.readouterr().out == ""
    assert tracing.run(call, ("n",)).tolist() == [1, 1]
    assert ipyjaxbench.graph(loud, X, 2).printed == "int\n"


def test_a_trace_that_takes_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_MOST_SECONDS", 0.05)
    assert isinstance(tracing.error_of(Call.from_function(endless, X), ()), TimeoutError)


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


def test_a_trace_takes_what_passes_meanwhile_and_no_line_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    traced = tracing.trace(Call.from_function(jnp.sin, X))
    places = [program.nearest_of(each.source_info) for each in traced.closed.jaxpr.eqns]
    assert places
    assert not [file for file, _ in places if file.startswith(PACKAGE)]
    monkeypatch.setattr(tracer, "_CLOCK", FakeClock(step=10**9))
    assert ipyjaxbench.graph(jnp.sin, X).seconds == pytest.approx(1.0)


def test_where_even_the_reason_cannot_be_told_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracer, "diagnose", lambda *_: {}["nothing"])
    with pytest.raises(SnippetError) as caught:
        ipyjaxbench.graph(lambda x: x[x > 0], X)
    assert str(caught.value).endswith("does not trace, and the diagnosis failed: KeyError")


def test_arrays_of_numpy_that_become_narrower_are_told_together_by_dtype() -> None:
    args = np.ones(3), np.ones(3, np.float32), np.float64(2), np.ones(3, np.int64)
    found = ipyjaxbench.graph(lambda a, b, c, d: a + b + c + d, *args)
    assert [*found.notes] == [
        note_narrowed(["a", "c"], "float64", "float32"), note_narrowed(["d"], "int64", "int32"),
    ]  # fmt: skip


SECOND = 10**9
NAMED = TypeError("This value depends on the values of the arguments b and t. Later.\n")


@jax.tree_util.register_pytree_node_class
class Scaled:
    """It can be hashed, and holds an array."""

    def tree_flatten(self) -> Any:
        return (X,), None

    @classmethod
    def tree_unflatten(cls, _: Any, __: Any) -> "Scaled":
        return cls()


def sets(function: Any, *args: Any) -> list[set[str]]:
    return [set(each) for each in Choices(Call.from_function(function, *args)).upto(4.0)]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    clock.advance(5 * SECOND)
    monkeypatch.setattr(static_search, "_CLOCK", clock)
    return clock


def test_few_are_tried_before_many_and_flags_before_numbers() -> None:
    assert sets(lambda x, f, n, flag: x, X, 2.0, 3, True) == [
        set(), {"flag"}, {"n"}, {"f"}, {"flag", "n"}, {"flag", "f"}, {"n", "f"}, {"flag", "n", "f"},
    ]  # fmt: skip
    assert sets(lambda x, f, n, flag, word: x, X, 2.0, (1,), None, "a")[1:5] == [
        {"word"}, {"flag"}, {"n"}, {"f"},
    ]  # fmt: skip
    assert sets(lambda x, a: x, X, [1]) == [set()]


@pytest.mark.parametrize(
    ("value", "is_static"), [("relu", True), ((1, 2), True), (([1],), False), ([np.ones(2)], False),
                             (X, False), (Scaled(), False)]
)  # fmt: skip
def test_only_what_has_a_hash_and_holds_no_array_can_be_static(
    value: Any, *, is_static: bool
) -> None:
    assert static_search._can_be_static(value) is is_static


def test_arguments_that_jax_names_are_tried_first_and_more_are_added_to_a_set() -> None:
    choices = Choices(Call.from_function(lambda x, a, b, t: x, X, True, 2, (3,)))
    given, named = [], []
    for static in choices.upto(4.0):
        given.append(set(static))
        named.append(choices.is_named)
        choices.failed(static, NAMED if len(given) < 3 else TypeError("something else"))
    # With b alone JAX names t too: both are tried next.
    assert given[:5] == [set(), {"b"}, {"b", "t"}, {"t"}, {"a"}]
    assert named[1:5] == [True, True, True, False]
    assert choices.tries == len(given) == 8
    assert not choices.stopped


def test_no_more_than_32_sets_are_given_out() -> None:
    choices = Choices(Call.from_function(lambda *a: a, *[True] * 6))
    assert len([*choices.upto(4.0)]) == choices.tries == 32
    assert not choices.stopped


@pytest.mark.parametrize(("nanoseconds", "is_over"), [(4 * SECOND - 1, False), (4 * SECOND, True)])
def test_after_the_time_only_what_jax_names_is_tried(
    clock: FakeClock, nanoseconds: int, *, is_over: bool
) -> None:
    choices = Choices(Call.from_function(lambda x, a, b, t: x, X, True, 2, (3,)))
    search = choices.upto(4.0)
    choices.failed(next(search), NAMED)
    clock.advance(100 * SECOND)  # what jit would trace may take as long as it takes
    assert next(search) == {"b"}
    assert choices.left == pytest.approx(4.0)
    clock.advance(nanoseconds)
    assert next(search) == {"t"}
    assert next(search, None) == (None if is_over else {"a"})
    assert choices.stopped is is_over
    assert choices.tries == (3 if is_over else 4)


def test_more_than_1000_turns_are_many() -> None:
    for value, is_large in ((1000, False), (1001, True), (1000.5, True), ("long", False)):
        choices = Choices(Call.from_function(lambda x, n: x, X, value))
        assert choices.has_large(frozenset({"n"})) is is_large
        assert not choices.has_large(frozenset())
