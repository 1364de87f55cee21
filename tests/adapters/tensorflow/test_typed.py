"""Calls of `tf.function`, each typed in a cell of its own, with verdicts known to be right."""

import functools
import sys
import types

import numpy as np
import pytest
import tensorflow as tf

from tests.shell import Shell
from tests.typed_calls import score

_F = "@tf.function\ndef f(x, s=1.0):\n    return tf.sin(x) * tf.cast(s, tf.float32)"
_ANEW = "new function object (same code)"
SESSIONS = {
    "shapes and dtypes": (
        "@tf.function\ndef f(x):\n    return x + x",
        "f(x3) => TRACED first call",
        "f(x3 * 2) => CACHED",
        "f(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "f(x3) => CACHED",
        "f(x33) => TRACED x: f32[4] → f32[3,3] (rank)",
        "f(x33) => CACHED",
        "f(tf.cast(x3, tf.int32)) => TRACED x: f32[3] → i32[3] (dtype)",
        "f(tf.cast(x3, tf.float64)) => TRACED x: i32[3] → f64[3] (dtype)",
        "f(x4) => CACHED",
        "f(tf.constant(1.0)) => TRACED x: f32[3,3] → f32[] (rank)",
        "f(np.ones(3, 'float32')) => CACHED",
        "f([x3, x3]) => TRACED x: f32[] → list (type)",
        "f([x3, x3]) => CACHED",
    ),
    "numbers, and how they are given": (
        _F,
        "f(x3, 2.0) => TRACED first call",
        "f(x3, 2.0) => CACHED",
        "f(x3, s=2.0) => CACHED",
        "f(x3, 3.0) => TRACED s: 2.0 → 3.0 (static value)",
        "f(x3, 3.0) => CACHED",
        "f(x3) => TRACED s: 3.0 → 1.0 (static value)",
        "f(s=1.0, x=x3) => CACHED",
        "f(x3, tf.constant(4.0)) => TRACED s: 1.0 → f32[] (type)",
        "f(x3, tf.constant(5.0)) => CACHED",
        "f(x3, True) => CACHED",
    ),
    "texts and functions": (
        "@tf.function\ndef h(x, mode='a', g=tf.sin):\n    return g(x) + len(mode)",
        "h(x3) => TRACED first call",
        "h(x3, 'b') => TRACED mode: 'a' → 'b' (static value)",
        "h(x3, mode='a') => CACHED",
        "h(x3, g=tf.cos) => TRACED g: sin → cos (static value)",
        "h(x3, g=tf.cos) => CACHED",
    ),
    "trees": (
        "@tf.function\ndef tree(p):\n    return sum(tf.reduce_sum(v) for v in p.values())",
        "tree({'w': x3, 'b': x4}) => TRACED first call",
        "tree({'b': x4, 'w': x3}) => CACHED",
        "tree({'w': x3}) => TRACED p['b'] was removed",
        "tree({'w': x4}) => TRACED p['w']: f32[3] → f32[4] (shape)",
        "tree({'w': x3}) => CACHED",
    ),
    "signatures that take several shapes": (
        (
            "@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])\n"
            "def wide(x):\n    return x + 1"
        ),
        "wide(x3) => TRACED first call",
        "wide(x4) => CACHED",
        "@tf.function(reduce_retracing=True)\ndef relaxed(x):\n    return x + 1",
        "relaxed(x3) => TRACED first call",
        "relaxed(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "relaxed(tf.ones(7)) => CACHED",
    ),
    "objects and variables": (
        (
            "class Model(tf.Module):\n"
            "    def __init__(self):\n        super().__init__(); self.w = tf.Variable(2.0)\n"
            "    @tf.function\n    def run(self, x):\n        return x * self.w\n"
            "m1, m2 = Model(), Model()"
        ),
        "m1.run(x3) => TRACED first call",
        "m1.run(x3) => CACHED",
        "m1.run(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "m2.run(x3) => TRACED self: Model → another Model (static value)",
        "m1.run(x3) => CACHED",
        "v1, v2 = tf.Variable(1.0), tf.Variable(2.0)",
        "@tf.function\ndef use(v, x):\n    return x * v",
        "use(v1, x3) => TRACED first call",
        "use(v2, x3) => CACHED",
        "use(1.0, x3) => TRACED v: variable f32[] → 1.0 (type)",
    ),
    "functions made anew": (
        "tf.function(lambda x: tf.sin(x) + 1)(x3)\n => TRACED first call",
        f"tf.function(lambda x: tf.sin(x) + 1)(x3)\n => TRACED {_ANEW}",
        _F,
        "f(x3) => TRACED first call",
        _F,
        f"f(x3) => TRACED {_ANEW}",
        "f(x3) => CACHED",
        _F.replace("sin", "cos"),
        "f(x3) => TRACED first call after redefinition",
        "@tf.function\ndef r(x, s):\n    return x * s",
        "r(x3, 2.0) => TRACED first call",
        "@tf.function\ndef r(y, n):\n    return y * n",
        "r(x3, 2.0) => TRACED first call after redefinition",
        "r(x3, 2.0) => CACHED",
    ),
    "values around a function": (
        (
            "def times(n):\n    def timed(x):\n        return tf.sin(x) * n\n"
            "    return tf.function(timed)"
        ),
        "t1, t2, t3 = times(1.0), times(2.0), times(1.0)",
        "t1(x3) => TRACED first call",
        "t2(x3) => TRACED new function object (captured n: 1.0 → 2.0)",
        f"t3(x3) => TRACED {_ANEW}",
        "t1(x3) => CACHED",
        "scale = 2.0",
        "@tf.function\ndef scaled(x):\n    return tf.sin(x) * scale",
        "scaled(x3) => TRACED first call",
        "scaled(x3) => CACHED",
        "p = functools.partial(scaled)",
        "p(x3) => CACHED",
        "p(x4) => TRACED x: f32[3] → f32[4] (shape)",
    ),
    "calls that were made before": (
        _F,
        "y = f(x3)",
        "f(x3) => CACHED",
        "f(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "@tf.function\ndef timed(x):\n    return tf.reduce_sum(tf.sin(x))",
        "%fwtime -q -n1 -r2 timed(x3)",
        "timed(x3) => CACHED",
        "timed(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "@tf.function\ndef seen(x):\n    return tf.reduce_sum(tf.sin(x))",
        "%jaxpr -q seen(x3)",
        "seen(x3) => TRACED first call",
        "seen(x4) => TRACED x: f32[3] → f32[4] (shape)",
    ),
    "where functions are defined": (
        "@tf.function\ndef here(x):\n    return tf.sin(x)\nhere(x3) => TRACED first call",
        "here(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "here(x3) => CACHED",
        "mod.step(x3) => TRACED first call",
        "mod.step(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "mod.step(x4) => CACHED",
        "def outer(x):\n    return inner(x) + 1\n@tf.function\ndef inner(x):\n    return tf.cos(x)",
        "outer(x3) => TRACED first call",
        "outer(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "outer(x3) => CACHED",
        "@tf.function\ndef deep(x):\n    return inner(x) * 2",
        "deep(x3) => TRACED first call",
        "deep(x3) => CACHED",
    ),
    "derivatives, XLA and running eagerly": (
        (
            "@tf.function\ndef loss(v):\n    with tf.GradientTape() as t:\n        t.watch(v)\n"
            "        y = tf.reduce_sum(tf.sin(v))\n    return t.gradient(y, v)"
        ),
        "loss(x3) => TRACED first call",
        "loss(x3) => CACHED",
        "loss(x4) => TRACED v: f32[3] → f32[4] (shape)",
        "xla = tf.function(lambda x: tf.sin(x), jit_compile=True)",
        "xla(x3) => TRACED first call",
        "xla(x3) => CACHED",
        "tf.config.run_functions_eagerly(True)",
        "loss(x3) => BYPASSED",
        "tf.config.run_functions_eagerly(False)",
        "loss(x3) => CACHED",
    ),
    "Keras": (
        (
            "k = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])\n"
            "k.compile('sgd', 'mse')\nX, Y = np.ones((4, 3)), np.ones((4, 2))"
        ),
        "k.train_on_batch(X, Y) => TRACED first call",
        "k.train_on_batch(X, Y) => CACHED",
        "k.predict(X, verbose=0) => TRACED first call",
        "k.predict(X, verbose=0) => CACHED",
        "k.compile('adam', 'mse')",
        f"k.train_on_batch(X, Y) => TRACED {_ANEW}",
        "k.train_on_batch(X, Y) => CACHED",
        "call = tf.function(k)",
        "call(x33) => TRACED first call",
        "call(x33) => CACHED",
        "call(x33, training=True) => TRACED training: None → True (static value)",
        "call(x33, training=True) => CACHED",
    ),
}


@pytest.fixture
def typing(shell: Shell) -> Shell:
    mod = types.ModuleType("mod_of_mine")
    source = "import tensorflow as tf\n@tf.function\ndef step(x):\n    return tf.sin(x)\n"
    exec(compile(source, "mod_of_mine.py", "exec"), mod.__dict__)
    shell.names.update(
        tf=tf, np=np, functools=functools, mod=mod,
        x3=tf.ones(3), x4=tf.ones(4), x33=tf.ones((3, 3)),
    )  # fmt: skip
    shell.run("1")  # from now on what is traced is learned
    return shell


def test_each_call_is_told_right(typing: Shell) -> None:
    found = score(typing, SESSIONS)
    print("TensorFlow", found, file=sys.stderr)
    assert not found.wrong, "\n".join(found.wrong)
    assert not found.unknown, "\n".join(found.unknown)
    assert found.calls >= 40
    assert found.cached >= found.calls / 2
