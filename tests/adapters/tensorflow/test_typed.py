"""Calls of `tf.function`, each typed in a cell of its own, with what the session knows of them."""

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
        "mod.step(x3) => TRACED first call",
        "mod.step(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "mod.step(x4) => CACHED",
        "def outer(x):\n    return inner(x) + 1\n@tf.function\ndef inner(x):\n    return tf.cos(x)",
        "outer(x3) => TRACED first call",
        "outer(x4) => TRACED x: f32[3] → f32[4] (shape)",
        "outer(x3) => CACHED",
    ),
    "Keras": (
        (
            "k = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])\n"
            "k.compile('sgd', 'mse')\nX, Y = np.ones((4, 3)), np.ones((4, 2))"
        ),
        "k.predict(X, verbose=0) => TRACED first call",
        "k.predict(X, verbose=0) => CACHED",
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
    shell.names.update(tf=tf, np=np, mod=mod, x3=tf.ones(3), x4=tf.ones(4), x33=tf.ones((3, 3)))
    shell.run("1")  # from now on what is traced is learned
    return shell


def test_each_call_is_told_right(typing: Shell) -> None:
    found = score(typing, SESSIONS)
    print("TensorFlow", found, file=sys.stderr)
    assert not found.wrong, "\n".join(found.wrong)
    assert not found.unknown, "\n".join(found.unknown)
    assert found.calls >= 30
    assert found.cached >= found.calls / 2
