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
from ipyjaxbench.graphs.trace_program import trace_call, trace_program
from ipyjaxbench.usercode import Call
from ipyjaxbench.usercode.snippet import Source

X = tf.ones((3, 4))
KEPT: list[Any] = []
DRAWS = np.random.default_rng(3)


class Cached(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table: Any = None
        self.items: list[Any] = []
        self.named: dict[Any, Any] = {"a": tf.Variable(1.0)}

    def __call__(self, x: Any) -> Any:
        if self.table is None:
            self.table = tf.range(4.0)
        self.items.append(x)
        self.named["x"] = x
        return x * self.table

    @tf.function
    def traced(self, x: Any) -> Any:
        self.items.append(x)
        return x

    @functools.cached_property
    def axis(self) -> Any:
        return tf.range(4.0)

    def along(self, x: Any) -> Any:
        return x * self.axis


class Counting(keras.layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.n, self.last, self.history = 0, None, []

    def call(self, x: Any) -> Any:
        self.n += 1
        self.last = x
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


def drawn(x: Any) -> Any:
    noise = DRAWS.normal() + np.random.normal() + random.random()
    return x * noise


@keras.saving.register_keras_serializable()  # as only those can be copied
class Appending(keras.layers.Layer):
    def build(self, shape: Any) -> None:
        self.w = self.add_weight(shape=(shape[-1],))

    def call(self, x: Any) -> Any:
        self.last = x
        return append(x) * self.w


def fails(x: Any) -> Any:
    KEPT.append(x)
    return np.sin(x)


def regularized() -> Any:
    layer = keras.layers.Dense(2, activity_regularizer="l2")
    layer(X)
    return layer


def trained() -> Any:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1), keras.layers.Dropout(0.5)])
    model.compile("adam", "mse")
    model.optimizer.build(model.trainable_variables)
    return model


COUNTING = Counting()
COUNTING(X)
NAMES = {**globals(), "tf": tf, "x": X, "module": Cached(), "counting": COUNTING,
         "unbuilt": Appending(), "regularized": regularized(), "trained": trained()}  # fmt: skip


def graph(code: str, stage: str = "tf") -> Graph:
    return trace_program(Source.plain(code), NAMES, GraphOptions(stage=stage), "tensorflow")


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("append(x) + 1", "KEPT"), ("unbuilt(x)", "KEPT"), ("cached(x)", "axis"),
        ("keras.Sequential([unbuilt])(x)", "KEPT"), ("tf.function(append)(x)", "KEPT"),
        ("module(x)", "self.table"), ("module(x)", "self.items"), ("module(x)", "self.named"),
        ("module.traced(x)", "self.items"), ("module.along(x)", "self.axis"),
        ("counting(x)", "self.last"), ("counting(x)", "self.history"),
    ],
)  # fmt: skip
def test_a_symbolic_tensor_is_not_left_behind_and_what_keeps_it_is_named(
    code: str, name: str
) -> None:
    graph(code)
    found = graph(code)  # what was left behind would be kept no second time
    (note,) = [note for note in found.notes if note.code == "tracer-kept"]
    assert name in note.text.partition(". ")[0].replace(",", "").split()
    assert "symbolic tensor" in note.text
    assert "The old value is restored." in note.text


@pytest.mark.parametrize("stage", ["tf", "optimized"])
def test_what_the_code_changes_is_put_back_when_it_is_traced_and_compiled(stage: str) -> None:
    module, counting = NAMES["module"], NAMES["counting"]

    def state() -> Any:
        drawn = random.getstate(), DRAWS.bit_generator.state, np.random.get_state()[2]
        return counting.n, counting.last, drawn

    history, items, before = [*counting.history], module.items, state()
    for name in ("append", "counting", "module", "drawn"):
        graph(f"{name}(x)", stage).text("optimized")
    assert state() == before
    assert all(new is old for new, old in zip(counting.history, history, strict=True))
    assert module.items is items
    assert (KEPT, [*items], [*module.named]) == ([], [], ["a"])


def test_a_generator_that_is_given_and_draws_outside_of_the_graph_is_put_back() -> None:
    generator = tf.random.Generator.from_seed(1)

    def drawn_outside(x: Any, generator: Any) -> Any:
        with tf.init_scope():
            noise = generator.normal((3,))
        return x + noise

    before = generator.state.numpy()
    trace_call(Call.from_function(drawn_outside, tf.ones(3), generator), GraphOptions())
    assert (generator.state.numpy() == before).all()


def test_a_call_that_failed_leaves_nothing_either() -> None:
    with pytest.raises(UntraceableError):
        graph("fails(x)")
    assert KEPT == []


def test_a_real_call_works_after_a_look() -> None:
    for each in (Cached(), cached):
        trace_program(Source.plain("f(x)"), {"f": each, "x": X}, GraphOptions())
        assert np.isfinite(each(X).numpy()).all()
    axis.cache_clear()


def test_a_module_can_be_saved_after_a_look(tmp_path: Any) -> None:
    module = Cached()
    trace_program(Source.plain("f(x)"), {"f": module, "x": X}, GraphOptions())
    tf.train.Checkpoint(module=module).save(str(tmp_path / "saved"))
    module.items.append(tf.Variable(2.0))
    tf.train.Checkpoint(module=module).save(str(tmp_path / "saved"))


@pytest.mark.parametrize("code", ["regularized(x)", "trained.train_step((x, x[:, :1]))"])
def test_losses_and_metrics_of_keras_hold_no_symbolic_tensors(code: str) -> None:
    model = NAMES["regularized"] if code.startswith("reg") else NAMES["trained"]
    losses, built = [*model.losses], _built(model)
    graph(code)
    assert [*map(id, model.losses)] == [*map(id, losses)]
    assert _built(model) == built
    assert not any(map(tf.is_symbolic_tensor, model.losses))


def _built(model: Any) -> list[Any]:
    return [getattr(each, "built", None) for each in vars(model).values()]


def test_new_layers_of_keras_get_the_names_that_they_would_have_got() -> None:
    before = int(keras.layers.Dense(1).name.rpartition("_")[2] or 0)
    with pytest.raises(UntraceableError):
        graph("(lambda v: keras.layers.Dense(1)(v))(x)")
    assert keras.layers.Dense(1).name == f"dense_{before + 1}"


def test_names_of_attributes_are_not_taken_for_globals() -> None:
    """A layer that is not built stands for an attribute's name."""
    names = {**NAMES, "dense": keras.layers.Dense(2)}
    exec("class Model:\n    def __init__(s): s.dense = abs\n    def run(s, x): return s.dense(x)",
         names)  # fmt: skip
    found = trace_program(Source.plain("Model().run(x)"), names, GraphOptions())
    assert found.operations == 1


def test_what_is_drawn_outside_of_the_graph_is_drawn_again() -> None:
    def drawn(x: Any) -> Any:
        with tf.init_scope():
            first = tf.random.normal((4,))
        return x * first

    tf.random.set_seed(3)
    expected = tf.random.normal((4,)).numpy()
    tf.random.set_seed(3)
    trace_program(Source.plain("drawn(x)"), {"drawn": drawn, "x": X}, GraphOptions())
    assert np.array_equal(tf.random.normal((4,)).numpy(), expected)
