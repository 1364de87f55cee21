"""A look at a call in TensorFlow leaves Python's state as it was, and says what would be kept."""

import functools
import random
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import Graph, UntraceableError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

X = tf.ones((3, 4))
KEPT: list[Any] = []
DRAWS = np.random.default_rng(3)
RANDOM = tf.random.Generator.from_seed(1)


class Cached(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.items: list[Any] = []
        self.named: dict[Any, Any] = {"a": tf.Variable(1.0)}

    def __call__(self, x: Any) -> Any:
        self.items.append(x)
        self.named["x"] = x
        return x * self.axis

    @tf.function
    def traced(self, x: Any) -> Any:
        self.items.append(x)
        return x

    @functools.cached_property
    def axis(self) -> Any:
        return tf.range(4.0)


class Counting(keras.layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.n, self.history = 0, []

    def call(self, x: Any) -> Any:
        self.n += 1
        self.history.append(x)
        self.add_loss(tf.reduce_sum(x))
        return x


def append(x: Any) -> Any:
    KEPT.append(x * 2)
    return x


@functools.cache
def axis() -> Any:
    return tf.range(4.0)


def cached(x: Any) -> Any:
    return x * axis()


def drawn(x: Any, generator: Any) -> Any:
    with tf.init_scope():
        noise = generator.normal((4,)) + tf.random.normal((4,))
    return x * (DRAWS.normal() + np.random.normal() + random.random()) + noise


@keras.saving.register_keras_serializable()  # as only those can be copied
class Appending(keras.layers.Layer):
    def build(self, shape: Any) -> None:
        self.w = self.add_weight(shape=(shape[-1],))

    def call(self, x: Any) -> Any:
        return append(x) * self.w


COUNTING, REGULARIZED = Counting(), keras.layers.Dense(2, activity_regularizer="l2")
for layer in (COUNTING, REGULARIZED):
    layer(X)
TRAINED = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1), keras.layers.Dropout(0.5)])
TRAINED.compile("adam", "mse")
TRAINED.optimizer.build(TRAINED.trainable_variables)
NAMES = {**globals(), "x": X, "module": Cached(), "counting": COUNTING, "unbuilt": Appending()}


def graph(code: str, stage: str = "tf") -> Graph:
    return trace_program(Source.plain(code), NAMES, GraphOptions(stage=stage), "tensorflow")


@pytest.mark.parametrize(("code", "names"), [
    ("append(x) + 1", "KEPT"), ("unbuilt(x)", "KEPT"), ("cached(x)", "axis"),
    ("keras.Sequential([unbuilt])(x)", "KEPT"), ("tf.function(append)(x)", "KEPT"),
    ("module(x)", "self.axis self.items self.named"), ("module.traced(x)", "self.items"),
    ("counting(x)", "self.history"),
])  # fmt: skip
def test_what_keeps_a_symbolic_tensor_is_named_and_put_back(code: str, names: str) -> None:
    graph(code)
    found = graph(code)  # what was left behind would be kept no second time
    (note,) = [note for note in found.notes if note.code == "tracer-kept"]
    assert {*names.split()} <= {*note.text.partition(". ")[0].replace(",", "").split()}
    assert "symbolic tensor" in note.text
    assert "The old value is restored." in note.text


@pytest.mark.parametrize("stage", ["tf", "optimized"])
def test_what_the_code_changes_and_draws_is_put_back_when_it_is_compiled_too(stage: str) -> None:
    module, counting = NAMES["module"], NAMES["counting"]

    def state() -> Any:
        drawn = random.getstate(), DRAWS.bit_generator.state, np.random.get_state()[2]
        return counting.n, [*map(id, counting.history)], drawn, RANDOM.state.numpy().tolist()

    tf.random.set_seed(3)
    expected = tf.random.normal((4,)).numpy()
    tf.random.set_seed(3)
    items, before = module.items, state()
    for code in ("append(x)", "counting(x)", "module(x)", "drawn(x, RANDOM)"):
        graph(code, stage).text("optimized")
    assert state() == before
    assert module.items is items
    assert (KEPT, [*items], [*module.named]) == ([], [], ["a"])
    assert np.array_equal(tf.random.normal((4,)).numpy(), expected)


def test_a_call_that_failed_leaves_nothing_also_no_names_of_layers() -> None:
    before = int(keras.layers.Dense(1).name.rpartition("_")[2] or 0)
    with pytest.raises(UntraceableError):
        graph("(lambda v: np.sin(append(keras.layers.Dense(1)(v))))(x)")
    assert KEPT == []
    assert keras.layers.Dense(1).name == f"dense_{before + 1}"


def test_a_real_call_works_after_a_look_and_a_module_can_be_saved(tmp_path: Any) -> None:
    module = Cached()
    for each in (module, cached):
        trace_program(Source.plain("f(x)"), {"f": each, "x": X}, GraphOptions())
    for _ in range(2):
        tf.train.Checkpoint(module=module).save(str(tmp_path / "saved"))
        module.items.append(tf.Variable(2.0))
    assert all(np.isfinite(each(X).numpy()).all() for each in (module, cached))
    axis.cache_clear()


@pytest.mark.parametrize(("code", "model"), [
    ("REGULARIZED(x)", REGULARIZED), ("TRAINED.train_step((x, x[:, :1]))", TRAINED),
])  # fmt: skip
def test_losses_and_metrics_of_keras_hold_no_symbolic_tensors(code: str, model: Any) -> None:
    def state() -> Any:
        built = [getattr(each, "built", None) for each in vars(model).values()]
        return [*map(id, model.losses)], built

    kept, before = [*model.losses], state()
    graph(code)
    assert state() == before
    assert not any(map(tf.is_symbolic_tensor, [*kept, *model.losses]))


def test_names_of_attributes_are_not_taken_for_globals() -> None:
    """A layer that is not built stands for an attribute's name."""
    code = "class Model:\n    def __init__(s): s.dense = abs\n    def run(s, x): return s.dense(x)"
    names = {**NAMES, "dense": keras.layers.Dense(2)}
    exec(code, names)
    found = trace_program(Source.plain("Model().run(x)"), names, GraphOptions())
    assert found.operations == 1
