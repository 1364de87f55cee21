"""What code copies of TensorFlow's tensors."""

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import constant_op, ops

from ipyjaxbench import Transfers
from ipyjaxbench.device.watch_transfers import transfer_code
from ipyjaxbench.usercode.snippet import Source


def ran(code: str, **names: Any) -> Transfers:
    found, error = transfer_code(Source.plain(code), {"tf": tf, "np": np, **names})
    assert error is None
    return found


def rows(found: Transfers) -> list[tuple[str, str, int, bool, str]]:
    return [(t.text, t.direction, t.copied, t.asked, t.free) for t in found.transfers]


def test_the_numpy_method_copies_and_numpy_itself_reads_in_place() -> None:
    x = tf.ones((10, 10))
    code = "x.numpy()\nnp.asarray(x)\nnp.sum(x)\nfloat(x[0, 0])\nnp.array(x)"
    assert rows(ran(code, x=x)) == [
        ("x.numpy()", "to the host", 400, True, ""),
        ("np.asarray(x)", "to the host", 0, True, "shares memory"),
        ("np.sum(x)", "to the host", 0, False, "shares memory"),
        ("float(x[0, 0])", "to the host", 0, True, "shares memory"),
        ("np.array(x)", "to the host", 400, True, ""),
    ]


def test_numpy_arrays_become_tensors_asked_for_or_not() -> None:
    n, x = np.ones((10, 10), np.float32), tf.ones((10, 10))
    g = tf.function(lambda a: a + 1)
    found = ran("tf.constant(n)\nx + n\ng(n)\ntf.matmul(x, n)", n=n, x=x, g=g)
    assert rows(found) == [
        ("tf.constant(n)", "to devices", 400, True, ""),
        ("x + n", "to devices", 400, False, ""),
        ("g(n)", "to devices", 400, False, ""),
        ("tf.matmul(x, n)", "to devices", 400, False, ""),
    ]
    assert all(t.seconds for t in found.transfers)


def test_nothing_stays_replaced() -> None:
    def state() -> tuple[object, ...]:
        kind = ops.EagerTensor
        return (
            kind.numpy, kind._numpy_internal, kind._copy_to_device, "numpy" in vars(kind),
            constant_op.convert_to_eager_tensor,
        )  # fmt: skip

    before = state()
    ran("tf.constant(np.ones(3)).numpy()")
    assert state() == before


def test_functions_of_the_cell_become_graphs() -> None:
    found = ran("@tf.function\ndef f(a):\n    return a * 2\ny = f(tf.ones(3)).numpy()")
    assert [t.text for t in found.transfers] == ["f(tf.ones(3)).numpy()"]
