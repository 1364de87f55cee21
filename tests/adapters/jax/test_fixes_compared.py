"""A fix that traces, and gives something else under jit than the code without, is no fix."""

import logging
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as J  # as a user may call it
import numpy as N
import pytest
from jax.experimental.compilation_cache import compilation_cache

import ipyjaxbench
from ipyjaxbench import Diagnosis, UntraceableError

X = J.arange(1.0, 4.0)


def why(function: Callable[..., Any], *args: Any) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        ipyjaxbench.graph(function, *args)
    return caught.value.diagnosis


def text_of_a_number(x: Any) -> Any:
    s = str(float(x[0]))
    return len(s)


def text_with_a_number(x: Any) -> Any:
    return x * len(f"{float(x[0])}")


def representation(x: Any) -> Any:
    return x * len(repr(x[0].item() * 1.0))


def name_with_a_number(x: Any) -> Any:
    return {"w": x}.get("w" + str(int(x[0]))[1:], -x)


def hashed(x: Any) -> Any:
    return x * (hash(str(float(x[0]))) == hash("1.0"))


def kind_of_a_number(x: Any) -> Any:
    n = float(x[0])
    return x * (2 if "Tracer" in type(n).__name__ else 3)


def kind_by_isinstance(x: Any) -> Any:
    if x.sum() > 0:
        x = x * 2
    return -x if isinstance(x, jax.core.Tracer) else x


def text_elsewhere(x: Any) -> Any:
    if x.sum() > 0:
        x = x * 2
    return x * len(str(x))


def same_object(x: Any) -> Any:
    y = x if x.sum() > 0 else -x
    return x * (2 if y is x else 3)


def masked_and_text(x: Any) -> Any:
    y = x[x > 1]
    return len(str(y.sum()))


def chosen_by_list(x: Any) -> Any:
    n = x[0].item()
    return x * (n in [1.0, 2.0])


DIFFERENT = [
    text_of_a_number, text_with_a_number, representation, name_with_a_number, hashed,
    kind_of_a_number, kind_by_isinstance, text_elsewhere, same_object, masked_and_text,
    chosen_by_list,
]  # fmt: skip


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("function", DIFFERENT)
def test_code_that_gives_something_else_under_jit_is_not_advised(
    function: Callable[..., Any], jitted: bool
) -> None:
    found = why(jax.jit(function) if jitted else function, X)
    assert found.fixes == ()
    assert found.advice
    assert "✓ traces" not in str(found)


def test_what_is_a_number_to_python_has_to_be_computed_outside_of_jit() -> None:
    assert "outside jit" in why(text_of_a_number, X).advice
    assert "out of jit" in why(chosen_by_list, X).advice


@pytest.mark.parametrize("function", [text_of_a_number, text_with_a_number, hashed])
def test_no_text_of_a_tracer_is_advised_where_there_are_no_values(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        jax.jit(function)(X)
    assert ipyjaxbench.explain(caught.value).fixes == ()
    assert why(function, jax.ShapeDtypeStruct((3,), "float32")).fixes == ()


SEEN: list[Any] = []
COUNTS = {"calls": 0}
_DRAWN = N.random.default_rng(1)


@jax.jit
def inner(x: Any) -> Any:
    return x * 2


def changes_things(x: Any) -> Any:
    SEEN.append(x)
    COUNTS["calls"] += 1
    print("computed")
    jax.debug.print("at {}", x)
    jax.debug.callback(SEEN.append, x)
    return inner(x) * _DRAWN.random() if x.sum() > 0 else -x


def test_computing_under_jit_leaves_nothing_behind(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    inner(X)
    SEEN.clear()
    drawn = _DRAWN.bit_generator.state
    compiled = inner._cache_size()
    checked = jax.config.jax_disable_jit, jax.config.jax_log_compiles
    with caplog.at_level(logging.WARNING), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert why(changes_things, X).fixes[0].same
    jax.effects_barrier()
    assert (SEEN, COUNTS) == ([], {"calls": 0})
    assert _DRAWN.bit_generator.state == drawn
    assert inner._cache_size() == compiled
    assert (jax.config.jax_disable_jit, jax.config.jax_log_compiles) == checked
    assert capfd.readouterr().out == ""
    assert caplog.records == []


def of_a_name_given_up(x: Any) -> Any:
    n = float(x[0])
    return x * n + len(str(N.float32))


def turned(x: Any, n: Any = None) -> Any:
    if n is None and x.sum() > 0:
        x = J.sin(x) * 3
    return x * 7


@pytest.mark.parametrize("function", [text_of_a_number, of_a_name_given_up])
def test_looking_for_what_to_write_warns_of_nothing(function: Callable[..., Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        why(function, X)


def test_nothing_is_written_to_the_disk_cache(tmp_path: Any) -> None:
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = {name: getattr(jax.config, name) for name in names}
    compilation_cache.reset_cache()  # that there is none was decided when it was first asked for
    jax.config.update(names[0], str(tmp_path))
    jax.config.update(names[1], 0.0)
    jax.clear_caches()  # or what compares may have been compiled by a test before
    try:
        assert why(turned, X).fixes[0].same
        assert not [*tmp_path.iterdir()]
        jax.jit(turned, static_argnames="n")(X, 1)
        assert [*tmp_path.iterdir()]
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
