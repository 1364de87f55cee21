"""What JAX does in each call and in blocks: verdicts and reasons that are known to be right."""

import functools
from contextlib import suppress
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.extend.core import Primitive

import ipyjaxbench
from ipyjaxbench import TooManyTracesError
from ipyjaxbench.frameworks.compilation import UNNAMED
from ipyjaxbench.retracing.cache_key import describe_changes
from ipyjaxbench.retracing.observe import keep_learning
from ipyjaxbench.retracing.predict import predict_code
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.usercode.snippet import Source
from tests.traced import Provoked, judged, observed

#: Of other forms than the cells in `test_typed` and the ways in `test_ways_to_call`.
CASES = (
    Provoked("tree({'a': X, 'b': None}); tree({'a': X, 'b': X})", "TRACED", "type", "d['b']: None"),
    Provoked("applied(X, lambda v: v); applied(X, lambda v: v)", "TRACED", "static value",
             "another"),
    Provoked("for _ in range(2):\n    Model().method(X, 2)", "TRACED", "static value",
             "self: Model object → another Model object"),
    Provoked("f(1.0); f(jnp.asarray(1.0))", "SLOW-PATH", "scalar", "x: float → f32[] weak"),
    Provoked("jax.jit(model.plain)(X); jax.jit(model.plain)(X)", "TRACED", "function",
             "new function object (same code)"),
    Provoked("f(X); f(X[0]); f(jax.device_put(X, jax.devices()[0]))", "RECOMPILED", "committed",
             "x was uncommitted, is now committed to cpu:0"),
    Provoked("applied(X, Silent()); applied(X, Silent())", "TRACED", "static value", "another"),
    Provoked("try:\n    masked(X)\nexcept Exception: pass", "RAISED"),
)  # fmt: skip
#: Called by what a transformation runs; before JAX 0.4.36 it does not say so.
UNDER_TRANSFORMATIONS = (
    Provoked("f(X[0]); jax.jvp(lambda v: f(v), (X[0],), (X[0],))", "RECOMPILED",
             "transformation", "was called directly, is now called under jvp"),
    Provoked("f(X); jax.grad(lambda v: (f(X) * v).sum())(X)", "SLOW-PATH", "transformation",
             "was called directly, is now called under grad"),
)  # fmt: skip


def fresh() -> dict[str, Any]:
    """Functions that were never traced; nothing is known of others with the same names."""
    TRACE_LOG.clear()

    @functools.partial(jax.jit)
    def f(x: Any, s: Any = 1.0) -> Any:
        return x * s

    class Model:
        @functools.partial(jax.jit, static_argnums=(0, 2))
        def method(self, x: Any, n: int) -> Any:
            return x * n

        def plain(self, x: Any) -> Any:
            return x * 2

    class Silent:
        def __repr__(self) -> str:
            raise ValueError

        def __call__(self, x: Any) -> Any:
            return x

    return {
        "jax": jax, "jnp": jnp, "f": f, "Model": Model, "X": jnp.ones((4, 4)), "model": Model(),
        "Silent": Silent, "suppress": suppress,
        "tree": jax.jit(lambda d: d["a"] * 2),
        "applied": jax.jit(lambda x, g: g(x), static_argnums=1),
        "masked": jax.jit(lambda x: x[x > 0]),
    }  # fmt: skip


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="this version traces for other types")
def test_a_mesh_of_one_device_is_part_of_what_was_committed() -> None:
    mesh = jax.make_mesh((1,), "i")
    names = fresh() | {"there": jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())}
    _, last = observed("f(X); f(jax.device_put(X, there))", names).calls
    told = "x was uncommitted, is now committed to cpu:0 as P() over {'i': 1}"
    assert describe_changes(last.why) == told


def test_verdicts_and_reasons_are_right() -> None:
    assert judged(CASES, fresh) == ([], [], 0)


@pytest.mark.skipif(jax.__version_info__ < (0, 4, 36), reason="this version does not say so")
def test_calls_within_transformations_are_told_so() -> None:
    assert judged(UNDER_TRANSFORMATIONS, fresh) == ([], [], 0)


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="this version does not say so")
@pytest.mark.parametrize(
    ("code", "state", "why", "times"),
    [
        ("step(X)", "TRACED", "first call", 1),
        ("step(X); step(X)", "TRACED", "first call", 1),
        ("f(X); step(X)", "RECOMPILED", "was called directly, is now called under grad", 1),
        ("f(X); step(X[0])", "TRACED", "x: f32[4,4] → f32[4] (rank)", 2),
        # What failed in the same place before is another call.
        ("with suppress(Exception): [*map(masked, [X])]\nstep(X)", "TRACED", "first call", 1),
    ],
)
def test_what_nobody_but_jax_calls_below_a_gradient_is_traced_where_it_is_new(
    code: str, state: str, why: str, times: int
) -> None:
    keep_learning()
    names = fresh()
    traced: list[int] = []
    names["f"] = f = jax.jit(lambda x: (traced.append(1), x * 2)[1])
    names["step"] = jax.value_and_grad(lambda x: f(x).sum())
    *_, last = observed(code, names).calls
    assert (last.state, describe_changes(last.why), len(traced)) == (state, why, times)


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="this version does not say so")
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("donate_argnums=0", "donate_argnums: () → (0,) (option)"),
        ("in_shardings=here", "in_shardings: none → SingleDeviceSharding"),
        ("out_shardings=here", "out_shardings: none → SingleDeviceSharding"),
        ("compiler_options=fast", "compiler_options: {} → {'xla_cpu_enable_fast_math'"),
        ("in_shardings=split",
         "in_shardings: none → P(('a_long_name_of_an_axis', 'b_long_na… (option)"),
        ("out_shardings=split",
         "out_shardings: none → P(('a_long_name_of_an_axis', 'b_long_na… (option)"),
        ("compiler_options=fast | many",
         "compiler_options: {} → {'xla_cpu_enable_fast_math': True, 'xla… (option)"),
        ("inline=True, keep_unused=True", ""),
    ],
)  # fmt: skip
def test_a_function_that_is_jitted_again_is_traced_once_and_compiled_by_its_options(
    options: str, why: str
) -> None:
    names = fresh()
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    exec("def g(x): return x + 3", names)
    mesh = jax.make_mesh((1, 1), ("a_long_name_of_an_axis", "b_long_name"))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(mesh.axis_names))
    names |= {"here": here, "fast": {"xla_cpu_enable_fast_math": True}, "split": split}
    names |= {"many": {"xla_llvm_disable_expensive_passes": True}}
    code = f"jax.jit(g)(X)\nh = jax.jit(g, {options})\nh(X + 0)\nh(X + 0)\njax.jit(g)(X)"
    first, *later = observed(code, names).calls
    states = [call.state for call in later for _ in range(call.times)]
    assert (first.state, states) == (
        "TRACED",
        ["RECOMPILED" if why else "CACHED", "CACHED", "CACHED"],
    )
    assert describe_changes(later[0].why).startswith(why)


def test_nested_functions_and_eager_operations_stand_beside_calls_whose_costs_are_parts() -> None:
    names = fresh()
    exec("@jax.jit\ndef inner(x): return x * 2\n"
         "@jax.jit\ndef whole(x): return inner(x) - 1", names)  # fmt: skip
    jax.clear_caches()
    found = observed("x = jnp.ones(77) * 3.5\nwhole(x)", names)
    (call,) = found.calls
    assert call.nested == ((1, "inner"),)
    assert list(call.phases) == ["trace", "lower", "compile"]
    assert 0 < sum(call.phases.values()) < call.seconds
    internal = {program.name for program in found.internal}
    assert internal & {"broadcast_in_dim", "multiply", UNNAMED}
    assert "whole" not in internal


def test_a_call_is_predicted_without_being_run() -> None:
    names, runs = fresh(), []
    names["counted"] = counted = jax.jit(lambda x: (runs.append(1), x)[1])
    counted(names["X"])
    names["odd"] = type("Odd", (), {"computed": property(lambda _: runs.append(0))})()
    names["model"].method(names["X"], 3)
    code = "counted(X); counted(x=X); counted(counted(X)); counted(odd.computed)"
    found = predict_code(Source.plain(f"{code}; model.method(X, 3); model.method(X, 4)"), names)
    would = ["WOULD-HIT", "WOULD-TRACE", "WOULD-HIT", *"??", "WOULD-HIT", "WOULD-TRACE"]
    assert [call.state for call in found.calls] == would
    assert runs == [1]


def test_a_function_that_was_traced_unseen_is_not_said_to_be_called_first() -> None:
    names = fresh()
    with TRACE_LOG.paused():
        names["f"](jnp.ones(5))
    (call,) = observed("f(jnp.ones(6))", names).calls
    (change,) = call.why
    assert change.words() in (
        "x: f32[5] → f32[6] (shape)",
        "jax: at x, now f32[6] and before f32[5]",  # before JAX 0.10
        "jax: at x, seen f32[5], but now given f32[6]",  # before JAX 0.6
    )


def test_a_block_tells_what_was_traced_in_it_and_functions_may_refuse_it() -> None:
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
    limited = jax.jit(ipyjaxbench.assert_max_traces(lambda x: x * 2, 1))
    for _ in range(2):
        limited(jnp.ones(2))
    with pytest.raises(TooManyTracesError, match=r"`<lambda>` was traced 2 times, limit 1\."):
        limited(jnp.ones(3))
    ipyjaxbench.assert_max_traces(lambda x: x * 2, 0)(jnp.ones(4))  # called as it is
    if jax.__version_info__ >= (0, 4, 36):  # which tells that it traces where no argument does
        limited = jax.jit(ipyjaxbench.assert_max_traces(lambda n: n * 2, 1), static_argnums=0)
        assert [limited(1), limited(1)] == [2, 2]
        with pytest.raises(TooManyTracesError, match="traced 2 times"):
            limited(2)


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
