"""Why a call in TensorFlow does not trace: the line, the argument, and a fix that was tried."""

import linecache
import textwrap
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import Diagnosis, UntraceableError
from ipyjaxbench.adapters.tensorflow.diagnosis import diagnose
from ipyjaxbench.adapters.tensorflow.diagnosis.pitfalls import message_of
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source
from tests.adapters.shared.code import function_of

X, N = tf.ones((3, 4)), tf.constant(2)
KEPT: list[Any] = []


def sine(x: Any) -> Any:
    y = x * 2
    return np.sin(y)


def outer(x: Any) -> Any:
    return sine(x) + 1


@tf.function(autograph=False)
def signed(x: Any) -> Any:
    if tf.reduce_sum(x) > 0:
        return x
    return -x


def made(x: Any) -> Any:
    w = tf.Variable(1.0)
    return x * w


def keep(x: Any) -> Any:
    KEPT.append(x * 2)
    return x


def use(x: Any) -> Any:
    return x + KEPT[0]


class Box:
    @tf.function
    def traced(self, x: Any) -> Any:
        return np.tanh(x)


tf.function(keep)(X)
BOX = Box()
NAMES = {**globals(), "x": X, "n": N, "box": BOX}


def function(body: str, *, autograph: bool = True) -> Any:
    """A function of x and n with these lines; a `tf.function` where AutoGraph is to leave it."""
    text = "def f(x, n):\n" + textwrap.indent(body, "    ")
    f = function_of(text, __name__="__main__", tf=tf, np=np)
    return f if autograph else tf.function(f, autograph=False)


def diagnosis(code: str, **names: Any) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        trace_program(Source.plain(code), NAMES | names, GraphOptions(), "tensorflow")
    return caught.value.diagnosis


@pytest.mark.parametrize(("body", "autograph", "blamed", "fix"), [
    ("return np.mean(x, axis=0) + np.maximum(x, 0.0)", True, ("x",),
     "return tf.reduce_mean(x, axis=0) + tf.maximum(x, 0.0)"),
    ("return np.argmax(x)", True, ("x",), "return tf.experimental.numpy.argmax(x)"),
    ("return float(x[0, 0]) * x", False, ("x",), "@tf.function"),
    ("return np.sin(x)", False, ("x",), "return tf.sin(x)"),
    ("return x.numpy() * 2", True, (), "return x * 2"),
    ("for _ in range(n):\n    x = x + 1\nreturn x", False, ("n",), "@tf.function"),
    ("return [x for _ in range(n)]", True, ("n",), "n=2"),
    ("return [1.0, 2.0, 3.0][n] * x", True, ("n",), "return tf.gather([1.0, 2.0, 3.0], n) * x"),
    ("x[0] = 1.0\nreturn x", True, (),
     "x = tf.tensor_scatter_nd_update(x, [[0]], [tf.broadcast_to(1.0, x[0].shape)])"),
    ("return x * n", True, (), "return x * tf.cast(n, x.dtype)"),
])  # fmt: skip
def test_a_fix_is_told(body: str, autograph: bool, blamed: tuple[str, ...], fix: str) -> None:
    found = diagnosis("f(x, n)", f=function(body, autograph=autograph))
    assert (found.source, found.blamed) == (body.partition("\n")[0], blamed)
    assert found.fixes[0].code == fix


def test_a_fix_replaces_lines_gives_the_same_values_and_leaves_nothing_behind() -> None:
    before = signed.experimental_get_tracing_count()
    where = diagnosis("signed(x)").fixes[1]
    assert where.code == "return tf.where(tf.reduce_sum(x) > 0, x, -x)"
    assert where.replaces == "if tf.reduce_sum(x) > 0:\n    return x\nreturn -x"
    assert where.same == "without tracing"
    assert where.cost == "computes both branches, then selects one"
    assert not any(file.startswith("<fix") for file in linecache.cache)
    assert signed.experimental_get_tracing_count() == before


IN_A_FILE = 'in user code:\n\n  File "/a.py", line 1, in f  *\n    return g(x)\n\n  {}\n'


@pytest.mark.parametrize(("text", "message"), [
    ("plain", "plain"),
    (IN_A_FILE.format("ValueError: no good"), "no good"),
    ("Exception encountered when calling D.\n\n\x1b[1mtoo small\x1b[0m\n", "too small"),
    ("Arguments received by D.", "Arguments received by D."),
    (IN_A_FILE.format('out of scope\n\n  x was defined here:\n    File "/a.py", line 9, in f'),
     "out of scope"),
    (f"Exception encountered when calling D.\n\n{IN_A_FILE.format('no good')}", "no good"),
    ("It is. " + "x" * 93, "It is. " + "x" * 93),
    ("It is. " + "x" * 94, "It is"),
])  # fmt: skip
def test_of_a_message_the_part_that_says_something_is_told(text: str, message: str) -> None:
    assert message_of(ValueError(text)) == message


@pytest.mark.parametrize(("code", "because", "blamed"), [
    ("made(x)", "The code creates a tf.Variable", ()),
    ("f(x, n)", "A variable is assigned in only one branch", ()),
    ("use(x)", "A symbolic tensor leaked", ()),
    ("collected(x, n)", "A tensor of a loop that runs in the graph is stored here", ()),
    ("apart(x, n)", "A comprehension", ("x",)),
    # What Keras says of an error is told, not where it was raised.
    ("model(x[:, :3])", "The shapes are incompatible.", ()),
    ("model(x[:, :3]) + 1", "The shapes are incompatible.", ()),
    ("(lambda v: model(v[:, :3]))(x)", "The shapes are incompatible.", ()),
])  # fmt: skip
def test_there_is_advice(code: str, because: str, blamed: tuple[str, ...]) -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    f = function("if tf.reduce_sum(x) > 0:\n    y = x\nreturn y")
    apart = function("return [row * 2 for row in x]")
    collected = function("y = []\nfor i in tf.range(n):\n    y.append(x[i])\nreturn y[0]")
    found = diagnosis(code, f=f, apart=apart, collected=collected, model=model)
    assert (found.because[: len(because)], found.blamed) == (because, blamed)
    assert found.advice
    assert found.fixes == () or blamed
    if "model" in code:
        assert found.message.startswith("Input 0 ")
        assert "is incompatible with the layer" in found.message
    else:
        assert found.line


@pytest.mark.parametrize(("code", "call", "source", "fix"), [
    ("outer(x)", lambda: tf.function(outer)(X), "return np.sin(y)", "return tf.sin(y)"),
    ("signed(x)", lambda: signed(X), "if tf.reduce_sum(x) > 0:", "@tf.function"),
    ("box.traced(x)", lambda: BOX.traced(X), "return np.tanh(x)", "return tf.tanh(x)"),
    ("made(x)", lambda: tf.function(made)(X), "w = tf.Variable(1.0)", None),
    ("", lambda: tf.function(use)(X), "KEPT.append(x * 2)", None),
])  # fmt: skip
def test_functions_that_are_called_are_looked_into_also_where_a_cell_failed(
    code: str, call: Callable[[], object], source: str, fix: str | None
) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011  TensorFlow raises many kinds
        call()
    explained = diagnose.explain(caught.value)
    for found in [explained, *([diagnosis(code)] if code else [])]:
        assert found is not None
        assert found.source == source
        assert [each.code for each in found.fixes[:1]] == ([fix] if fix else [])


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_what_was_not_raised_by_a_trace_is_left_to_others(error: BaseException) -> None:
    assert diagnose.explain(error) is None
