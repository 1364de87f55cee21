"""Where TensorFlow's tensors and variables live, and what code copies of them."""

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import constant_op, ops

from ipyjaxbench.adapters.tensorflow import TensorFlow
from ipyjaxbench.device.locate import locate
from ipyjaxbench.device.protocol import ArrayInspector
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Source


class Net(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = [tf.Variable([1.0, 2.0]), {"k": tf.Variable(3.0), "a b": tf.Variable(4.0)}]
        self.bias = tf.Variable(2.0, trainable=False)


def test_parts_are_told_as_a_person_would_type_them() -> None:
    seen: list[Any] = []
    net = Net()
    keeping = tf.function(lambda x: seen.append(x + net.bias))  # handles of variables, no arrays
    keeping(tf.ones(3))
    values = {
        "f": keeping, "net": net, "r": tf.ragged.constant([[1, 2], [3]]),
        "s": tf.sparse.from_dense([[1, 0]]), "i": tf.IndexedSlices(tf.ones(2), tf.constant([0, 1])),
        "symbol": seen[0],
    }  # fmt: skip
    found = locate(values)
    assert {each.name: each.layout for each in found.arrays if each.framework} == {
        "net.bias": "variable, not trainable", "net.layers[0]": "variable",
        "net.layers[1].k": "variable", "net.layers[1]['a b']": "variable",
        **dict.fromkeys(("r.flat_values", "r.nested_row_splits[0]", "s.indices", "s.values",
                         "s.dense_shape", "i.values", "i.indices"), ""),
        "symbol": "symbolic tensor of a graph, no values",
    }  # fmt: skip
    symbol = found.arrays[-1]
    assert (symbol.name, symbol.devices, symbol.nbytes) == ("symbol", (), 0)


def test_numbers_are_given_to_numpy_with_a_type_that_it_has() -> None:
    to_numpy = TensorFlow().capability(ArrayInspector).to_numpy
    halves = to_numpy(tf.fill((2,), tf.constant(0.5, tf.bfloat16)))
    assert (halves.dtype, halves.tolist()) == (np.float32, [0.5, 0.5])
    assert to_numpy(tf.constant([1], tf.int8)).dtype == np.int8
    seen: list[Any] = []
    tf.function(lambda x: seen.append(to_numpy(x)))(tf.ones(1))
    assert seen == [None]


# What code copies


def rows(code: str, **names: Any) -> list[tuple[str, str, int, bool, str]]:
    found, error = transfer_code(Source.plain(code), {"tf": tf, "np": np, **names})
    assert error is None
    assert all(t.seconds for t in found.transfers if t.copied)
    return [(t.text, t.direction, t.copied, t.asked, t.free) for t in found.transfers]


def test_the_numpy_method_copies_and_numpy_itself_reads_in_place() -> None:
    code = "x.numpy()\nnp.asarray(x)\nnp.sum(x)\nfloat(x[0, 0])\nnp.array(x)"
    assert rows(code, x=tf.ones((10, 10))) == [
        ("x.numpy()", "to the host", 400, True, ""),
        ("np.asarray(x)", "to the host", 0, True, "shares memory"),
        ("np.sum(x)", "to the host", 0, False, "shares memory"),
        ("float(x[0, 0])", "to the host", 0, True, "shares memory"),
        ("np.array(x)", "to the host", 400, True, ""),
    ]


def test_numpy_arrays_become_tensors_asked_for_or_not_and_nothing_stays_replaced() -> None:
    def state() -> tuple[object, ...]:
        kind = ops.EagerTensor
        return (kind.numpy, kind._numpy_internal, kind._copy_to_device, "numpy" in vars(kind),
                constant_op.convert_to_eager_tensor)  # fmt: skip

    before, names = state(), {"n": np.ones((10, 10), np.float32), "x": tf.ones((10, 10))}
    made = "@tf.function\ndef g(a):\n    return a + 1\n"  # which is read as a graph
    assert rows(f"{made}tf.constant(n)\nx + n\ng(n)\ntf.matmul(x, n)", **names) == [
        ("tf.constant(n)", "to devices", 400, True, ""),
        *((text, "to devices", 400, False, "") for text in ("x + n", "g(n)", "tf.matmul(x, n)")),
    ]
    assert state() == before
