"""What a call in TensorFlow has to do: products by dtype, bytes where all move; its peaks."""

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from ipyjaxbench.graphs.components import Workload
from tests.loads import BYTES, PRODUCT, N, left_as_it_was, load


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))


@pytest.fixture
def t() -> Any:
    return tf.ones((N, N))


@pytest.mark.parametrize("code", ["t @ t", "f(t)", "tf.einsum('ij,jk->ik', t, t)"])
def test_a_product_in_tensorflow_is_counted(t: Any, code: str) -> None:
    found = load("tensorflow", code, tf=tf, t=t, f=tf.function(lambda t: tf.matmul(t, t)))
    assert found is not None
    assert found.products == {"float32": PRODUCT}


def test_elementwise_work_in_tensorflow_moves_all(t: Any) -> None:
    assert load("tensorflow", "tf.exp(t) + t", tf=tf, t=t) == Workload({}, False, 2 * BYTES)


@pytest.mark.parametrize(
    "code", ["t[:2] + 1", "tf.identity(t)", "tf.gather(t, [0])", "one(t, t + 1)"]
)
def test_where_not_all_of_every_tensor_is_moved_in_tensorflow_bytes_are_not_told(
    t: Any, code: str
) -> None:
    found = load("tensorflow", code, tf=tf, t=t, one=lambda t, unused: t + 1)
    assert found is not None
    assert found.nbytes is None


def layers(wrap: Any) -> Any:
    """The gradient of three layers, whose values in between are recomputed if so wrapped."""
    inner = tf.function(lambda x, w: tf.tanh(x @ w))

    def gradient(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch((x, w))
            for layer in (lambda x, w: tf.tanh(x @ w), tf.tanh, inner):
                x = wrap(layer)(x, w) if layer is not tf.tanh else tf.tanh(x)
            loss = tf.reduce_sum(x)
        return tape.gradient(loss, w)

    return gradient


@pytest.mark.parametrize(
    ("wrap", "again"), [(tf.recompute_grad, 2), (lambda f: f, 0)], ids=["recomputed", "kept"]
)
def test_products_that_recompute_grad_does_again_are_told_apart(
    t: Any, wrap: Any, again: int
) -> None:
    found = load("tensorflow", "f(x, w)", f=layers(wrap), x=t, w=t + 1)
    assert found is not None
    assert found.recomputed == ({"float32": again * PRODUCT} if again else {})
    kept = load("tensorflow", "f(x, w)", f=layers(lambda f: f), x=t, w=t + 1)
    assert kept is not None
    assert found.products["float32"] == kept.products["float32"] + again * PRODUCT


def test_convolutions_in_tensorflow_may_be_computed_by_shortcuts(t: Any) -> None:
    image, kernel = tf.ones((1, 8, 8, 3)), tf.ones((3, 3, 3, 4))
    found = load("tensorflow", "tf.nn.conv2d(i, k, 1, 'VALID') + 1", tf=tf, i=image, k=kernel)
    assert found is not None
    assert (found.shortcuts, found.products) == (True, {"float32": 2 * 6 * 6 * 4 * 27})
    plain = load("tensorflow", "t @ t", t=t)
    assert plain is not None
    assert not plain.shortcuts


def test_loops_in_tensorflow_of_unknown_turns_are_not_known(t: Any) -> None:
    def looped(t: Any) -> Any:
        return tf.while_loop(lambda c: tf.reduce_sum(c) < 9.0, lambda c: (c @ c,), (t,))[0]

    assert load("tensorflow", "f(t)", f=looped, t=t) is None


def test_measuring_leaves_tensorflow_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def state() -> Any:
        rounds = tf.config.experimental.tensor_float_32_execution_enabled()
        return rounds, tf.config.threading.get_intra_op_parallelism_threads()

    tf.ones(3)
    found = left_as_it_was(state, monkeypatch)
    assert "tensorflow" in [each.framework for each in found.found]
    assert all(each.products["float32"] > 0 for each in found.found)
