"""What JAX does in each call and in blocks: verdicts and reasons that are known to be right."""

import functools
import logging
from contextlib import suppress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import Primitive

import ipyjaxbench
from ipyjaxbench import TooManyTracesError
from ipyjaxbench.frameworks.compilation import UNNAMED
from ipyjaxbench.retracing.observe import keep_learning, observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.predict import predict_code
from ipyjaxbench.retracing.signatures import Signatures
from ipyjaxbench.retracing.trace_log import TRACE_LOG, TraceLog
from ipyjaxbench.usercode.snippet import Source
from tests.traced import Provoked, judged, observed

#: Of other forms than the cells in `test_typed`.
CASES = (
    Provoked("[f(jnp.ones(n)) for n in (3, 4)]", "TRACED", "shape", "x: f32[3] → f32[4]"),
    Provoked("for n in (3, 3, 4):\n    f(jnp.ones(n))", "TRACED", "shape", "x: f32[3] → f32[4]"),
    Provoked("m.step(jnp.ones(3)); m.step(jnp.ones(4))", "TRACED", "shape", "x: f32[3] → f32[4]"),
    Provoked("m.method(jnp.ones(3), 2); m.method(jnp.ones(3), 3)", "TRACED", "static value",
             "n: 2 → 3"),
    Provoked("h = functools.partial(f, s=2.0); h(jnp.ones(3)); h(jnp.ones(4))", "TRACED", "shape",
             "x: f32[3] → f32[4]"),
    Provoked("(lambda v: f(v))(jnp.ones(3)); f(jnp.ones(4))", "TRACED", "shape", "f32[3] → f32[4]"),
    Provoked("def inside(v):\n    return f(v)\ninside(jnp.ones(3))\ninside(jnp.ones(4))", "TRACED",
             "shape", "x: f32[3] → f32[4]"),
    Provoked("f(jnp.ones(3)); list(map(lambda v: outer(v), [jnp.ones(4)]))", "TRACED", "shape",
             "x: f32[3] → f32[4]"),
    Provoked("f(jnp.ones(3)); list(map(lambda v: outer(v), [jnp.ones(3)]))", "CACHED"),
    Provoked("@functools.wraps(f)\ndef around(v):\n    return f(v)\naround(jnp.ones(3))\n"
             "around(jnp.ones(4))", "TRACED", "shape", "x: f32[3] → f32[4]"),
    Provoked("tree({'a': X}); tree({'a': X, 'c': X})", "TRACED", "structure", "d['c'] was added"),
    Provoked("tree({'a': X, 'b': None}); tree({'a': X, 'b': X})", "TRACED", "type", "d['b']: None"),
    Provoked("applied(X, lambda v: v); applied(X, lambda v: v)", "TRACED", "static value",
             "another"),
    Provoked("for _ in range(2):\n    Model().method(X, 2)", "TRACED", "static value",
             "self: Model object → another Model object"),
    Provoked("for _ in range(2):\n    jax.jit(functools.partial(plain, 2.0))(X)", "TRACED",
             "function", "same code"),
    Provoked("for _ in range(2):\n    @jax.jit\n    def again(x):\n        return x * 3\n"
             "    again(X)", "TRACED", "function", "same code"),
    Provoked("f(jnp.ones(3)); f(jnp.ones(4)); f.clear_cache(); f(jnp.ones(3))", "TRACED", "first",
             "same signature as an earlier call"),
    Provoked("f(1.0); f(jnp.asarray(1.0))", "SLOW-PATH", "scalar", "x: float → f32[] weak"),
    Provoked("f(jnp.ones(3)); f'{f(jnp.ones(4))}'", "TRACED", "shape", "x: f32[3] → f32[4]"),
    Provoked("f(jnp.ones(3)); list(map(f, [jnp.ones(4)]))", "TRACED", "shape", "f32[3] → f32[4]"),
    Provoked("try:\n    masked(X)\nexcept Exception: pass", "RAISED"),
)  # fmt: skip
#: Called by what a transformation runs; before JAX 0.4.36 it does not say so.
UNDER_TRANSFORMATIONS = (
    Provoked("f(X); f(np.ones((4, 4), 'float32'), 2); jax.grad(lambda v: f(v).sum())(X)",
             "RECOMPILED", "transformation", "was called directly, is now called under grad"),
    Provoked("f(X[0]); jax.vmap(lambda v: f(v))(X)", "RECOMPILED", "transformation",
             "was called directly, is now called under vmap over 4"),
    Provoked("f(X[0]); jax.jvp(lambda v: f(v), (X[0],), (X[0],))", "RECOMPILED",
             "transformation", "was called directly, is now called under jvp"),
    Provoked("f(X); jax.grad(lambda v: (f(X) * v).sum())(X)", "SLOW-PATH", "transformation",
             "was called directly, is now called under grad"),
)  # fmt: skip


def start() -> dict[str, Any]:
    """Functions that were never traced."""

    @functools.partial(jax.jit)
    def f(x: Any, s: Any = 1.0) -> Any:
        return x * s

    class Model:
        def __init__(self) -> None:
            self.step = f

        @functools.partial(jax.jit, static_argnums=(0, 2))
        def method(self, x: Any, n: int) -> Any:
            return x * n

    def outer(x: Any) -> Any:
        return f(x)

    def plain(s: Any, x: Any) -> Any:
        return x * s

    return {
        "jax": jax, "jnp": jnp, "np": np, "functools": functools, "f": f, "m": Model(),
        "Model": Model, "outer": outer, "plain": plain, "X": jnp.ones((4, 4)),
        "tree": jax.jit(lambda d: d["a"] * 2),
        "applied": jax.jit(lambda x, g: g(x), static_argnums=1),
        "masked": jax.jit(lambda x: x[x > 0]),
    }  # fmt: skip


def fresh() -> dict[str, Any]:
    """The names of a case, and nothing seen of functions with the same names before."""
    from ipyjaxbench.retracing import trace_log

    trace_log.TRACE_LOG.clear()
    return start()


def test_verdicts_and_reasons_are_right() -> None:
    assert judged(CASES, fresh) == ([], [], 0)


@pytest.mark.skipif(jax.__version_info__ < (0, 4, 36), reason="this version does not say so")
def test_calls_within_transformations_are_told_so() -> None:
    assert judged(UNDER_TRANSFORMATIONS, fresh) == ([], [], 0)


def test_nested_functions_and_eager_operations_stand_beside_calls_whose_costs_are_parts() -> None:
    names = fresh()
    exec(
        "deep = jax.jit(lambda x: x + 1); deep.__wrapped__.__name__ = 'deep'\n"
        "@jax.jit\ndef inner(x): return deep(x) * 2\n"
        "@jax.jit\ndef whole(x): return inner(x) - 1",
        names,
    )
    (call,) = observed("whole(X)", names).calls
    assert call.nested[0] == (1, "inner")
    (call,) = observed("f(X)", fresh()).calls
    assert list(call.phases) == ["trace", "lower", "compile"]
    assert 0 < sum(call.phases.values()) < call.seconds
    jax.clear_caches()
    found = observed("x = jnp.ones(77) * 3.5\nf(x)", fresh())
    names = {program.name for program in found.internal}
    assert names & {"broadcast_in_dim", "multiply", UNNAMED}
    assert "f" not in {program.name for program in found.internal}


def test_nothing_of_the_users_is_left_changed() -> None:
    names = fresh()
    function, logger = names["outer"], logging.getLogger("jax._src.pjit")
    before = (function.__code__, logger.level, logger.propagate, [*logger.handlers],
              jax.config.jax_explain_cache_misses)  # fmt: skip
    known = set(names)
    observed("y = outer(X)", names)
    assert before == (function.__code__, logger.level, logger.propagate, [*logger.handlers],
                      jax.config.jax_explain_cache_misses)  # fmt: skip
    assert set(names) - known <= {"y", "__builtins__"}
    size = names["f"]._cache_size()
    observed("outer(X)", names)
    assert names["f"]._cache_size() == size


class Strange:
    def __init__(self, runs: list[int]) -> None:
        self.runs = runs

    def __getitem__(self, key: int) -> Any:
        self.runs.append(key)

    @property
    def computed(self) -> Any:
        self.runs.append(0)


@pytest.mark.parametrize(
    ("code", "states"),
    [("counted(Y)", ["WOULD-HIT"]),
     ("counted(short); counted(short)", ["WOULD-TRACE", "WOULD-HIT"]),
     ("counted(batch['x'][0]).sum()", ["WOULD-HIT"]), ("counted(x=X)", ["WOULD-TRACE"]),
     ("counted(-1.5 * 2)", ["WOULD-TRACE"]), ("Steps.step(Y)", ["WOULD-HIT"]),
     ("counted(X * 2)", ["?"]), ("counted(counted(X))", ["WOULD-HIT", "?"]),
     ("counted(strange.computed)", ["?"]), ("counted(strange[0])", ["?"])],
)  # fmt: skip
def test_a_call_is_predicted_without_being_run(code: str, states: list[str]) -> None:
    names, runs = fresh(), []
    counted = jax.jit(lambda x: (runs.append(1), x)[1])
    counted(names["X"])
    names |= {"counted": counted, "Y": 2 * names["X"], "short": names["X"][:2],
              "batch": {"x": [names["X"]]}, "strange": Strange(runs),
              "Steps": type("Steps", (), {"step": staticmethod(counted)})}  # fmt: skip
    found = predict_code(Source.plain(code), names)
    assert [each.state for each in found.calls] == states
    assert "nothing was run" in str(found)
    assert runs == [1]


def test_what_is_traced_between_is_learned_and_known_later() -> None:
    log = TraceLog()
    names = fresh()
    keep_learning()
    names["f"](jnp.ones(5))
    (call,) = observed("f(jnp.ones(6))", names).calls
    assert [change.words() for change in call.why] == ["x: f32[5] → f32[6] (shape)"]
    shown = Signatures.from_log(TRACE_LOG, "f")
    assert [each.arguments for each in shown.traced] == ["x f32[5]", "x f32[6]"]
    assert Signatures.from_dict(shown.to_dict()) == shown
    assert log.functions() == []


def test_a_function_that_was_traced_unseen_is_not_said_to_be_called_first() -> None:
    names = fresh()
    with TRACE_LOG.paused():
        names["f"](jnp.ones(5))
    (call,) = observed("f(jnp.ones(6))", names).calls
    (change,) = call.why
    assert change.words() in (
        "jax: at x, now f32[6] and before f32[5]",
        "reason unknown (earlier traces were not observed)",  # before JAX 0.6
    )


def test_what_is_printed_is_printed_and_only_what_tracing_printed_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = fresh()
    exec(
        "@jax.jit\ndef g(x):\n    print('tracing')\n    jax.debug.print('runtime {}', x)\n"
        "    return x",
        names,
    )
    found = observed("print('before'); g(1.0); g(2.0)", names)
    assert capsys.readouterr().out == "before\ntracing\nruntime 1.0\nruntime 2.0\n"
    assert [call.printed for call in found.calls] == ["tracing\n", ""]


def test_a_function_that_donates_is_called_again_with_a_copy() -> None:
    donating = jax.jit(lambda x: x + 1, donate_argnums=0)
    names = {"f": donating, "z": jnp.ones(4), "w": jnp.asarray(2.0)}
    given = dict(names)
    for name in ("z", "w"):
        found, error = observe_code(Source.plain(f"f({name})"), names, TraceOptions(), twice=True)
        assert error is None
        assert [call.state for call in found.calls] == ["TRACED", "CACHED"]
        assert names[name] is given[name]
        assert given[name].is_deleted()


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
