"""Only what changed the key is a cause: with that alone put back, a call is a hit."""

from collections import namedtuple

import numpy as np
import pytest
import tensorflow as tf

from tests.causes import Changed, judge

State = namedtuple("State", "step aux")
X, Y = "tf.ones(3)", "2 * tf.ones(3)"
F = "@tf.function\ndef f(x, n=2, mode='a', d=None):\n    return x * tf.cast(n, x.dtype)"
#: Two sizes are known to it: it takes any other.
RELAXED = (
    F.replace("@tf.function", "@tf.function(reduce_retracing=True)")
    + "\nf(tf.ones(2), d=np.ones(2))"
)
MADE = "def g(x):\n    return x + 1\none, other = tf.function(g), tf.function(g)"
STRATEGY = (
    "import contextlib\nones = tf.distribute.OneDeviceStrategy('/cpu:0')\n"
    f"none = contextlib.nullcontext\n{F}"
)


def changed(cause: str, words: str, function: str = F, call: str = "", **new: str) -> Changed:
    old = {"x": X, "n": "2", "mode": "'a'", "d": "np.ones(2)"}
    return Changed(function, call or "f($x, $n, $mode, $d)", old, new, cause, words)


ROWS = (
    changed("x", "x: f32[3] → f64[3] (dtype)", x="tf.ones(3, 'float64')", d="np.zeros(2)"),
    changed("x", "x: f32[3] → f32[4] (shape)", x="tf.ones(4)", n="2.0", d="np.zeros(2)"),
    changed("x", "x: f32[3] → f32[3,1] (rank)", x="tf.ones((3, 1))", n="n=2",
            call="f($x, $n, d=$d)", d="np.zeros(2)"),
    changed("n", "n: 2 → 3 (static value)", RELAXED, x="tf.ones(9)", n="3", d="np.zeros(2)"),
    changed("x", "x: f32[3] → f64[9] (dtype)", RELAXED, x="tf.ones(9, 'float64')", d="np.zeros(2)"),
    changed("n", "n: 2 → i32[] (type)", x=Y, n="tf.constant(2)", d="np.zeros(2)"),
    changed("mode", "mode: 'a' → 'b' (static value)", x=Y, mode="'b'", d="np.zeros(2)"),
    Changed(F, "f($x, d={'a': $x$more})", {"x": X, "more": ""}, {"x": Y, "more": ", 'b': {'c': 1}"},
            "more", "d['b'] was added"),
    Changed(F, "f($x, d=State($step, {'gap': $gap}))", {"x": X, "step": "tf.constant(0)",
            "gap": "0.0"}, {"x": Y, "step": "tf.constant(1)", "gap": "1.0"}, "gap",
            "d.aux['gap']: 0.0 → 1.0 (static value)"),
    Changed(F, "f($x, d=tf.Variable($d, trainable=$train))", {"x": X, "d": "1.0", "train": "True"},
            {"x": Y, "d": "2.0", "train": "False"}, "train",
            "d: a variable of its own → a variable of its own, not trainable (static value)"),
    Changed(MADE, "$f($x)", {"f": "one", "x": X}, {"f": "other", "x": Y}, "f",
            "new function object (same code)"),
    Changed(STRATEGY, "with $scope(): f($x)", {"scope": "none", "x": X},
            {"scope": "ones.scope", "x": Y}, "scope",
            "tf.distribute context: none → cross-replica"),
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
def test_with_the_cause_alone_put_back_a_call_is_a_hit(row: Changed) -> None:
    assert judge(row, {"tf": tf, "np": np, "State": State}) == []
