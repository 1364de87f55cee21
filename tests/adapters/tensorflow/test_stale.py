"""Programs of `tf.function` that were traced with other values than the names have now."""

import gc
import random
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench.retracing import TRACE_LOG
from tests.adapters.side_effects import SIDE_EFFECTS, SideEffect
from tests.shell import Shell

SCALE = """
scale = 2.0
inner = tf.function(lambda x: x * scale)
@tf.function(input_signature=[tf.TensorSpec([None])])
def f(x):
    return inner(x) + scale
f(x)
"""
BELOW = """
scale = 2.0
def g0(x): return x * scale
for n in range(9): exec(f'def g{n + 1}(x): return g{n}(x)')
@tf.function
def f(x): return g9(x)
f(x)
"""
COND = """
scale = 2.0
@tf.function
def f(x): return tf.cond(x[1] > 0, lambda: x * scale, lambda: tf.fill([3], scale))
f(x)
"""
LOSS = """
def loss(x):
    return tf.reduce_sum(x ** 2)
@tf.function(jit_compile=True)
def f(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loss(x)
    return tape.gradient(y, x)
f(x)
"""
METHOD = """
class Model(tf.Module):
    v = None
    def __init__(self, rate):
        super().__init__()
        self.rate, self.config = rate, {"bias": 1.0}
    @tf.function
    def __call__(self, x):
        if self.v is None:
            self.v = tf.Variable(1.0)
        return x * self.rate * self.v + self.config["bias"]
m = Model(2.0)
m(x)
"""
ARRAYS = """
table = np.arange(3.0, dtype=np.float32)
w = tf.range(300.0)
class Config:
    def __init__(self): self.rate = 2.0
config = Config()
@tf.function
def f(x, c=config):
    return x * table * c.rate + tf.reduce_sum(w[:3])
f(x)
"""
KERAS = """
class Layer(keras.layers.Layer):
    rate = 2.0
    def call(self, x):
        return x * self.rate
model, layer = keras.Sequential([keras.layers.Dense(2, activation="relu")]), Layer()
model(tf.ones((1, 3)))
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)
@tf.function
def f(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(model(x[None])))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
f(x)
"""
ABSENT = """
names = ["a"] * 2000
def rate():
    try: return scale
    except NameError: return 2.0
@tf.function
def f(x):
    return x * rate() * max(2, 3) * len(names)
f(x)
"""
COUNTS = """
total, note = 0, "first"
@tf.function
def f(x):
    global total
    total += 1
    return x * total * len(note)
f(x)
"""
RANDOM = """
tf.random.set_seed(3)
scale, note = 2.0, "first"
def shown(x):
    return x + len(note)
@tf.function
def f(x):
    print(note)
    return scale * tf.random.uniform([3]) + tf.numpy_function(shown, [x], tf.float32)
f(x)
"""


PRINTED = """
import functools
note, scale = 'first', 2.0
def plain(x):
    print(note, end='')
    return x * scale
f = tf.function({})
f(x)
"""


class Change(NamedTuple):
    """A change, and what is stale then in a call; nothing where it is a hit like others."""

    code: str
    stale: str = ""
    call: str = "f(x)"


#: Cells, and changes after them, one after the other.
CASES = (
    (SCALE, (
        Change("scale = 2", "", "f(tf.ones(5))"),
        Change("scale = 3.0", "scale was 2.0 when f was traced, is 3.0", "f(tf.ones(5))"),
        Change("scale = tf.constant(3.0)", "scale was 2.0 when f was traced, is f32[]"),
        Change("del scale", "scale was 2.0 when f was traced, and is gone"),
    )),
    (BELOW, (Change("scale = 3.0", "scale was 2.0 when f was traced, is 3.0"),)),
    (COND, (
        Change("scale = tf.constant(2.0)"),
        Change("scale = 1 + 1.0"),
        Change("scale = tf.constant(3.0)", "scale was 2.0 when f was traced, is f32[]"),
    )),
    (LOSS, (Change("def loss(x):\n    return tf.reduce_sum(x ** 2 + x)",
                   "loss was redefined; f still runs the earlier one"),)),
    (METHOD, (
        Change("m.v.assign(5.0)", "", "m(x)"),
        Change("m.rate = 3.0", "self.rate was 2.0 when Model was traced, is 3.0", "m(x)"),
        Change("m.rate, m.config['bias'] = 2.0, 2.0", "self.config['bias'] was 1.0", "m(x)"),
        Change("m.config['bias'], m.v = 1.0, tf.Variable(1.0)", "self.v is another variable f32[]",
               "m(x)"),
        Change("m = Model(3.0); m(x)", "", "m(x)"),
    )),
    (ARRAYS, (
        Change("w = tf.range(300.0)"),
        Change("w = tf.ones(300)", "w is another f32[300]"),
        Change("w = tf.range(300.0); config.rate = 3.0", "c.rate was 2.0", "f(x, config)"),
        Change("config.rate = 2.0; table[0] = 7", "table was changed in place after f was traced"),
    )),
    (KERAS, (
        Change("model.set_weights([np.ones((3, 2)), np.ones(2)]); optimizer.learning_rate = 0.5"),
        Change("first, layer = layer, Layer()"),
        Change("layer = first; layer.rate = 3.0", "layer.rate was 2.0"),
        Change("layer.rate = 2.0; model.layers[0].trainable = False",
               "trainable was True when f was traced"),
        Change("model.layers[0].trainable = True\n"
               "model.layers[0].activation = keras.activations.tanh",
               "activation was relu when f was traced, is tanh"),
        Change("model = keras.Sequential([keras.layers.Dense(2)])",  # not built yet
               "model is another Sequential"),
    )),
    *((PRINTED.format(each), (Change("note, scale = 'second', 3.0", "scale was 2.0 when"),))
      for each in ("plain", "lambda x: plain(x)", "functools.partial(plain)")),
    (ABSENT, (Change("scale = 3.0", "scale was not defined when f was traced, is 3.0"),)),
    (ABSENT, (Change("def max(*numbers): return 9",
                     "max was built in when f was traced, is now a function"),)),
    (COUNTS, (Change("note = 'other'"),)),  # every trace is another program
    (RANDOM, (
        Change("note = 'second'; tf.random.set_seed(4)"),  # read when it runs
        Change("note, scale = 'first', 3.0", "scale was 2.0"),
    )),
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


@pytest.mark.parametrize(("before", "changes"), CASES)
def test_what_is_stale_is_named_and_nothing_else(
    cells: Shell, before: str, changes: tuple[Change, ...]
) -> None:
    cells.run(before)
    for change in changes:
        cells.run(change.code)
        call = last_call(cells, change.call)
        told = [each.words() for each in call.why]
        expected = ("STALE", 1) if change.stale else ("CACHED", 0)
        assert (change.code, call.state, len(told)) == (change.code, *expected), told
        assert all(change.stale in each for each in told), told


PLAIN = "scale = 2.0\n@tf.function\ndef f(x):\n    return x * scale\nf(x)"


def test_an_equal_number_of_another_type_is_no_cause(cells: Shell) -> None:
    cells.run(PLAIN)
    for number in ("np.float32(2)", "np.float64(2)", "tf.constant(2.0)", "2"):
        for scale, state in ((number, "CACHED"), (f"{number} + 1", "STALE")):
            cells.run(f"scale = {scale}")
            assert (scale, last_call(cells, "f(x)").state) == (scale, state)


@pytest.mark.parametrize(("scale", "state"), [("2.0", "CACHED"), ("3.0", "STALE")])
def test_a_trace_that_nobody_saw_is_held_against_todays(
    cells: Shell, scale: str, state: str
) -> None:
    cells.run(PLAIN)
    TRACE_LOG.clear()
    cells.run(f"scale = {scale}")
    call = last_call(cells, "f(x)")
    told = ["scale was changed after f was traced"] if state == "STALE" else []
    assert (call.state, call.unknown) == (state, "")
    assert [each.words() for each in call.why] == told


def test_what_calls_pass_is_not_among_what_may_have_changed(cells: Shell) -> None:
    cells.run(PLAIN)
    cells.run("@tf.function\ndef outer(x):\n    return f(x) + 1\nouter(x)")
    TRACE_LOG.clear()
    cells.run("scale = 3.0")
    (change,) = last_call(cells, "outer(x)").why
    assert change.path == "f or scale"


#: Of these no two traces are known to be the same program, whatever changed.
INCOMPARABLE = {
    "a dataset": (("value = tf.data.Dataset.range(3)\n@tf.function\ndef f(x):\n"
                  "    return value.reduce(np.int64(0), lambda a, b: a + b)\nf(x)"),
                  "value = tf.data.Dataset.range(5)"),
    "random numbers": (("value = 1.0\n@tf.function\ndef f(x):\n"
                       "    return x * value + np.random.rand()\nf(x)"), "value = 50.0"),
    "a function of NumPy's": (("value = 1.0\n@tf.function\ndef f(x):\n    v = value\n"
                              "    return tf.numpy_function(lambda x: x + v, [x], tf.float32)"
                              "\nf(x)"), "value = 2.0"),
}  # fmt: skip


@pytest.mark.parametrize("name", INCOMPARABLE)
def test_where_programs_cannot_be_compared_that_is_said_of_what_changed(
    cells: Shell, name: str
) -> None:
    before, change = INCOMPARABLE[name]
    cells.run(before)
    call = last_call(cells, "f(x)")
    assert (call.state, call.unknown) == ("CACHED", "")
    cells.run(change)
    call = last_call(cells, "f(x)")
    assert (call.state, call.why) == ("CACHED", ())
    assert call.unknown.startswith("whether f runs today's value: its programs cannot be compared")


ON_HOST = """
def used(v): return v * 2
def host(v): return used(np.asarray(v, np.float32))
@tf.function
def f(x): return tf.{}({}, [x], tf.float32)
f(x)
"""


@pytest.mark.parametrize("host", ["py_function", "numpy_function"])
@pytest.mark.parametrize(
    ("given", "change", "stale"),
    [
        ("host", "def host(v): return v * np.float32(3)", "host was redefined"),
        ("host", "def host(v): return used(np.asarray(v, np.float32))", ""),
        ("host", "def used(v): return v * 3", ""),
        ("lambda v: host(v)", "def host(v): return v * np.float32(3)", ""),
    ],
)
def test_a_python_function_in_the_graph_is_the_one_of_the_trace(
    cells: Shell, host: str, given: str, change: str, stale: str
) -> None:
    cells.run(ON_HOST.format(host, given))
    cells.run(change)
    call = last_call(cells, "f(x)")
    assert (call.state, call.unknown) == ("STALE" if stale else "CACHED", "")
    assert all(each.words().startswith(stale) for each in call.why)
    cells.run("old, new = f(x).numpy(), tf.function(f.python_function)(x).numpy()")
    assert bool((cells.names["old"] != cells.names["new"]).all()) is bool(stale)


METHOD_ALONE = """
class Scaled(tf.Module):
    scale = 2.0
    @tf.function
    def __call__(self, x): return x * self.scale
f = Scaled()
f(x)
"""


@pytest.mark.parametrize("before", [PLAIN, METHOD_ALONE])
def test_it_is_told_where_arguments_are_not_known(cells: Shell, before: str) -> None:
    cells.run(before)
    TRACE_LOG.clear()
    for value, told in ((2.0, 0), (3.0, 1)):
        cells.run(f"scale = f.scale = {value}")
        cells.run("%fwtime -q -n 1 -r 3 -v found f(x + 0)")
        codes = [note.code for note in cells.names["found"].notes]
        assert codes.count("stale-program") == told
        for call in ("f(x)", "f(x) + 1"):
            cells.run(f"%tfgraph -qv found {call}")
            codes = [note.code for note in cells.names["found"].notes]
            assert codes.count("cached-is-stale") == told


BLOCK = """
import ipyjaxbench
def check(change):
    held = {{"a": 2.0}}
    @tf.function
    def f(x): return x * held["a"]
    def run(): return f(x)
    f(x)
    held["a"] = change
    with ipyjaxbench.trace_cached(1, stale="error"):
        {}
"""


@pytest.mark.parametrize(
    ("call", "is_told"), [("run()", True), ("list(map(f, [x]))", True), ("0", False)]
)
def test_a_block_refuses_each_stale_call_in_it(cells: Shell, call: str, is_told: bool) -> None:
    cells.run(BLOCK.format(call))
    cells.run("check(2.0)")
    if is_told:
        with pytest.raises(AssertionError, match="`f` runs a stale program: held"):
            cells.run("check(3.0)")
    else:
        cells.run("check(3.0)")


def test_one_program_that_is_todays_is_enough_for_no_note(cells: Shell) -> None:
    cells.run(PLAIN)
    cells.run("scale = 3.0")
    TRACE_LOG.clear()
    cells.run("f(tf.ones(4))")
    cells.run("%fwtime -q -n 1 -r 3 -v found f(tf.ones(4) + 0)")
    assert "stale-program" not in [note.code for note in cells.names["found"].notes]


@pytest.mark.parametrize("odd", [
    "odd = []; odd.append(odd)",
    "odd = [0] * 100_000",
    "class Odd:\n    def __eq__(self, other): 1 / 0\n    __getattr__ = __eq__\nodd = Odd()",
    "class Odd:\n    __slots__ = ('me', 'empty')\nodd = Odd(); odd.me = odd",
    "odd = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, 0, -1, -2)",
    "odd = np.array([{}, None], dtype=object)",
])  # fmt: skip
def test_odd_values_are_no_error_and_hide_nothing(cells: Shell, odd: str) -> None:
    cells.run(odd)
    cells.run(SCALE.replace("return inner(x) + scale", "y = inner(x) + scale; odd\n    return y"))
    assert last_call(cells, "f(x)").state == "CACHED"
    cells.run("scale = 3.0")
    assert last_call(cells, "f(x)").state == "STALE"


@pytest.mark.parametrize(("before", "cell"), [
    (METHOD, "for b in (1.0, 3.0, 1.0): m.config['bias'] = b; m(x)"),
    (KERAS, ("for a in ('relu', 'tanh', 'relu'):"
             " model.layers[0].activation = keras.activations.get(a); f(x)")),
    (ARRAYS, "for n in (0, 7, 0): table[0] = n; f(x)"),
])  # fmt: skip
def test_a_change_within_a_cell_is_seen(cells: Shell, before: str, cell: str) -> None:
    cells.run(before)
    cells.run(f"%%trace_cached -qv seen\n{cell}")
    assert [call.state for call in cells.names["seen"].calls] == ["CACHED", "STALE", "CACHED"]


CLASS = "class K:\n    @tf.function\n    def call(self, x): return x * scale"
MAKE = "def make():\n    @tf.function\n    def inner(x): return x * scale\n    return inner"


@pytest.mark.parametrize(
    ("before", "typed", "told"),
    [
        (("def g(x): return x * scale", "f = tf.function(g)"), (1,),
         "run `f = tf.function(g)` again"),
        (("def f(x): return x * scale", "f = tf.function(f)"), (0, 1),
         "run the cell that defines `f` again, then `f = tf.function(f)`"),
        (("@tf.function\ndef g(x): return x * scale", "@tf.function\ndef f(x): return g(x)"),
         (0, 1),
         "run the cell that defines `g` again, then run the cell that defines `f` again"),
        (("def g(x): return x * scale", "f = [tf.function(g)][0]"), (0, 1),
         "run the cell that defines `g` again, then call `tf.function` on it again"),
        ((CLASS, "f = K().call"), (0, 1),
         "run the cell that defines `K` again, then make its object anew"),
        ((CLASS, "k = [K()][0]", "f = k.call"), (1, 2), "make the object of `K` anew"),
        ((CLASS, "k = K()", "f = k.call"), (1, 2), "run `k = K()` again"),
        ((MAKE, "f = make()"), (1,), "run `f = make()` again"),
        ((MAKE, "f = [make()][0]"), (1,), "call `make` again for a new `inner`"),
        (("def g(n, x): return x * scale * n", "f = tf.function(partial(g, 1.0))"), (1,),
         "run `f = tf.function(partial(g, 1.0))` again"),
        (("def g(n, x): return x * scale * n", "f = [tf.function(partial(g, 1.0))][0]"), (1,),
         "call `tf.function` on a new partial of `g`"),
    ],
)  # fmt: skip
def test_what_is_told_to_be_typed_helps(
    cells: Shell, before: tuple[str, ...], typed: tuple[int, ...], told: str
) -> None:
    cells.run("from functools import partial\nscale = 2.0")
    for cell in (*before, "f(x)", "scale = 3.0"):
        cells.run(cell, counted=True)
    (fix,) = last_call(cells, "f(x)").fixes
    assert fix.endswith(f", or {told}")
    for number in typed:
        cells.run(before[number], counted=True)
    cells.run("right = bool((f(x).numpy() == x.numpy() * 3.0).all())")
    assert cells.names["right"]


def test_it_is_told_of_what_is_timed_with_what_to_type(cells: Shell) -> None:
    cells.run(SCALE)
    cells.run("scale = 3.0")
    cells.run("%%trace_cached\nf(x)")
    text = cells.shown[-1].data["text/plain"]
    assert text.index("stale program") < text.index("scale was 2.0 when f was traced, is 3.0")
    assert "Pass `scale` to `f` as an argument" in text
    cells.run("%fwtime -q -n 1 -r 3 -v found f(x)")
    (note,) = [note for note in cells.names["found"].notes if note.code == "stale-program"]
    assert note.mark == "!"
    assert note.text == "f runs a stale program: scale was 2.0 when f was traced, is 3.0."


def draw() -> list[float]:
    return [float(tf.random.uniform([])), np.random.rand(), random.random()]


def test_looking_changes_nothing_of_the_users(cells: Shell) -> None:
    cells.run("calls = []")
    cells.run(KERAS.replace("def f(x):", "def g(x):\n    calls.append(1)").replace("f(x)", "g(x)"))
    cells.run("layer.rate = 3.0; model = keras.Sequential([keras.layers.Dense(2)])")
    names, drawn = cells.names, []
    for _ in range(2):
        tf.random.set_seed(3)
        np.random.seed(3)
        random.seed(3)
        drawn = drawn or draw()

    def state() -> Any:
        counts = names["g"].experimental_get_tracing_count(), len(names["calls"])
        return *counts, len(names["optimizer"].variables), names["model"].built

    before = state()
    assert last_call(cells, "g(x)").state == "STALE"
    assert draw() == drawn
    assert state() == before
    assert names["model"](tf.ones((1, 3))).shape == (1, 2)  # it can still be built


def test_nothing_is_kept_that_the_user_dropped(cells: Shell) -> None:
    cells.run(METHOD)
    cells.run(ARRAYS)
    cells.run("m.rate = 3.0")
    assert last_call(cells, "m(x)").state == "STALE"
    names = ("m", "config", "table", "w", "f")
    dropped = {name: weakref.ref(cells.names[name]) for name in names}
    for name in (*names, "seen"):
        del cells.names[name]
    gc.collect()
    assert [name for name, each in dropped.items() if each() is not None] == []


@pytest.mark.parametrize("effect", SIDE_EFFECTS, ids=lambda it: f"{it.before[-20:]} {it.does}")
def test_looking_does_nothing_again(cells: Shell, effect: SideEffect, tmp_path: Path) -> None:
    cells.names["path"] = str(tmp_path / "file")
    cells.run(effect.before)
    cells.run(
        "scale = 2.0\n@tf.autograph.experimental.do_not_convert\ndef act(): "
        + effect.does
        + "\n@tf.function\ndef f(x):\n    y = x * scale\n    act()\n    return y\nf(x)"
    )
    cells.run("scale = 3.0")
    call = last_call(cells, "f(x)")
    assert call.state == "STALE"
    assert [change.path for change in call.why] == ["scale"]
    cells.run(f"left = {effect.left}")
    cells.run(
        "import io\nfor it in [*globals().values()]: isinstance(it, io.IOBase) and it.close()"
    )
    assert cells.names["left"] == effect.value


def test_a_method_is_told_of_the_object_that_changed(cells: Shell) -> None:
    cells.run("%trace_cached --watch on")
    cells.run(
        "class Model:\n    @tf.function\n    def run(self, x): return x * self.k\n"
        "a, b = Model(), Model()\na.k = b.k = 2.0\na.run(x), b.run(x)"
    )
    cells.run("b.k = 3.0")
    lines = [each.data["text/plain"] for each in cells.shown]
    cells.run("%trace_cached --watch off")
    assert lines == ["stale: b.run (self.k was 2.0 when run was traced, is 3.0)"]
