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
from ipyjaxbench.retracing.cache_key import describe_changes
from ipyjaxbench.retracing.observe import keep_learning
from ipyjaxbench.retracing.predict import predict_code
from ipyjaxbench.retracing.signatures import Signatures
from ipyjaxbench.usercode.snippet import Source
from tests.traced import Provoked, judged, observed

HEAD = "f(X); "
EAGERLY = "tf.config.run_functions_eagerly(True)\ntry:\n    {}\nfinally:\n"
EAGERLY += "    tf.config.run_functions_eagerly(False)"
CASES = (
    Provoked("f(X)", "TRACED", "first", "first call"),
    Provoked(HEAD + "f(2 * X)", "CACHED"),
    Provoked("f(X, 1.0); f(X)", "CACHED"),
    Provoked("rest(X); rest(X, X)", "TRACED", "structure", "xs[1] was added"),
    Provoked("named(a=X); named(b=X)", "TRACED", "form", "b was omitted, is now passed by keyword"),
    Provoked("h = functools.partial(f, s=2.0); h(X); h(tf.ones(4))", "TRACED", "shape", "f32[3]"),
    Provoked("f.get_concrete_function(tf.TensorSpec([7])); f(tf.ones(7))", "CACHED"),
    Provoked("f.get_concrete_function(tf.TensorSpec([7])); f(X)", "TRACED", "shape", "f32[7]"),
    Provoked(HEAD + "f(X, 1); f(X, True)", "CACHED"),
    Provoked("tree({'a': X, 'b': X}); tree({'a': X})", "TRACED", "structure", "d['b'] was removed"),
    Provoked("applied(X, tf.sin); applied(X, tf.cos)", "TRACED", "static value", "sin → cos"),
    Provoked("applied(X, lambda v: v); applied(X, lambda v: v)", "TRACED", "static value",
             "another"),
    Provoked(HEAD + "f(tf.Variable(X))", "TRACED", "type", "x: f32[3] → variable f32[3]"),
    Provoked("f(tf.Variable(1.0)); f(tf.Variable(2.0))", "CACHED"),
    Provoked("v = tf.Variable(1.0); w = tf.Variable(1.0); f(v, v); f(v, w)", "TRACED",
             "static value", "s: the same variable as x → a variable of its own"),
    Provoked("first(tf.ragged.constant([[1.0]])); first(tf.ragged.constant([[1.0], []]))", "TRACED",
             "shape", "x: ragged f32[1,?] → ragged f32[2,?]"),
    Provoked("for kind in (tf.int64, tf.int32):\n"
             "    first(tf.ragged.constant([[1.0]], row_splits_dtype=kind))", "TRACED", "layout",
             "row_splits_dtype=int64 → ragged_rank=1, row_splits_dtype=int32"),
    Provoked("for n in (1, 2):\n    sparse(tf.sparse.from_dense(tf.ones(n)))", "TRACED", "shape",
             "x: sparse f32[1] → sparse f32[2]"),
    Provoked("for n in (1, 2):\n    sparse(tf.sparse.from_dense(n * tf.ones(3)))", "CACHED"),
    Provoked("for n in (1, 2):\n    row(Row(tf.ones(n), 3))", "TRACED", "shape",
             "x.values: f32[1] → f32[2]"),
    Provoked("relaxed(X); relaxed(tf.ones(4)); relaxed(tf.ones(5))", "CACHED"),
    Provoked("declared(X); declared(tf.ones(4))", "CACHED"),
    Provoked("a = M(); b = M(); a.step(X); b.step(X)", "TRACED", "static value",
             "self: M → another M"),
    Provoked("m = Lazy(); m(X); m(tf.ones(4))", "TRACED", "shape", "x: f32[3] → f32[4]"),
    Provoked(HEAD + "\nwith tf.device('/CPU:0'):\n    f(X)", "CACHED"),
    Provoked(EAGERLY.format("f(X)"), "BYPASSED"),
    Provoked("try:\n    f(X, 'text')\nexcept Exception: pass", "RAISED"),
    Provoked("k.fit(A, B, verbose=0); k.fit(A, B, sample_weight=np.ones(8), verbose=0)", "TRACED",
             "type", "sample_weight: None → f64[8]"),
    Provoked("k.fit(A, B, verbose=0); k.compile('sgd', 'mse'); k.fit(A, B, verbose=0)", "TRACED",
             "function", "same code"),
    Provoked("for n in (8, 4, 2):\n    k.train_on_batch(A[:n], B[:n])", "CACHED"),
    Provoked("k.predict(A, verbose=0); k.predict(A[:5], verbose=0)", "TRACED", "shape",
             "x: f32[8,2] → f32[5,2]"),
    # The arguments are the same, and the batches are not.
    Provoked("for n in (4, 3):\n    k.fit(A, B, verbose=0, batch_size=n)", "TRACED", "shape",
             "x of a batch: f32[4,2] → f32[?,2]"),
    Provoked("for n in (4, 3):\n    k.predict(A, verbose=0, batch_size=n)", "TRACED", "shape",
             "x of a batch: f32[4,2] → f32[?,2]"),
    Provoked("k.predict(A, verbose=0, batch_size=5)", "TRACED", "first", "first call"),
    Provoked("for n in (None, {0: 2.0}):\n    k.fit(A, B[:, :1], verbose=0, class_weight=n)",
             "TRACED", "structure", "sample_weight of a batch was added"),
    Provoked("k.compile('sgd', 'mse', run_eagerly=True); k.fit(A, B, verbose=0)", "BYPASSED"),
    Provoked("k.compile('sgd', 'mse', jit_compile=True)\n"
             "k.train_on_batch(A, B); k.train_on_batch(A, B)", "?"),
)  # fmt: skip


class Row(tf.experimental.ExtensionType):  # type: ignore[misc]
    values: tf.Tensor
    scale: int


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


def start() -> dict[str, Any]:
    """Functions that were never traced."""

    @tf.function
    def f(x: Any, s: Any = 1.0) -> Any:
        return x * s

    k = keras.Sequential([keras.layers.Dense(3)])
    k.compile("sgd", "mse")
    specs = [tf.TensorSpec([None], tf.float32)]
    return {
        "tf": tf, "np": np, "functools": functools, "X": tf.ones(3), "f": f, "M": M,
        "Lazy": Lazy, "k": k,
        "A": np.ones((8, 2), "float32"), "B": np.ones((8, 3), "float32"),
        "rest": tf.function(lambda *xs: xs[0]),
        "named": tf.function(lambda **xs: next(iter(xs.values()))),
        "chosen": tf.function(lambda x, mode: x if mode == "relu" else -x),
        "tree": tf.function(lambda d: d["a"]),
        "sparse": tf.function(lambda x: tf.sparse.reduce_sum(x) * 2),
        "Row": Row,
        "row": tf.function(lambda x: x.values * x.scale),
        "first": tf.function(lambda x: x[0]),
        "applied": tf.function(lambda x, g: g(x)),
        "relaxed": tf.function(lambda x: x * 2, reduce_retracing=True),
        "declared": tf.function(lambda x: x * 2, input_signature=specs),
        "jitted": tf.function(lambda x: x * 2, jit_compile=True),
        "both": tf.function(lambda x: x * 2, jit_compile=True, input_signature=specs),
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
    assert verdicts == reasons == []
    assert unknown <= 1


def test_the_report_tells_what_is_printed_and_what_xla_may_have_compiled_without_a_trace() -> None:
    code = "@tf.function\ndef g(x):\n  print('Running g()')\n  return x"
    found = observed(f"{code}\ng(X)\ng(X)\nboth(X)\nboth(tf.ones(4))", fresh())
    assert [(call.state, call.printed) for call in found.calls] == [
        ("TRACED", "Running g()\n"), ("CACHED", ""), ("TRACED", ""), ("?", ""),
    ]  # fmt: skip
    assert [*found.calls[0].phases] == ["trace"]
    assert found.calls[0].phases["trace"] > 0
    assert "XLA compiles each new shape" in " ".join(str(found).split())


def test_traces_within_others_stand_under_the_call_that_made_them() -> None:
    names = fresh()
    exec("@tf.function\ndef deep(x): return tf.abs(x)\n"
         "@tf.function\ndef inner(x): return deep(x) + deep(x)\n"
         "@tf.function\ndef last(x): return x\n"
         "@tf.function\ndef whole(x): return inner(x) - last(x)", names)  # fmt: skip
    code = "whole(X)\ninner(X)\nd = tf.data.Dataset.range(3).map(lambda v: v + 1)"
    found = observed(f"{code}\nf.get_concrete_function(X)(X)\nk.fit(A, B, verbose=0)", names)
    first, second, *_, concrete, fit = found.calls
    assert first.nested == ((1, "inner"), (2, "deep"), (1, "last"))  # the outermost first
    assert (second.state, second.nested) == ("CACHED", ())
    assert (concrete.name, fit.name) == ("f", "Sequential.fit")
    # Newer versions of Keras have no function around the step where it makes one at a time.
    of_model = [name for _, name in fit.nested]
    assert of_model in (["multi_step_on_iterator", "one_step_on_data"], ["one_step_on_data"])
    assert [program.name for program in found.internal] == ["Dataset_map_lambda"]
    told = " ".join(str(found).split())
    assert "also compiled 1 program outside these calls: Dataset_map_lambda" in told


@pytest.mark.parametrize(("code", "fix"), [
    ("f(X); f(tf.ones(4))", "Use `@tf.function(reduce_retracing=True)`, or"),
    ("jitted(X); jitted(tf.ones(4))", "pad `x` to a fixed multiple"),
    ("k.train_on_batch(A, B); k.compile('sgd', 'mse'); k.train_on_batch(A, B)",
     "Call compile() on the model once"),
    ("relaxed(X); relaxed(tf.ones(4))", ""),
])  # fmt: skip
def test_it_says_what_to_write_where_something_is(code: str, fix: str) -> None:
    *_, last = observed(code, fresh()).calls
    assert last.state == "TRACED"
    assert len(last.fixes) == bool(fix)
    assert fix in "".join(last.fixes)


def test_nothing_of_the_users_is_left_changed_and_tensorflow_warns_as_it_does_without_us() -> None:
    names, alone = fresh(), start()
    logger, kind = tf.get_logger(), type(names["f"])

    def state() -> tuple[object, ...]:
        return (kind.__call__, [*transform.CONCRETE_FUNCTION_CALLBACKS], logger.level,
                [*logger.handlers], [*logger.filters], logger.propagate,
                tf.config.functions_run_eagerly())  # fmt: skip

    keep_learning()  # we listen to traces from the first look on
    # It warns twice of each code.
    code = "@tf.function\ndef {0}(x): return x\nfor n in range(1, 8):\n    y = {0}(tf.ones(n))"
    with logged() as without:
        exec(code.format("without"), alone)
    before, known = state(), {*names}
    with logged() as within:
        found = observed(code.format("within"), names)
    assert state() == before
    assert {*names} - known <= {"within", "y", "n", "__builtins__"}
    counts = [each.experimental_get_tracing_count() for each in (names["within"], alone["without"])]
    assert counts == [7, 7]
    # Where warnings are errors, AutoGraph warns too on Python 3.13, of its own use of `ast`.
    (message,) = call_watch.TensorFlowCallWatch.messages
    without, within = ([line for line in told if message in line] for told in (without, within))
    assert len(without) == len(within) > 0
    assert (found.traces, message in str(found)) == (7, False)


@pytest.mark.parametrize(("code", "state"), [
    ("f(Y)", "WOULD-HIT"), ("f(s=1.0, x=X)", "WOULD-HIT"), ("f(four)", "WOULD-TRACE"),
    ("f(X, 2.0)", "WOULD-TRACE"), ("chosen(X, 'relu')", "WOULD-TRACE"),
    ("relaxed(long)", "WOULD-HIT"), ("relaxed(square)", "WOULD-TRACE"),
    ("declared(long)", "WOULD-HIT"), ("lazy(Y)", "WOULD-HIT"), ("f(tf.ones(4))", "?"),
    ("m.step(X)", "WOULD-TRACE"), ("f(X, no=1)", "?"), ("k.fit(A, B)", "?"),
])  # fmt: skip
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


def test_hits_of_a_method_are_one_row_though_each_call_has_it_anew() -> None:
    code = "k.train_on_batch(A, B); kept = []\nfor _ in range(4):\n"
    code += "    kept.append(k.train_on_batch); kept[-1](A, B)"
    *_, last = observed(code, fresh()).calls
    assert (last.state, last.number, last.times) == ("CACHED", 2, 4)


def test_calls_of_other_threads_do_not_count_for_this_one() -> None:
    names = fresh() | {"threading": threading, "one": tf.ones(1)}
    exec("@tf.function\ndef g(x): return x", names)
    code = "t = threading.Thread(target=lambda: g(X))\nf(X)\nt.start(); t.join()\nf(X)"
    mine = [call for call in observed(code, names).calls if call.line in (2, 4)]
    assert [(call.state, call.nested) for call in mine] == [("TRACED", ()), ("CACHED", ())]
    exec("@tf.function\ndef beside(x): return x\n"
         "@tf.autograph.experimental.do_not_convert\ndef meanwhile(x):\n"
         "    t = threading.Thread(target=beside, args=(one,))\n"
         "    t.start(); t.join()\n    return x", names)  # fmt: skip
    seen = observed("waiting = tf.function(meanwhile)\nwaiting(X)", names).calls
    (call,) = (call for call in seen if call.name == "meanwhile")
    assert (call.state, call.phases, call.nested) == ("TRACED", {}, ())  # nor their time


def test_the_first_call_that_is_seen_is_not_said_to_be_the_first_of_all() -> None:
    keep_learning()

    @tf.function
    def double(x: tf.Tensor) -> tf.Tensor:
        return x * 2

    @tf.function
    def triple(x: tf.Tensor) -> tf.Tensor:
        return x * 3

    with compile_events.unheard():
        double(tf.ones(3))
    told = []
    for function, size in ((double, 4), (double, 5), (triple, 3)):
        before = trace_log.TRACE_LOG.event_count
        function(tf.ones(size))
        (event,) = trace_log.TRACE_LOG.events_since(before)
        told.append(describe_changes(event.why))
    assert told == [
        "reason unknown: earlier traces were not observed", "x: f32[4] → f32[5] (shape)",
        "first call",
    ]  # fmt: skip


def test_verdicts_stay_right_where_less_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_learning()  # the listener is imported with what it needs, not with what is patched here
    with monkeypatch.context() as patch:  # traces are told in another way
        patch.setattr(compile_events, "tracings", lambda _: [].pop())
        found = observed("k.fit(A, B, verbose=0)\nf(X)\nf(X)", fresh())
    assert [call.state for call in found.calls] == ["?", "TRACED", "CACHED"]
    monkeypatch.setattr(compile_events, "_listeners", lambda: None)
    monkeypatch.setattr(call_watch, "tracing_seconds", lambda: None)
    monkeypatch.setattr(cache_lookup, "_look_up", lambda function, *_: function.gone)
    names = fresh()
    found = observed("f(X)\nf(X)\nf(tf.ones(4))\nk.fit(A, B, verbose=0)", names)
    assert [call.state for call in found.calls] == ["TRACED", "CACHED", "TRACED"]
    assert [call.phases for call in found.calls] == [{}, {}, {}]
    assert predict_code(Source.plain("f(X)"), names).calls[0].state == "?"


def test_calls_of_a_function_that_a_library_has_compiled_are_not_the_users() -> None:
    names, code = fresh(), "g = tf.function(lambda x: x + 1)\ndef use(x): return g(g(x))"
    exec(compile(code, keras.__file__, "exec"), names)
    assert observed("use(X)\nuse(X)", names).calls == ()
    assert [call.state for call in observed("use(X)\ng(X)", names).calls] == ["CACHED"]
