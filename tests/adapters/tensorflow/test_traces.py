"""What TensorFlow does in each call: verdicts and reasons that are known to be right."""

import functools
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import transform

from ipyjaxbench.adapters.tensorflow import compile_events
from ipyjaxbench.adapters.tensorflow.retracing import cache_lookup, call_watch
from ipyjaxbench.retracing import trace_log
from ipyjaxbench.retracing.observe import keep_learning, observe_code
from ipyjaxbench.retracing.options import TraceOptions
from ipyjaxbench.retracing.predict import predict_code
from ipyjaxbench.retracing.signatures import Signatures
from ipyjaxbench.usercode.snippet import Source
from tests.traced import Provoked, judged, observed

HEAD = "f(X); "
EAGERLY = "tf.config.run_functions_eagerly(True)\ntry:\n    {}\nfinally:\n"
EAGERLY += "    tf.config.run_functions_eagerly(False)"
CASES = (
    # call forms
    Provoked("f(X)", "TRACED", "first", "first call"),
    Provoked(HEAD + "f(2 * X)", "CACHED"),
    Provoked("for n in (3, 3, 4):\n    f(tf.ones(n))", "TRACED", "shape", "x: f32[3] → f32[4]"),
    Provoked(HEAD + "f(x=X)", "CACHED"),
    Provoked("f(X, 1.0); f(X)", "CACHED"),
    Provoked("rest(X); rest(X, X)", "TRACED", "structure", "xs[1] was added"),
    Provoked("named(a=X); named(b=X)", "TRACED", "form", "b was omitted, is now passed by keyword"),
    Provoked("h = functools.partial(f, s=2.0); h(X); h(tf.ones(4))", "TRACED", "shape", "f32[3]"),
    Provoked("outer(X); outer(tf.ones(4))", "TRACED", "shape", "x: f32[3] → f32[4]"),
    Provoked("f.get_concrete_function(tf.TensorSpec([7])); f(tf.ones(7))", "CACHED"),
    Provoked("f.get_concrete_function(tf.TensorSpec([7])); f(X)", "TRACED", "shape", "f32[7]"),
    Provoked("f.get_concrete_function(X)(X)", "CACHED"),
    # arguments
    Provoked(HEAD + "f(tf.ones(3, 'int32'), 1)", "TRACED", "dtype", "x: f32[3] → i32[3]"),
    Provoked(HEAD + "f(X, 1); f(X, True)", "CACHED"),
    Provoked("f(X, 1); f(tf.ones(4), 1.0)", "TRACED", "shape", "x: f32[3] → f32[4]"),
    Provoked("f(X, 2.0); f(X, tf.constant(2.0))", "TRACED", "type", "s: 2.0 → f32[]"),
    Provoked("f(X, tf.constant(2.0)); f(X, tf.constant(3.0))", "CACHED"),
    Provoked("chosen(X, 'relu'); chosen(X, 'tanh')", "TRACED", "static value", "'relu' → 'tanh'"),
    Provoked(HEAD + "f(np.ones(3))", "TRACED", "dtype", "x: f32[3] → f64[3]"),
    Provoked("tree({'a': X, 'b': X}); tree({'a': X})", "TRACED", "structure", "d['b'] was removed"),
    Provoked("tree({'a': (X, 1)}); tree({'a': (X, 2)})", "TRACED", "static value", "d['a'][1]: 1"),
    Provoked("applied(X, tf.sin); applied(X, tf.cos)", "TRACED", "static value", "sin → cos"),
    Provoked("applied(X, lambda v: v); applied(X, lambda v: v)", "TRACED", "static value",
             "another"),
    Provoked(HEAD + "f(tf.Variable(X))", "TRACED", "type", "x: f32[3] → variable f32[3]"),
    Provoked("f(tf.Variable(1.0)); f(tf.Variable(2.0))", "CACHED"),
    Provoked("v = tf.Variable(1.0); w = tf.Variable(1.0); f(v, v); f(v, w)", "TRACED",
             "static value", "s: the same variable as x → a variable of its own"),
    Provoked("first(tf.ragged.constant([[1.0]])); first(tf.ragged.constant([[[1.0]]]))", "TRACED",
             "static value", "RaggedTensorSpec"),
    # options of the function
    Provoked("relaxed(X); relaxed(tf.ones(4)); relaxed(tf.ones(5))", "CACHED"),
    Provoked("declared(X); declared(tf.ones(4))", "CACHED"),
    # variables that a function captures, or makes
    Provoked("captured(X); V.assign(3.0); captured(X)", "CACHED"),
    # function objects
    Provoked("for _ in range(2):\n    tf.function(lambda x: x + 1)(X)", "TRACED", "function",
             "same code"),
    Provoked("@tf.function\ndef g(x):\n    return x * 3\ng(X)\n@tf.function\ndef g(x):\n"
             "    return x * x - 4\ng(X)", "TRACED", "first", "after redefinition"),
    Provoked("a = M(); b = M(); a.step(X); b.step(X)", "TRACED", "static value",
             "self: M → another M"),
    Provoked("m = Lazy(); m(X); m(tf.ones(4))", "TRACED", "shape", "x: f32[3] → f32[4]"),
    # what surrounds a call
    Provoked(HEAD + "\nwith tf.device('/CPU:0'):\n    f(X)", "CACHED"),
    Provoked(HEAD + "\nwith tf.distribute.OneDeviceStrategy('/cpu:0').scope():\n    f(X)", "TRACED",
             "setting", "tf.distribute context: none → cross-replica"),
    Provoked(EAGERLY.format("f(X)"), "BYPASSED"),
    Provoked("try:\n    f(X, 'text')\nexcept Exception: pass", "RAISED"),
    # Keras
    Provoked("k.fit(A, B, verbose=0); k.fit(A, B, epochs=2, verbose=0)", "CACHED"),
    Provoked("k.fit(A, B, verbose=0); k.fit(A, B, sample_weight=np.ones(8), verbose=0)", "TRACED",
             "type", "sample_weight: None → f64[8]"),
    Provoked("k.fit(A, B, verbose=0); k.compile('sgd', 'mse'); k.fit(A, B, verbose=0)", "TRACED",
             "function", "same code"),
    Provoked("k.train_on_batch(A, B); k.train_on_batch(A[:4], B[:4])", "TRACED", "shape",
             "x: f32[8,2] → f32[4,2]"),
    Provoked("for n in (8, 4, 2):\n    k.train_on_batch(A[:n], B[:n])", "CACHED"),
    Provoked("k.predict(A, verbose=0); k.predict(A[:5], verbose=0)", "TRACED", "shape",
             "x: f32[8,2] → f32[5,2]"),
    Provoked("k.compile('sgd', 'mse', run_eagerly=True); k.fit(A, B, verbose=0)", "BYPASSED"),
    Provoked("k.compile('sgd', 'mse', jit_compile=True)\n"
             "k.train_on_batch(A, B); k.train_on_batch(A, B)", "?"),
    Provoked("layer(X); layer(tf.ones(4))", "TRACED", "shape", "x: f32[3] → f32[4]"),
)  # fmt: skip
_MOST_UNKNOWN = 1


class M(tf.Module):
    @tf.function
    def step(self, x: Any, n: int = 1) -> Any:
        return x * n


class Lazy(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.v: Any = None

    @tf.function
    def __call__(self, x: Any) -> Any:
        if self.v is None:
            self.v = tf.Variable(2.0)
        return x * self.v


class Layer(keras.layers.Layer):
    @tf.function
    def call(self, x: Any) -> Any:
        return x * 2


def start() -> dict[str, Any]:
    """Functions that were never traced."""
    V = tf.Variable(2.0)

    @tf.function
    def f(x: Any, s: Any = 1.0) -> Any:
        return x * s

    def outer(x: Any) -> Any:
        return f(x)

    k = keras.Sequential([keras.layers.Dense(3)])
    k.compile("sgd", "mse")
    specs = [tf.TensorSpec([None], tf.float32)]
    return {
        "tf": tf, "np": np, "functools": functools, "X": tf.ones(3), "V": V, "f": f, "M": M,
        "Lazy": Lazy, "outer": outer, "k": k, "layer": Layer(),
        "A": np.ones((8, 2), "float32"), "B": np.ones((8, 3), "float32"),
        "rest": tf.function(lambda *xs: xs[0]),
        "named": tf.function(lambda **xs: next(iter(xs.values()))),
        "chosen": tf.function(lambda x, mode: x if mode == "relu" else -x),
        "tree": tf.function(lambda d: d["a"]),
        "first": tf.function(lambda x: x[0]),
        "applied": tf.function(lambda x, g: g(x)),
        "relaxed": tf.function(lambda x: x * 2, reduce_retracing=True),
        "declared": tf.function(lambda x: x * 2, input_signature=specs),
        "jitted": tf.function(lambda x: x * 2, jit_compile=True),
        "both": tf.function(lambda x: x * 2, jit_compile=True, input_signature=specs),
        "captured": tf.function(lambda x: x * V),
    }  # fmt: skip


def fresh() -> dict[str, Any]:
    """The names of a case, and nothing seen of functions with the same names before."""
    trace_log.TRACE_LOG.clear()
    return start()


@contextmanager
def logged() -> Iterator[list[str]]:
    """What TensorFlow warns of meanwhile."""
    found: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    tf.get_logger().addHandler(handler)
    try:
        yield found
    finally:
        tf.get_logger().removeHandler(handler)


def test_verdicts_and_reasons_are_right() -> None:
    verdicts, reasons, unknown = judged(CASES, fresh)
    print(f"TensorFlow: {len(CASES)} cases, {len(verdicts)} wrong verdicts, {len(reasons)} wrong"
          f" reasons, {unknown} reasons not known")  # fmt: skip
    assert verdicts == []
    assert reasons == []
    assert unknown <= _MOST_UNKNOWN


def test_what_is_printed_while_tracing_stands_with_the_call() -> None:
    names = fresh()
    exec("@tf.function\ndef g(x):\n  print('Running g()')\n  return x", names)
    found, error = observe_code(Source.plain("g(X)"), names, TraceOptions(), twice=True)
    assert error is None
    assert [(call.state, call.printed) for call in found.calls] == [
        ("TRACED", "Running g()\n"), ("CACHED", ""),
    ]  # fmt: skip
    assert [*found.calls[0].phases] == ["trace"]
    assert found.calls[0].phases["trace"] > 0


def test_where_xla_may_have_compiled_without_a_trace_that_is_said() -> None:
    found = observed("both(X)\nboth(tf.ones(4))", fresh())
    assert [call.state for call in found.calls] == ["TRACED", "?"]
    assert "XLA compiles each new shape" in " ".join(str(found).split())


def test_nested_functions_stand_under_the_call_that_traced_them_the_outermost_first() -> None:
    names = fresh()
    exec("@tf.function\ndef deep(x): return tf.abs(x)\n"
         "@tf.function\ndef inner(x): return deep(x) + deep(x)\n"
         "@tf.function\ndef last(x): return x\n"
         "@tf.function\ndef whole(x): return inner(x) - last(x)", names)  # fmt: skip
    first, second = observed("whole(X)\ninner(X)", names).calls
    assert first.nested == ((1, "inner"), (2, "deep"), (1, "last"))
    assert (second.state, second.nested) == ("CACHED", ())


def test_of_a_model_the_compiled_functions_are_named_and_those_for_its_data_are_not() -> None:
    (call,) = observed("k.fit(A, B, verbose=0)", fresh()).calls
    assert call.name == "Sequential.fit"
    names = [name for _, name in call.nested]
    # Newer versions of Keras have no function around the step where it makes one at a time.
    assert names in (["multi_step_on_iterator", "one_step_on_data"], ["one_step_on_data"])


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("f(X); f(X, 2.0)", "Pass `s` as a tensor (`tf.constant(...)`)"),
        ("f(X); f(tf.ones(4))", "Use `@tf.function(reduce_retracing=True)`, or"),
        ("jitted(X); jitted(tf.ones(4))", "pad `x` to a fixed multiple"),
        ("k.train_on_batch(A, B); k.compile('sgd', 'mse'); k.train_on_batch(A, B)",
         "Call compile() on the model once"),
        ("relaxed(X); relaxed(tf.ones(4))", ""),
        ("k.train_on_batch(A, B); k.train_on_batch(A[1:], B[1:])", ""),
    ],
)  # fmt: skip
def test_it_says_what_to_write_where_something_is(code: str, fix: str) -> None:
    *_, last = observed(code, fresh()).calls
    assert last.state == "TRACED"
    assert len(last.fixes) == bool(fix)
    assert fix in "".join(last.fixes)


def test_nothing_of_the_users_is_left_changed() -> None:
    names, alone = fresh(), start()
    function, logger = names["outer"], tf.get_logger()

    def state() -> tuple[object, ...]:
        return (function.__code__, type(names["f"]).__call__,
                [*transform.CONCRETE_FUNCTION_CALLBACKS], logger.level, [*logger.handlers],
                [*logger.filters], logger.propagate,
                tf.config.functions_run_eagerly())  # fmt: skip

    keep_learning()  # we listen to traces from the first look on
    before, known = state(), set(names)
    code = "for n in (3, 4, 4):\n    y = outer(tf.ones(n))"
    observed(code, names)
    exec(code, alone)
    assert state() == before
    assert set(names) - known <= {"y", "n", "__builtins__"}
    counts = [each["f"].experimental_get_tracing_count() for each in (names, alone)]
    assert counts == [2, 2]


def test_tensorflow_warns_of_many_traces_as_it_does_without_us() -> None:
    code = "@tf.function\ndef {0}(x):\n    return x\nfor n in range(1, 8):\n    {0}(tf.ones(n))"
    with logged() as without:
        exec(code.format("without"), fresh())
    with logged() as within:
        found = observed(code.format("within"), fresh())
    assert found.traces == 7
    # Where warnings are errors, AutoGraph warns too on Python 3.13, of its own use of `ast`.
    without, within = (
        [line for line in told if "triggered tf.function retracing" in line]
        for told in (without, within)
    )
    assert len(without) == len(within) > 0
    assert "triggered tf.function retracing" not in str(found)


def test_an_error_while_tracing_is_the_users_own() -> None:
    names = fresh()
    exec("@tf.function\ndef wrong(x): raise KeyError('mine')", names)
    found, error = observe_code(Source.plain("wrong(X)"), names, TraceOptions())
    assert "mine" in str(error)
    assert isinstance(error, KeyError)
    assert [call.state for call in found.calls] == ["RAISED"]


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("f(Y)", "WOULD-HIT"), ("f(s=1.0, x=X)", "WOULD-HIT"), ("f(four)", "WOULD-TRACE"),
        ("f(X, 2.0)", "WOULD-TRACE"), ("chosen(X, 'relu')", "WOULD-TRACE"),
        ("relaxed(long)", "WOULD-HIT"), ("relaxed(square)", "WOULD-TRACE"),
        ("declared(long)", "WOULD-HIT"), ("lazy(Y)", "WOULD-HIT"), ("f(tf.ones(4))", "?"),
        ("m.step(X)", "WOULD-TRACE"), ("f(X, no=1)", "?"), ("k.fit(A, B)", "?"),
    ],
)  # fmt: skip
def test_a_call_is_predicted_without_being_run(code: str, state: str) -> None:
    names = fresh()
    exec("lazy = Lazy(); lazy(X); f(X); relaxed(X); relaxed(tf.ones(4)); declared(X)", names)
    exec("m, Y, four, long, square = M(), 2 * X, tf.ones(4), tf.ones(77), tf.ones((7, 7))", names)
    functions = [names[name] for name in ("f", "relaxed", "declared", "chosen")]
    before = [function.experimental_get_tracing_count() for function in functions]
    assert [call.state for call in predict_code(Source.plain(code), names).calls] == [state]
    assert before == [function.experimental_get_tracing_count() for function in functions]


def test_what_is_traced_between_is_learned_and_known_later() -> None:
    names = fresh()
    keep_learning()
    names["f"](tf.ones(5))
    names["f"](x=tf.ones(5), s=1.0)
    (call,) = observed("f(tf.ones(6))", names).calls
    assert [change.words() for change in call.why] == ["x: f32[5] → f32[6] (shape)"]
    shown = Signatures.from_log(trace_log.TRACE_LOG, "f")
    assert [each.arguments for each in shown.traced] == ["x f32[5], s 1.0", "x f32[6], s 1.0"]


def test_traces_for_a_pipeline_of_data_stand_beside_the_calls() -> None:
    found = observed("f(X)\nd = tf.data.Dataset.range(3).map(lambda v: v + 1)", fresh())
    assert [call.name for call in found.calls] == ["f"]
    assert [program.name for program in found.internal] == ["Dataset_map_lambda"]
    told = " ".join(str(found).split())
    assert "also compiled 1 program outside these calls: Dataset_map_lambda" in told


def test_calls_of_other_threads_do_not_count_for_this_one() -> None:
    names = fresh()
    names["threading"] = threading
    exec("@tf.function\ndef g(x): return x", names)
    code = "t = threading.Thread(target=lambda: g(X))\nf(X)\nt.start(); t.join()\nf(X)"
    mine = [call for call in observed(code, names).calls if call.line in (2, 4)]
    assert [(call.state, call.nested) for call in mine] == [("TRACED", ()), ("CACHED", ())]


def test_the_time_of_a_trace_is_not_told_where_another_thread_traced_meanwhile() -> None:
    names = fresh()
    names |= {"threading": threading, "one": tf.ones(1)}
    exec("@tf.function\ndef beside(x): return x\n"
         "@tf.autograph.experimental.do_not_convert\ndef meanwhile(x):\n"
         "    t = threading.Thread(target=beside, args=(one,))\n    t.start(); t.join()\n"
         "    return x\n"
         "waiting = tf.function(meanwhile)", names)  # fmt: skip
    (call,) = (call for call in observed("waiting(X)", names).calls if call.name == "meanwhile")
    assert (call.state, call.phases, call.nested) == ("TRACED", {}, ())


def test_a_concrete_function_has_the_name_of_its_graph() -> None:
    *_, last = observed("f.get_concrete_function(X)(X)", fresh()).calls
    assert last.name == "f"


def test_where_tensorflow_tells_less_the_verdicts_stay_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compile_events, "_listeners", lambda: None)
    monkeypatch.setattr(call_watch, "tracing_seconds", lambda: None)
    monkeypatch.setattr(cache_lookup, "_look_up", lambda function, *_: function.gone)
    names = fresh()
    found = observed("f(X)\nf(X)\nf(tf.ones(4))\nk.fit(A, B, verbose=0)", names)
    assert [call.state for call in found.calls] == ["TRACED", "CACHED", "TRACED"]
    assert [call.phases for call in found.calls] == [{}, {}, {}]
    assert predict_code(Source.plain("f(X)"), names).calls[0].state == "?"


def test_a_model_whose_traces_are_told_in_another_way_has_no_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep_learning()  # the listener is imported with what it needs, not with what is patched here
    monkeypatch.setattr(compile_events, "tracings", lambda _: [].pop())
    found = observed("k.fit(A, B, verbose=0)\nf(X)\nf(X)", fresh())
    assert [call.state for call in found.calls] == ["?", "TRACED", "CACHED"]


def test_tensorflows_own_warning_is_known_and_no_print_of_the_users() -> None:
    names = {**fresh(), "warned": tf.function(eval("lambda x, n: x * n"))}  # it warns twice a code
    with logged() as found:
        observed("for n in range(8):\n    warned(X, n)", names)
    (part,) = call_watch.TensorFlowCallWatch.messages
    assert any(part in text for text in found)
