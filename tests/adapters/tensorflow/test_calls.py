"""Any call in TensorFlow gives a program, or a diagnosis: over Keras too, and counted."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import UntraceableError
from ipyjaxbench.adapters.tensorflow.graphs import dataset_guard
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

X, W = tf.ones((3, 4)), tf.Variable(tf.ones((4, 2)), name="w")


def flagged(x: Any, neg: bool) -> Any:
    return -x if neg else x


@tf.function(autograph=False)
def plain(x: Any) -> Any:
    return tf.function(tf.sin)(x) @ W


class Model(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.last = keras.layers.Dense(1)

    def call(self, x: Any, training: bool = False) -> Any:
        return self.last(x)


def step(model: Any, optimizer: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x, training=True) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
    return grads


def made(x: Any) -> Any:
    return x * tf.Variable(1.0)


def summed(dataset: Any) -> Any:
    total = 0.0
    for each in dataset:
        total += tf.reduce_sum(each)
    return total


def listed(dataset: Any) -> Any:
    return [each * 2 for each in dataset]


def compiled() -> Any:
    model = keras.Sequential([keras.Input((4,)), LAYERS.Dense(3), LAYERS.Dropout(0.5)])
    model.compile("adam", "mse")
    return model


LAYERS = keras.layers
SUBCLASSED, TRAINED = Model(), compiled()
SUBCLASSED(X)
ADAM = TRAINED.optimizer
ADAM.build(TRAINED.trainable_variables)
DATASET = tf.data.Dataset.from_tensor_slices(np.ones((6, 2), "f")).batch(2)
NAMES = {
    "dataset": DATASET, "pairs": iter(DATASET), "taken": lambda pairs: next(pairs) * 2, "w": W,
    "summed": summed, "listed": listed, "plain": plain, "tf": tf, "keras": keras, "x": X,
    "layers": LAYERS, "flagged": flagged,
    "h": np.ones((3, 4), "f"), "model": SUBCLASSED, "unbuilt": Model(), "step": step, "adam": ADAM,
    "sgd": keras.optimizers.SGD(momentum=0.9), "by_numpy": lambda x: np.sin(x) + 1, "made": made,
    "batch": (X, True), "built": TRAINED, "new": compiled(),
    "ragged": tf.ragged.constant([[1.0, 2.0], [3.0]]), "sparse": tf.sparse.from_dense(X),
    "g": tf.random.Generator.from_seed(1), "dense": LAYERS.Dense(4),
}  # fmt: skip
CALLS = """
x[0] * 2 + tf.sin(x[1])
tf.strings.join([tf.constant("a"), "b"])
g.normal((3,))
tf.while_loop(lambda v: tf.reduce_sum(v) < 99, lambda v: (v * 2,), (x,))
ragged * 2.0
tf.sparse.sparse_dense_matmul(sparse, w)
flagged(*batch)
plain(x)
tf.function(flagged, jit_compile=True)(x, True)
dense(x)
built(h)
model(x, training=True)
keras.ops.softmax(x)
step(built, adam, x)
built.train_step((x, tf.ones((3, 3))))
adam.apply([v * 2 for v in built.trainable_variables], built.trainable_variables)
taken(pairs)
summed(dataset)
dataset.map(lambda v: v * 2)
(lambda v: tf.TensorArray(tf.float32, 3).unstack(v))(x)
""".strip().splitlines()
#: The first words of what is said instead.
MEANT_TO_FAIL = {
    "by_numpy(x)": "NumPy needs concrete values",
    "listed(dataset)": "Python iterates over a dataset",
    "made(x)": "The code creates a tf.Variable",
    "unbuilt(x)": "'model_1' is not built yet, and tracing would build it: call it once first",
    "(lambda v: unbuilt(v))(x)": "unbuilt is not built yet, and tracing would build it",
    "step(built, sgd, x)": "optimizer is not built yet, and tracing would build it: first run",
    "new.train_step((x, x[:, :3]))": "the model's optimizer is not built yet",
    "built.predict(x)": "predict() is a loop over batches in Python, and no program",
}


def test_calls_of_all_kinds_give_a_program_or_say_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_guard, "_MAX_ELEMENTS", 20)
    failed = {}
    for code in (*CALLS, *MEANT_TO_FAIL):
        try:
            found = trace_program(Source.plain(code), dict(NAMES), GraphOptions(), "tensorflow")
            assert found.outputs or code.startswith("adam.apply"), code
            assert found.text() or not found.operations, code
            assert found.live is not None
            assert [*found.live.nodes()][-1].name == "out"
        except UntraceableError as error:
            failed[code] = error.diagnosis.because
        except SnippetError as error:
            failed[code] = str(error)
    assert failed.keys() == MEANT_TO_FAIL.keys()
    assert all(failed[code].startswith(words) for code, words in MEANT_TO_FAIL.items())
    # It builds and traces nothing, and takes nothing from a dataset.
    assert not any(NAMES[name].built for name in ("unbuilt", "dense", "sgd"))
    assert plain.experimental_get_tracing_count() == 0
    found = trace_program(Source.plain("pairs.get_next()"), NAMES, GraphOptions())
    assert (found.framework, found.outputs[0].shape) == ("tensorflow", (-1, 2))
    assert len([*NAMES["pairs"]]) == 3
