"""What a call in TensorFlow has to do: products by dtype, bytes where all move."""

from typing import Any

import pytest
import tensorflow as tf

from ipyjaxbench.graphs.components import Workload
from tests.loads import BYTES, PRODUCT, N, load


@pytest.fixture
def t() -> Any:
    return tf.ones((N, N))


def loaded(code: str, **names: Any) -> Workload:
    found = load("tensorflow", code, tf=tf, **names)
    assert found is not None
    return found


@pytest.mark.parametrize("code", ["t @ t", "f(t)", "tf.einsum('ij,jk->ik', t, t)"])
def test_a_product_in_tensorflow_is_counted(t: Any, code: str) -> None:
    found = loaded(code, t=t, f=tf.function(lambda t: tf.matmul(t, t)))
    assert (found.products, found.shortcuts) == ({"float32": PRODUCT}, False)


@pytest.mark.parametrize(("code", "nbytes"), [
    ("tf.exp(t) + t", 2 * BYTES), ("t[:2] + 1", None), ("tf.identity(t)", None),
    ("tf.gather(t, [0])", None), ("one(t, t + 1)", None),
])  # fmt: skip
def test_bytes_are_told_where_all_is_moved(t: Any, code: str, nbytes: int | None) -> None:
    assert loaded(code, t=t, one=lambda t, unused: t + 1) == Workload({}, False, nbytes)


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
def test_recomputed_products_are_told_apart(t: Any, wrap: Any, again: int) -> None:
    found, kept = (loaded("f(x, w)", f=layers(w), x=t, w=t + 1) for w in (wrap, lambda f: f))
    assert found.recomputed == ({"float32": again * PRODUCT} if again else {})
    assert found.products["float32"] == kept.products["float32"] + again * PRODUCT


def test_convolutions_in_tensorflow_may_be_computed_by_shortcuts() -> None:
    image, kernel = tf.ones((1, 8, 8, 3)), tf.ones((3, 3, 3, 4))
    found = loaded("tf.nn.conv2d(i, k, 1, 'VALID') + 1", i=image, k=kernel)
    assert (found.shortcuts, found.products) == (True, {"float32": 2 * 6 * 6 * 4 * 27})


def test_loops_in_tensorflow_of_unknown_turns_are_not_known(t: Any) -> None:
    def looped(t: Any) -> Any:
        return tf.while_loop(lambda c: tf.reduce_sum(c) < 9.0, lambda c: (c @ c,), (t,))[0]

    assert load("tensorflow", "f(t)", f=looped, t=t) is None
