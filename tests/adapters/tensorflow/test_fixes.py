"""What TensorFlow's rules write; what gives something else in a graph than before is no fix."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import Diagnosis, UntraceableError
from ipyjaxbench.adapters.tensorflow.diagnosis.rules import RULES
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source
from tests.adapters.shared.code import applied, site_of
from tests.traced import observed

X = tf.range(1.0, 4.0)
V = tf.Variable(2.0)
SEEN: list[Any] = []


def text_elsewhere(x: Any) -> Any:
    y = np.sin(x)
    return y * len(str(x))


@tf.function
def compiled(x: Any) -> Any:
    y = np.sin(x)
    return y * len(str(x))


def through(x: Any) -> Any:
    return compiled(x) + 1


def noting(x: Any) -> Any:
    SEEN.append(x)
    print("computed")
    n = np.random.rand()
    return np.sin(x) * n


def assigning(x: Any) -> Any:
    V.assign_add(1.0)
    return np.sin(x) * V


def drawing(x: Any) -> Any:
    return np.sin(x) * tf.random.uniform([3])


NAMES = {**globals(), "large": tf.zeros(2**20 + 1)}


def diagnosis(code: str, shapes: Any = ()) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        trace_program(Source.plain(code), {**NAMES, "x": X}, GraphOptions(shapes=shapes))
    return caught.value.diagnosis


@pytest.mark.parametrize("name", ["text_elsewhere", "compiled", "through"])
def test_code_that_gives_something_else_in_a_graph_is_not_advised(name: str) -> None:
    count = compiled.experimental_get_tracing_count()
    found = diagnosis(f"{name}(x)")
    assert found.fixes == ()
    assert found.advice
    assert compiled.experimental_get_tracing_count() == count
    assert not tf.config.functions_run_eagerly()


@pytest.mark.parametrize("name", ["noting", "assigning", "drawing"])
def test_comparing_leaves_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    def state() -> Any:
        drawn = np.random.get_state()[1], tf.random.get_global_generator().state.numpy()
        return V.numpy(), *(each.tolist() for each in drawn)

    before = state()
    found = diagnosis(f"{name}(x)")
    assert [fix.code.partition(")")[0] for fix in found.fixes] == ["return tf.sin(x"]
    assert state() == before
    assert (SEEN, capsys.readouterr().out) == ([], "")


def test_of_large_tensors_and_with_shapes_alone_a_fix_is_only_traced() -> None:
    assert diagnosis("text_elsewhere(large)").fixes
    assert diagnosis("text_elsewhere", (("float32", (3,)),)).fixes


# What the rules write in place of a statement, before anything is tried

NUMPY, ITS_NUMPY, _, _, _, LOOP, NUMBER, OF_NUMPY, INDEX, RIGHT, LEFT, ITEM = RULES


@pytest.mark.parametrize(("rule", "lines", "new"), [
    (NUMPY, ["y = N.sum(x, axis=0)"], ["y = tf.reduce_sum(x, axis=0)"]),
    *((NUMPY, [line], []) for line in ("y = N.argmax(x)", "y = N.linalg.norm(x)", "y = N.pi")),
    (ITS_NUMPY, ["y = N.argmax(x)"], ["y = tf.experimental.numpy.argmax(x)"]),
    *((ITS_NUMPY, [line], []) for line in ("y = N.linalg.norm(x)", "y = x.sum(y)")),
    (LOOP, ["for i in range(n):", "    x = x * i"],
     ["x = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * i), (0, x))[1]"]),
    (LOOP, ["for i in range(n):", "    x.a = x * i"], []),
    (LOOP, ["for i.a in range(n):", "    x = x * i"], []),
    (LOOP, ["for i in range(1, n):", "    x = x * i"], []),
    (LOOP, ["for i in range(n):", "    x = x * i", "else:", "    x = 1"], []),
    *((NUMBER, [f"y = {kind}(x)"], [f"y = tf.cast(x, tf.{dtype})"])
      for kind, dtype in (("int", "int32"), ("float", "float32"), ("bool", "bool"))),
    *((OF_NUMPY, [f"y = x.{method}()"], ["y = x"]) for method in ("numpy", "item")),
    (INDEX, ["y = x[n]"], ["y = tf.gather(x, n)"]),
    *((INDEX, [line], []) for line in ("y = x[1]", "y = x[n, 1]", "y = x[n:]", "x[n] = y")),
    (RIGHT, ["y = x * n"], ["y = x * tf.cast(n, x.dtype)"]), (RIGHT, ["y = 2 * n"], []),
    (LEFT, ["y = x * n"], ["y = tf.cast(x, n.dtype) * n"]), (LEFT, ["y = n * 2"], []),
    *((ITEM, [f"x[{i}] = y"],
       [f"x = tf.tensor_scatter_nd_update(x, [[{i}]], [tf.broadcast_to(y, x[{i}].shape)])"])
      for i in (0, 1)),
    *((ITEM, [line], []) for line in ("x[-1] = y", "x[n] = y", "x.a[1] = y")),
])  # fmt: skip
def test_a_statement_is_rewritten(rule: object, lines: list[str], new: list[str]) -> None:
    assert applied(rule, *lines, N=np) == new  # type: ignore[arg-type]


@pytest.mark.parametrize(("rule", "lines", "changes"), [
    (NUMPY, ["y = N.sin(x)"], ""), (NUMBER, ["y = int(x)"], "stays a tensor"),
    (LOOP, ["for i in range(n):", "    x = x * i"], "the loop runs in the graph"),
    (OF_NUMPY, ["y = x.numpy()"], "stays a tensor"), (RIGHT, ["y = x * n"], "casts one operand"),
    (INDEX, ["y = x[n]"], "the list becomes a tensor"), (ITEM, ["x[1] = y"], "makes a new tensor"),
])  # fmt: skip
def test_what_changes_is_said(rule: object, lines: list[str], changes: str) -> None:
    (edit,) = rule(site_of(*lines, N=np))  # type: ignore[operator]
    assert (edit.changes, edit.count, edit.same) == (changes, 1, True)


def test_what_is_tried_for_a_fix_is_no_program_of_the_users() -> None:
    found = observed("try: compiled(X)\nexcept Exception: pass", globals())
    (call,) = found.calls
    assert (call.state, bool(call.fixes), found.internal) == ("RAISED", True, ())
