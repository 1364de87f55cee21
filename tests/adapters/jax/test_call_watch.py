"""One call of a jitted function, watched: its events, its cache, and what JAX logs."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax.retracing import cache_miss_log
from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch, Mark
from ipyjaxbench.adapters.jax.retracing.kept_programs import count_programs
from ipyjaxbench.retracing import Change

X = jnp.ones(3)


@pytest.fixture
def watch() -> Iterator[JaxCallWatch]:
    with JaxCallWatch() as watch:
        yield watch


def called(watch: JaxCallWatch, function: Any, *args: Any) -> Any:
    mark = watch.begin_call(function, args, {})
    function(*args)
    return watch.end_call(function, mark)


def test_whether_a_function_had_programs_before_is_told(watch: JaxCallWatch) -> None:
    f = jax.jit(lambda x: x * 2)
    first, second = called(watch, f, X), called(watch, f, X[:2])
    assert (first.state, first.known) == ("TRACED", False)
    assert (second.state, second.known) == ("TRACED", True)
    assert called(watch, f, X) is None
    assert called(watch, jax.grad(jax.jit(lambda x: x.sum())), X).known is None


def test_a_trace_is_over_at_the_end_of_its_last_event(watch: JaxCallWatch) -> None:
    f = jax.jit(lambda x: x * 3)
    outcome = called(watch, f, X)
    ends = [event.end for event in watch._events if event.phase == "trace"]
    assert outcome.traced_until == max(ends) > 0
    placed = called(watch, f, jax.device_put(X, jax.devices()[0]))
    assert (placed.state, placed.traced_until) == ("RECOMPILED", 0.0)


def test_a_call_that_grew_no_cache_or_passes_it_by_is_told_so(watch: JaxCallWatch) -> None:
    f = jax.jit(lambda x: x * 4)
    assert watch.end_call(f, Mark(len(watch._events), 0, 0)) is None  # it did not grow
    f(X)
    for entries, state in ((0, "SLOW-PATH"), (1, None), (-1, None)):
        outcome = watch.end_call(f, Mark(len(watch._events), 0, entries))
        assert (outcome and outcome.state) == state
    with jax.disable_jit():
        assert called(watch, jax.jit(lambda x: x + 4), X).state == "BYPASSED"
    assert (count_programs(f), count_programs(len)) == (1, -1)


def test_a_function_called_while_another_one_is_traced_is_part_of_it(watch: JaxCallWatch) -> None:
    f, taken = jax.jit(lambda x: x + 5), []
    jax.make_jaxpr(lambda x: taken.append(watch.takes(f)) or x)(X)
    assert (taken, watch.takes(f), watch.takes(len)) == ([False], True, False)


def test_whether_a_call_would_be_traced_is_asked_without_tracing(watch: JaxCallWatch) -> None:
    traces: list[int] = []
    f = jax.jit(lambda x: (traces.append(1), x)[1])
    assert watch.predicts(f, (X,), {}) is True
    f(X)
    assert watch.predicts(f, (X,), {}) is False
    assert watch.predicts(len, (X,), {}) is None
    assert traces == [1]

    def fails(x: Any) -> Any:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        watch.predicts(SimpleNamespace(trace=fails), (X,), {})


def miss(name: str, caller: str, *, place: str = "/home/me/a.py:3", says: str = "") -> str:
    return (
        f"TRACING CACHE MISS at /home/me/a.py:9:4 ({caller}) costing 1.0 ms because:\n"
        f"  for {name} defined at {place}\n{says}"
    )


def test_what_jax_logs_is_read_for_nested_functions_and_reasons() -> None:
    logged = [
        miss("deep", "outer.<locals>.inner"), miss("inner", "outer"), miss("lost", "elsewhere"),
        miss("sin", "inner", place=f"{jax.__file__}:1"), miss("outer", "<module>"), "another text",
        miss("inner", "deep"),
    ]  # fmt: skip
    assert cache_miss_log.nested("outer", logged) == ((1, "inner"), (2, "deep"), (1, "lost"))
    says = "  * never seen function\n  * explanation of more\n"
    logged = [miss("other", "f"), miss("f", "<module>", says=says), miss("f", "<module>")]
    told = Change("guard", new="jax: never seen function; explanation of more")
    assert cache_miss_log.reasons("f", logged) == (told,)
    assert cache_miss_log.reasons("f", logged[2:]) == ()
    assert cache_miss_log.reasons("g", logged) == ()
