"""What TensorFlow's rules write in place of a statement, before anything is tried."""

import numpy as N
import pytest

from ipyjaxbench.adapters.tensorflow.diagnosis.rules import RULES
from tests.adapters.shared.code import applied, site_of

NUMPY, ITS_NUMPY, _, _, _, LOOP, NUMBER, OF_NUMPY, INDEX, RIGHT, LEFT, ITEM = RULES


@pytest.mark.parametrize(("rule", "lines", "new"), [
    (NUMPY, ["y = N.sum(x, axis=0)"], ["y = tf.reduce_sum(x, axis=0)"]),
    (NUMPY, ["y = N.sin(x)"], ["y = tf.sin(x)"]),
    (NUMPY, ["y = N.argmax(x)"], []),
    (NUMPY, ["y = N.linalg.norm(x)"], []),
    (NUMPY, ["y = N.pi"], []),
    (ITS_NUMPY, ["y = N.argmax(x)"], ["y = tf.experimental.numpy.argmax(x)"]),
    (ITS_NUMPY, ["y = N.linalg.norm(x)"], []),
    (ITS_NUMPY, ["y = x.sum(y)"], []),
    (LOOP, ["for i in range(n):", "    x = x * i"],
     ["x = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * i), (0, x))[1]"]),
    (LOOP, ["for i in range(n):", "    x.a = x * i"], []),
    (LOOP, ["for i.a in range(n):", "    x = x * i"], []),
    (LOOP, ["for i in range(1, n):", "    x = x * i"], []),
    (LOOP, ["for i in range(n):", "    x = x * i", "else:", "    x = 1"], []),
    (NUMBER, ["y = int(x)"], ["y = tf.cast(x, tf.int32)"]),
    (NUMBER, ["y = float(x)"], ["y = tf.cast(x, tf.float32)"]),
    (NUMBER, ["y = bool(x)"], ["y = tf.cast(x, tf.bool)"]),
    (OF_NUMPY, ["y = x.numpy()"], ["y = x"]),
    (OF_NUMPY, ["y = x.item()"], ["y = x"]),
    (INDEX, ["y = x[n]"], ["y = tf.gather(x, n)"]),
    (INDEX, ["y = x[1]"], []),
    (INDEX, ["y = x[n, 1]"], []),
    (INDEX, ["y = x[n:]"], []),
    (INDEX, ["x[n] = y"], []),
    (RIGHT, ["y = x * n"], ["y = x * tf.cast(n, x.dtype)"]),
    (RIGHT, ["y = 2 * n"], []),
    (LEFT, ["y = x * n"], ["y = tf.cast(x, n.dtype) * n"]),
    (LEFT, ["y = n * 2"], []),
    (ITEM, ["x[1] = y"],
     ["x = tf.tensor_scatter_nd_update(x, [[1]], [tf.broadcast_to(y, x[1].shape)])"]),
    (ITEM, ["x[0] = y"],
     ["x = tf.tensor_scatter_nd_update(x, [[0]], [tf.broadcast_to(y, x[0].shape)])"]),
    (ITEM, ["x[-1] = y"], []),
    (ITEM, ["x[n] = y"], []),
    (ITEM, ["x.a[1] = y"], []),
])  # fmt: skip
def test_a_statement_is_written_in_another_way(
    rule: object, lines: list[str], new: list[str]
) -> None:
    assert applied(rule, *lines, N=N) == new  # type: ignore[arg-type]


@pytest.mark.parametrize(("rule", "lines", "changes"), [
    (NUMPY, ["y = N.sin(x)"], ""),
    (LOOP, ["for i in range(n):", "    x = x * i"], "the loop runs in the graph"),
    (NUMBER, ["y = int(x)"], "stays a tensor"),
    (OF_NUMPY, ["y = x.numpy()"], "stays a tensor"),
    (INDEX, ["y = x[n]"], "the list becomes a tensor"),
    (RIGHT, ["y = x * n"], "casts one operand"),
    (LEFT, ["y = x * n"], "casts one operand"),
    (ITEM, ["x[1] = y"], "makes a new tensor"),
])  # fmt: skip
def test_what_changes_is_said(rule: object, lines: list[str], changes: str) -> None:
    (edit,) = rule(site_of(*lines, N=N))  # type: ignore[operator]
    assert (edit.changes, edit.count, edit.same) == (changes, 1, True)
