"""Calls of `tf.function`, typed in cells of their own and made in all ways, and what is told."""

from pathlib import Path

import keras
import pytest
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function

from ipyjaxbench.retracing.trace_log import TRACE_LOG
from tests.shell import Shell
from tests.typed_calls import score
from tests.ways_to_call import HELPER, WAYS, wrong

_F = "@tf.function\ndef f(x, s=1.0):\n    return tf.sin(x) * tf.cast(s, tf.float32)"
_ANEW = "new function object (same code)"
SESSIONS = {
    "functions made anew": (
        "tf.function(lambda x: tf.sin(x) + 1)(x3)\n => TRACED first call",
        f"tf.function(lambda x: tf.sin(x) + 1)(x3)\n => TRACED {_ANEW}",
        _F,
        "f(x3) => TRACED first call",
        _F,
        f"f(x3) => TRACED {_ANEW}",
        "f(x3) => CACHED",
        _F,
        f"f(x4) => TRACED {_ANEW}",
        "f(x3) => TRACED x: f32[4] → f32[3] (shape)",
        _F.replace("sin", "cos"),
        "f(x3) => TRACED first call after redefinition",
        "def times(n):\n    return tf.function(lambda x: tf.sin(x) * n)",
        "t1, t2 = times(1.0), times(2.0)",
        "t1(x3) => TRACED first call",
        "t2(x3) => TRACED new function object (captured n: 1.0 → 2.0)",
    ),
    "calls that were made before": (
        "@tf.function\ndef timed(x):\n    return tf.reduce_sum(tf.sin(x))",
        "%fwtime -q -n1 -r2 timed(x3)",
        "timed(x3) => CACHED",
        "timed(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "@tf.function\ndef seen(x):\n    return tf.reduce_sum(tf.sin(x))",
        "%jaxpr -q seen(x3)",
        "seen(x3) => TRACED first call",
        "call = tf.function(tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)]))",
        "call(x33) => TRACED first call",
        "call(x33, training=True) => TRACED training: None → True (static value)",
        "call(x33, training=True) => CACHED",
    ),
}


def test_each_call_is_told_right(shell: Shell) -> None:
    shell.names.update(tf=tf, x3=tf.ones(3), x4=tf.ones(4), x33=tf.ones((3, 3)))
    shell.run("1")  # from now on what is traced is learned
    found = score(shell, SESSIONS)
    assert not found.wrong, "\n".join(found.wrong)
    assert not found.unknown, "\n".join(found.unknown)
    assert found.calls >= 15


_MODULE = """\
class Net(tf.Module):
    @tf.function
    def __call__(self, x): return x * 2.0
net = Net()"""
_MODEL = """\
model = keras.Sequential([keras.layers.Dense(2)])
X, box.model = tf.ones((4, 3)), model
model.compile('sgd', 'mse'); model(X)
predict = functools.partial(model.predict, verbose=0)"""
_LAYER = """\
class Layer(keras.layers.Layer):
    @tf.function
    def call(self, x): return x * 2.0
layer = Layer()"""
OWN = {
    "layer": (_LAYER, "layer(x)"),
    "module": (_MODULE, "net(x)"),
    "model's method": (_MODEL, "box.model.predict_on_batch(X)"),
    "partial of a model's method": (_MODEL, "predict(X)"),
    "map of a compiled model": (f"{_MODEL}\ng = tf.function(model)", "list(map(g, [X]))"),
    "map of another one": ("g = tf.function(lambda v: f(v) * 2)", "list(map(g, [x]))"),
}


def test_each_way_is_a_trace_and_cache_hits(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    TRACE_LOG.clear()
    shell.names.update(compiles=tf.function, of_method=tf.function, x=tf.ones(3), tf=tf,
                       keras=keras)  # fmt: skip
    own = Function.__call__
    assert wrong(shell, WAYS | OWN) == {}
    assert Function.__call__ is own
