"""Programs of `tf.function` that were traced with other values than the names have now."""

import gc
import random
import weakref
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.shell import Shell

SCALE = """
scale = 2.0
@tf.function
def f(x):
    return x * scale
f(x)
"""
LOSS = """
def loss(x):
    return tf.reduce_sum(x ** 2)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loss(x)
    return tape.gradient(y, x)
step(x)
"""
METHOD = """
class Model(tf.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate, self.calls, self.config = rate, 0, {"bias": 1.0}
        self.v = tf.Variable(1.0)
    @tf.function
    def __call__(self, x):
        return x * self.rate * self.v + self.config["bias"]
m = Model(2.0)
m(x)
"""
ARRAYS = """
table = np.arange(3.0, dtype=np.float32)
w = tf.range(300.0)
@tf.function
def f(x):
    return x * table + tf.reduce_sum(w[:3])
f(x)
"""
VARIABLE = """
v = tf.Variable([1.0, 2.0, 3.0])
@tf.function
def f(x):
    v.assign_add(x)
    return x * v
f(x)
"""
NESTED = """
scale = 2.0
@tf.function
def inner(x):
    return x * scale
@tf.function(jit_compile=True)
def f(x):
    return inner(x) + 1
f(x)
"""
CONTROL = """
limit, note, layers = 3, "first", [tf.ones(3), tf.ones(3)]
@tf.function
def f(x):
    print(note)
    for w in layers:
        x = x * w
    while tf.reduce_sum(x) < 9.0:
        if tf.reduce_sum(x) > limit:
            x = x + 1
        else:
            x = x * 2
    return x
f(x)
"""
CLOSED = """
def make():
    rate = 0.1
    def set_rate(value):
        nonlocal rate
        rate = value
    @tf.function
    def f(x):
        return x * rate
    return f, set_rate
f, set_rate = make()
f(x)
"""
KERAS = """
model = keras.Sequential([keras.layers.Dense(2, activation="relu")])
model(tf.ones((1, 3)))
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)
@tf.function
def f(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x[None]))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
f(x)
"""
LAYER = """
class Layer(keras.layers.Layer):
    def __init__(self, rate):
        super().__init__()
        self.rate, self.seen = rate, 0
    def call(self, x):
        return x * self.rate
layer = Layer(2.0)
@tf.function
def f(x):
    return layer(x)
f(x)
"""
LAZY = """
class Lazy(tf.Module):
    v, rate = None, 2.0
    @tf.function
    def __call__(self, x):
        if self.v is None:
            self.v = tf.Variable(1.0)
        return x * self.v * self.rate
m = Lazy()
m(x)
"""
ARGUMENT = """
class Config:
    rate = 2.0
config = Config()
@tf.function
def f(x, c, n=1):
    return x * c.rate * n
f(x, config)
"""
RELAXED = """
scale, total = 2.0, 0
@tf.function(input_signature=[tf.TensorSpec([None])])
def f(x):
    return x * scale
@tf.function
def counts(x):
    global total
    total += 1
    return x * total * len(note)
note = "first"
f(x); counts(x)
"""
RANDOM = """
tf.random.set_seed(3)
scale, note = 2.0, "first"
@tf.function
def f(x):
    print(note)
    return scale * tf.random.uniform([3])
f(x)
"""
OUTSIDE = """
note = "first"
def shown(x):
    return x + len(note)
@tf.function
def f(x):
    return tf.numpy_function(shown, [x], tf.float32)
f(x)
"""


class Case(NamedTuple):
    """Cells, a change, a call, and what is stale then; nothing where it is a hit like others."""

    before: str
    change: str
    stale: tuple[str, ...] = ()
    call: str = "f(x)"


CASES = (
    Case(SCALE, "scale = 3.0", ("scale was 2.0 when f was traced, is 3.0",)),
    Case(SCALE, "scale = tf.constant(3.0)", ("scale was 2.0 when f was traced, is f32[]",)),
    Case(SCALE, "del scale", ("scale was 2.0 when f was traced, and is gone",)),
    Case(SCALE, "scale = 3.0; f(tf.ones(4))", ("scale was 2.0",)),
    Case(SCALE, "scale = 3.0; scale = 2.0"),
    Case(SCALE, "scale = 1.0 + 1.0"),
    Case(LOSS, "def loss(x):\n    return tf.reduce_sum(x ** 3)",
         ("loss was redefined; step still runs the earlier one",), "step(x)"),
    Case(LOSS, "def loss(x):\n    # the same\n    return tf.reduce_sum(x ** 2)", (), "step(x)"),
    Case(METHOD, "m.rate = 3.0", ("self.rate was 2.0 when Model was traced, is 3.0",), "m(x)"),
    Case(METHOD, "m.config['bias'] = 2.0", ("self.config['bias'] was 1.0",), "m(x)"),
    Case(METHOD, "m.v = tf.Variable(1.0)", ("self.v is another variable f32[]",), "m(x)"),
    Case(METHOD, "m.v.assign(5.0)", (), "m(x)"),
    Case(METHOD, "m.calls += 1", (), "m(x)"),
    Case(METHOD, "m = Model(3.0); m(x)", (), "m(x)"),
    Case(ARRAYS, "table[0] = 7", ("table is another f32[3]",)),
    Case(ARRAYS, "table[0] = 7; table[0] = 0"),
    Case(ARRAYS, "w = tf.ones(300)", ("w is another f32[300]",)),
    Case(ARRAYS, "w = tf.range(300.0)"),
    Case(VARIABLE, "v = tf.Variable([1.0, 2.0, 3.0])", ("v is another variable f32[3]",)),
    Case(VARIABLE, "v.assign([7.0, 8.0, 9.0])"),
    Case(NESTED, "scale = 3.0", ("scale was 2.0 when f was traced, is 3.0",)),
    Case(NESTED, "other = 3.0"),
    Case(CONTROL, "limit = 4", ("limit was 3 when f was traced, is 4",)),
    Case(CONTROL, "layers.append(tf.ones(3))", ("layers was list of 2",)),
    Case(CONTROL, "note = 'second'"),
    Case(CONTROL, "layers = [*layers]"),
    Case(CLOSED, "set_rate(0.5)", ("rate was 0.1 when f was traced, is 0.5",)),
    Case(CLOSED, "set_rate(0.1)"),
    Case(KERAS, "model = keras.Sequential([keras.layers.Dense(2)]); model(tf.ones((1, 3)))",
         ("model is another Sequential",)),
    Case(KERAS, "model = keras.Sequential([keras.layers.Dense(2)])",  # not built yet
         ("model is another Sequential",)),
    Case(KERAS, "model.set_weights([np.ones((3, 2)), np.ones(2)]); optimizer.learning_rate = 0.5"),
    Case(KERAS, "model.layers[0].trainable = False", ("trainable was True when f was traced",)),
    Case(KERAS, "model.layers[0].activation = keras.activations.tanh",
         ("activation was relu when f was traced, is tanh",)),
    Case(LAYER, "layer.rate = 3.0", ("layer.rate was 2.0",)),
    Case(LAYER, "layer = Layer(2.0)"),
    Case(LAZY, "m.rate = 3.0", ("self.rate was 2.0 when Lazy was traced, is 3.0",), "m(x)"),
    Case(LAZY, "m.v.assign(4.0)", (), "m(x)"),
    Case(ARGUMENT, "config.rate = 3.0", ("c.rate was 2.0",), "f(x, config)"),
    Case(ARGUMENT, "Config.other = 3.0", (), "f(x, config)"),
    Case(RELAXED, "scale = 3.0", ("scale was 2.0",), "f(tf.ones(5))"),
    Case(RELAXED, "scale = 2", (), "f(tf.ones(5))"),
    Case(RELAXED, "note = 'other'", (), "counts(x)"),  # every trace is another program
    Case(RANDOM, "scale = 3.0", ("scale was 2.0",)),
    Case(RANDOM, "note = 'second'; tf.random.set_seed(4)"),
    Case(OUTSIDE, "note = 'second'"),  # read when it runs
)  # fmt: skip


@pytest.fixture
def cells(shell: Shell) -> Shell:
    """A session in which TensorFlow is used, with the extension loaded."""
    names = {"tf": tf, "keras": keras, "np": np, "x": tf.ones(3)}
    shell.names |= names
    shell.run("pass")  # after a cell in which TensorFlow is there, its traces are seen
    return shell


def last_call(cells: Shell, call: str) -> Any:
    cells.run(f"%%trace_cached -qv seen\n{call}")
    return cells.names["seen"].calls[-1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.change}")
def test_what_is_stale_is_named_and_nothing_else(cells: Shell, case: Case) -> None:
    cells.run(case.before)
    cells.run(case.change)
    call = last_call(cells, case.call)
    told = [change.words() for change in call.why]
    assert (call.state, len(told)) == (("STALE", 1) if case.stale else ("CACHED", 0)), told
    assert all(any(words in each for each in told) for words in case.stale), told


@pytest.mark.parametrize(
    "odd",
    [
        "odd = []; odd.append(odd)",
        "odd = [0] * 1_000_000",
        "class Odd:\n    def __eq__(self, other): 1 / 0\n    __getattr__ = __eq__\nodd = Odd()",
        "class Odd:\n    __slots__ = ('me', 'empty')\nodd = Odd(); odd.me = odd",
        "odd = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, 0, -1, -2)",
        "odd = np.array([{}, None], dtype=object)",
    ],
)
def test_odd_values_are_no_error_and_hide_nothing(cells: Shell, odd: str) -> None:
    cells.run(odd)
    cells.run(SCALE.replace("    return x * scale", "    y = x * scale; odd\n    return y"))
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run("scale = 3.0")
    assert last_call(cells, "f(x)").state == "STALE"


@pytest.mark.parametrize(
    ("before", "cell"),
    [
        (SCALE, "for scale in (2.0, 3.0, 2.0): f(x)"),
        (METHOD, "for r in (2.0, 3.0, 2.0): m.rate = r; m(x)"),
        (METHOD, "for b in (1.0, 3.0, 1.0): m.config['bias'] = b; m(x)"),
        (LAYER, "for r in (2.0, 3.0, 2.0): layer.rate = r; f(x)"),
        (KERAS, ("for a in ('relu', 'tanh', 'relu'):"
                 " model.layers[0].activation = keras.activations.get(a); f(x)")),
        (ARRAYS, "for n in (0, 7, 0): table[0] = n; f(x)"),
    ],
)  # fmt: skip
def test_a_change_within_a_cell_is_seen(cells: Shell, before: str, cell: str) -> None:
    cells.run(before)
    cells.run(f"%%trace_cached -qv seen\n{cell}")
    assert [call.state for call in cells.names["seen"].calls] == ["CACHED", "STALE", "CACHED"]


def test_every_report_leads_with_it_and_says_what_to_type(cells: Shell) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(SCALE)
    cells.run("scale = 3.0")
    watched = [each.data["text/plain"] for each in cells.shown]
    assert watched == ["stale: f (scale was 2.0 when f was traced, is 3.0)"]
    cells.run("%trace_cached --watch off")
    cells.run("%%trace_cached\nf(x)")
    text = cells.shown[-1].data["text/plain"]
    assert text.index("stale program") < text.index("scale was 2.0 when f was traced, is 3.0")
    assert "Pass `scale` to `f` as an argument" in text
    said = "f runs a stale program: scale was 2.0 when f was traced, is 3.0."
    cells.run("%fwtime -q -n 1 -r 3 -v found f(x)")
    (note,) = [note for note in cells.names["found"].notes if note.code == "stale-program"]
    assert (note.mark, note.text) == ("!", said)
    cells.run("%%fwcompare -q -n 1 -r 3 -v found\nf: f(x)\nplain: x * scale")
    assert said in str(cells.names["found"])


def seed_all() -> None:
    tf.random.set_seed(3)
    np.random.seed(3)
    random.seed(3)


def draw() -> list[float]:
    return [float(tf.random.uniform([])), np.random.rand(), random.random()]


def test_looking_changes_nothing_of_the_users(cells: Shell) -> None:
    cells.run("calls = []")
    cells.run(RANDOM.replace("    return", "    calls.append(1)\n    return"))
    cells.run(KERAS.replace("def f", "def g").replace("f(x)", "g(x)"))
    cells.run("scale = 3.0; model = keras.Sequential([keras.layers.Dense(2)])")
    names = cells.names
    seed_all()
    drawn = draw()
    seed_all()
    counts = [names[name].experimental_get_tracing_count() for name in ("f", "g")]
    known = len(names["calls"]), len(names["optimizer"].variables)
    assert [last_call(cells, call).state for call in ("f(x)", "g(x)")] == ["STALE", "STALE"]
    assert draw() == drawn
    assert counts == [names[name].experimental_get_tracing_count() for name in ("f", "g")]
    assert known == (len(names["calls"]), len(names["optimizer"].variables))
    assert not names["model"].built
    assert names["model"](tf.ones((1, 3))).shape == (1, 2)  # it can still be built


def test_nothing_is_kept_that_the_user_dropped(cells: Shell) -> None:
    cells.run(METHOD)
    cells.run(ARGUMENT)
    cells.run(ARRAYS.replace("def f", "def g").replace("\nf(x)", "\ng(x)"))
    cells.run("m.rate = 3.0")
    assert last_call(cells, "m(x)").state == "STALE"
    names = ("m", "config", "g", "table", "w", "f")
    dropped = {name: weakref.ref(cells.names[name]) for name in names}
    for name in names:
        del cells.names[name]
    del cells.names["seen"]
    gc.collect()
    assert [name for name, each in dropped.items() if each() is not None] == []
