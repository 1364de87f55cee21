"""Traces in a block of code, functions that may be traced so often, and the fixture for tests."""

from contextlib import suppress

import jax
import jax.numpy as jnp
import pytest
from jax.extend.core import Primitive

import ipyjaxbench
from ipyjaxbench import TooManyTracesError
from ipyjaxbench.retracing.observe import keep_learning


def test_a_block_tells_what_was_traced_in_it_and_why() -> None:
    keep_learning()
    step = jax.jit(lambda x: x * 2)
    step(jnp.ones(2))
    with ipyjaxbench.trace_cached() as seen:
        step(jnp.ones(2))
        step(jnp.ones(3))
    (call,) = seen.traces.calls
    assert call.text == "step(jnp.ones(3))"
    assert [change.words() for change in call.why] == ["x: f32[2] → f32[3] (shape)"]
    assert set(call.phases) == {"trace", "lower", "compile"}


def test_calls_are_told_after_one_that_was_traced_and_did_not_compile() -> None:
    unknown = Primitive("unknown")
    unknown.def_abstract_eval(lambda x: x)
    fails, step = jax.jit(lambda x: unknown.bind(x) + 1), jax.jit(lambda x: x - 3)
    x, names = jnp.ones(2), []
    for function in (fails, step):
        with suppress(NotImplementedError), ipyjaxbench.trace_cached() as seen:
            function(x)
        names += [call.name for call in seen.traces.calls]
    assert names == ["<lambda>", "<lambda>"]


def test_a_plain_function_fails_when_it_is_traced_once_too_often() -> None:
    runs: list[int] = []

    def step(x: jax.Array) -> jax.Array:
        runs.append(1)
        return x * 2

    jitted = jax.jit(ipyjaxbench.assert_max_traces(step, 1))
    jitted(jnp.ones(2))
    jitted(jnp.ones(2))
    with pytest.raises(TooManyTracesError, match=r"`step` was traced 2 times, limit 1\."):
        jitted(jnp.ones(3))
    assert len(runs) == 1
    plain = ipyjaxbench.assert_max_traces(step, 0)
    plain(jnp.ones(4))
    assert len(runs) == 2
