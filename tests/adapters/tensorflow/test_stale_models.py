"""Programs that Keras and others made and kept, traced with other values than there are now."""

import gc
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench.frameworks import loaded
from ipyjaxbench.retracing import find_stale
from ipyjaxbench.retracing.protocol import call_watches
from tests.shell import Shell
from tests.traced import logged_by_looks

MODEL = """
scale, unread = 2.0, 1
class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense, self.drop = keras.layers.Dense(1), keras.layers.Dropout(0.5)
    def call(self, x, training=False):
        print(unread)
        return self.drop(self.dense(x), training=training) * scale
def loss(y, p):
    return keras.losses.mean_squared_error(y, p) * rate
rate = 1.0
m = Model()
m.compile(keras.optimizers.SGD(0.1), loss, metrics=["mae"])
"""
OPTIMIZER = """
opt, v = keras.optimizers.SGD(0.1), tf.Variable(1.0)
opt.build([v])
@tf.function
def f():
    opt.apply_gradients([(v * 100.0, v)])
f()
"""
CONCRETE = """
scale = 2.0
f = tf.function(lambda x: x * scale)
c = f.get_concrete_function(x)
"""
STRATEGY = """
scale = 2.0
strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
@tf.function
def f(x):
    return x * scale
strategy.run(f, (x,))
"""
FIT, PREDICT, BATCH = "m.fit(X, Y, verbose=0)", "m.predict(X, verbose=0)", "m.train_on_batch(X, Y)"
EVALUATE = "m.evaluate(X, Y, verbose=0)"


class Change(NamedTuple):
    """A change, a call, and what is stale in it then; nothing where it is a hit."""

    code: str
    call: str
    stale: str = ""


def of_optimizer(name: str) -> Change:
    return Change(f"opt.{name} = 0.1", "f()", f"opt.{name} was None when f was traced, is 0.1")


#: Cells, and changes after them, one after the other; the calls are made before the first one.
CASES = (
    (MODEL, (
        Change("unread = 2; m.optimizer.learning_rate = 0.5; m.stop_training = True", FIT),
        Change("m.set_weights([w * 2 for w in m.get_weights()])", FIT),
        Change("rate = 3.0", PREDICT),
        Change("pass", FIT, "rate was 1.0 when Model.fit was traced, is 3.0"),
        *(Change("rate, scale = 1.0, 3.0", call, "scale was 2.0 when Model.")
          for call in (FIT, EVALUATE, PREDICT)),
        Change("scale, m.drop.rate = 2.0, 0.1", FIT, "Model.drop.rate was 0.5"),
        Change("m.drop.rate, m.dense.trainable = 0.5, False", FIT, "Model.dense.trainable was"),
        Change("m.dense.trainable, m.optimizer.clipvalue = True, 0.1", FIT,
               "Model.optimizer.clipvalue was None"),
    )),
    *((MODEL, (Change("scale = 3.0", call, "scale was 2.0 when Model."),))
      for call in (BATCH, "m.predict_on_batch(X)")),
    *((OPTIMIZER, (of_optimizer(name),))
      for name in ("clipvalue", "clipnorm", "global_clipnorm", "weight_decay")),
    (OPTIMIZER, (Change("opt.clipvalue = None; opt.learning_rate = 0.5", "f()"),)),
    (CONCRETE, (Change("scale = 2", "c(x)"), Change("scale = 3.0", "c(x)", "scale was 2.0"))),
    (STRATEGY, (
        Change("scale = 2", "strategy.run(f, (x,))"),
        Change("scale = 3.0", "strategy.run(f, (x,))", "scale was 2.0 when f was traced"),
    )),
)  # fmt: skip


@pytest.fixture
def cells(shell: Shell) -> Shell:
    """A session in which TensorFlow is used, with the extension loaded."""
    data = {"X": np.ones((4, 3), "f"), "Y": np.ones((4, 1), "f")}
    shell.names |= {"tf": tf, "keras": keras, "np": np, "x": tf.ones(3), **data}
    shell.run("pass")  # after a cell in which TensorFlow is there, its traces are seen
    return shell


def last_call(cells: Shell, call: str) -> Any:
    cells.run(f"%%trace_cached -qv seen\n{call}")
    return cells.names["seen"].calls[-1]


@pytest.mark.parametrize(("before", "changes"), CASES)
def test_what_is_stale_is_named_and_nothing_else(
    cells: Shell, before: str, changes: tuple[Change, ...]
) -> None:
    cells.run("\n".join([before, *dict.fromkeys(change.call for change in changes)]))
    for change in changes:
        cells.run(change.code)
        call = last_call(cells, change.call)
        told = "; ".join(each.words() for each in call.why)
        expected = "STALE" if change.stale else "CACHED", ""
        assert (change, call.state, call.unknown) == (change, *expected), told
        assert change.stale in told, told


def test_programs_of_one_model_that_do_not_agree_are_not_known(cells: Shell) -> None:
    cells.run(MODEL)
    cells.run(PREDICT)
    cells.run("scale = 3.0; m.predict(np.ones((2, 3), 'f'), verbose=0)")  # another program
    call = last_call(cells, PREDICT)
    assert (call.state, "runs today's scale" in call.unknown) == ("CACHED", True), call.unknown


def test_looking_at_a_model_changes_nothing_of_it(cells: Shell) -> None:
    cells.run(f"{MODEL}\n{FIT}; {PREDICT}")
    cells.run("scale = 3.0")
    m, data = cells.names["m"], (cells.names["X"], cells.names["Y"])

    def state() -> list[Any]:
        variables = [*m.variables, *m.optimizer.variables, *m.metrics_variables]
        made = [m.train_function, m.predict_function, sorted(vars(m)), [*m.losses]]
        return [*made, *(np.asarray(each).tolist() for each in variables)]

    before = state()
    (watch,) = (w for f, w in call_watches(loaded()[0]) if f.name == "tensorflow")
    assert find_stale(watch, m.fit, data, {})
    assert find_stale(watch, m.predict, data[:1], {})
    assert state() == before


def test_of_a_trace_that_nothing_leads_back_to_that_is_said(cells: Shell, tmp_path: Path) -> None:
    cells.run("c = tf.function(lambda x: x * 2.0).get_concrete_function(x)")
    gc.collect()
    call = last_call(cells, "c(x)")
    assert "runs today's code: its trace was not seen" in call.unknown
    cells.names["path"] = str(tmp_path)
    cells.run("module = tf.Module(); module.f = tf.function(lambda x: x)\n"
              "tf.saved_model.save(module, path, module.f.get_concrete_function(x))")  # fmt: skip
    cells.run("loaded = tf.saved_model.load(path).signatures['serving_default']")
    assert last_call(cells, "loaded(x)").unknown == ""  # there is no code of its own


def test_what_our_own_looks_trace_is_no_trace_of_the_session(shell: Shell) -> None:
    shell.run("pass")  # after a cell in which TensorFlow is there, its traces are seen
    shell.names |= {"tf": tf, "x": tf.ones(3), "scale": 2.0}
    shell.run("@tf.function\ndef g(x): return x * scale\n@tf.function\ndef f(x): return g(x)\nf(x)")
    shell.run("scale = 3.0")
    assert logged_by_looks(shell, "f(x)") == []
