"""Why a call in TensorFlow does not trace: the line, the argument, and a fix that was tried."""

import linecache
import textwrap
from collections.abc import Callable
from traceback import walk_tb
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import Diagnosis, UntraceableError
from ipyjaxbench.adapters.tensorflow import compilation
from ipyjaxbench.adapters.tensorflow.diagnosis import diagnose
from ipyjaxbench.adapters.tensorflow.diagnosis.pitfalls import message_of
from ipyjaxbench.adapters.tensorflow.graphs import tracer, tracing
from ipyjaxbench.graphs.explain import explain
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
NAMES = {**globals(), "x": X, "n": N, "box": Box()}


def function(body: str, *, autograph: bool = True) -> Any:
    """A function of x and n with these lines; a `tf.function` where AutoGraph is to leave it."""
    text = "def f(x, n):\n" + textwrap.indent(body, "    ")
    f = function_of(text, __name__="__main__", tf=tf, np=np)
    return f if autograph else tf.function(f, autograph=False)


def diagnosis(code: str, **names: Any) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        trace_program(Source.plain(code), NAMES | names, GraphOptions(), "tensorflow")
    return caught.value.diagnosis


@pytest.mark.parametrize(
    ("body", "autograph", "blamed", "fix"),
    [
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
    ],
)  # fmt: skip
def test_the_line_the_argument_and_a_fix_that_traces_are_told(
    body: str, autograph: bool, blamed: tuple[str, ...], fix: str
) -> None:
    found = diagnosis("f(x, n)", f=function(body, autograph=autograph))
    assert (found.source, found.blamed) == (body.partition("\n")[0], blamed)
    assert found.fixes[0].code == fix


@pytest.mark.parametrize(
    ("code", "source", "blamed", "fix"),
    [
        ("outer(x)", "return np.sin(y)", ("x",), "return tf.sin(y)"),
        ("signed(x)", "if tf.reduce_sum(x) > 0:", (), "@tf.function"),
        ("box.traced(x)", "return np.tanh(x)", ("x",), "return tf.tanh(x)"),
    ],
)
def test_a_function_that_is_called_and_a_method_are_looked_into(
    code: str, source: str, blamed: tuple[str, ...], fix: str
) -> None:
    found = diagnosis(code)
    assert (found.source, found.blamed, found.fixes[0].code) == (source, blamed, fix)


def test_a_fix_replaces_lines_and_gives_the_same_values() -> None:
    where = diagnosis("signed(x)").fixes[1]
    assert where.code == "return tf.where(tf.reduce_sum(x) > 0, x, -x)"
    assert where.replaces == "if tf.reduce_sum(x) > 0:\n    return x\nreturn -x"
    assert where.same == "without tracing"
    assert where.cost == "computes both branches, then selects one"


IN_A_FILE = 'in user code:\n\n  File "/a.py", line 1, in f  *\n    return g(x)\n\n  {}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plain", "plain"),
        (IN_A_FILE.format("ValueError: no good"), "no good"),
        ("Exception encountered when calling D.\n\n\x1b[1mtoo small\x1b[0m\n", "too small"),
        ("Arguments received by D.", "Arguments received by D."),
        ("It is. " + "x" * 93, "It is. " + "x" * 93),
        ("It is. " + "x" * 94, "It is"),
    ],
)
def test_of_a_message_the_part_that_says_something_is_told(text: str, message: str) -> None:
    assert message_of(ValueError(text)) == message


@pytest.mark.parametrize(
    ("code", "because"),
    [
        ("made(x)", "The code creates a tf.Variable"),
        ("f(x, n)", "A variable is assigned in only one branch"),
        ("use(x)", "A symbolic tensor leaked"),
    ],
)
def test_what_no_rewriting_mends_has_advice(code: str, because: str) -> None:
    found = diagnosis(code, f=function("if tf.reduce_sum(x) > 0:\n    y = x\nreturn y"))
    assert found.because.startswith(because)
    assert found.advice
    assert not found.fixes
    assert found.line


def test_a_tensor_that_is_taken_apart_in_brackets_is_named() -> None:
    found = diagnosis("f(x, n)", f=function("return [row * 2 for row in x]"))
    assert found.because.startswith("A comprehension")
    assert found.blamed == ("x",)


@pytest.mark.parametrize(
    ("call", "source", "fix"),
    [
        (lambda: tf.function(outer)(X), "return np.sin(y)", "return tf.sin(y)"),
        (lambda: signed(X), "if tf.reduce_sum(x) > 0:", "@tf.function"),
        (lambda: NAMES["box"].traced(X), "return np.tanh(x)", "return tf.tanh(x)"),
        (lambda: tf.function(made)(X), "w = tf.Variable(1.0)", None),
        (lambda: tf.function(use)(X), "KEPT.append(x * 2)", None),
    ],
)
def test_a_cell_that_failed_is_explained(
    call: Callable[[], object], source: str, fix: str | None
) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011  TensorFlow raises many kinds
        call()
    found = explain(caught.value)
    assert found.source == source
    assert [each.code for each in found.fixes[:1]] == ([fix] if fix else [])


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_what_was_not_raised_by_a_trace_is_left_to_others(error: BaseException) -> None:
    assert diagnose.explain(error) is None


@pytest.mark.parametrize("code", ["model(x[:, :3])", "model(x[:, :3]) + 1", "through(x)"])
def test_what_keras_says_of_an_error_is_told_not_where_it_was_raised(code: str) -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    found = diagnosis(code, model=model, through=lambda v: model(v[:, :3]))
    assert found.message.startswith("Input 0 ")
    assert "is incompatible with the layer" in found.message
    assert found.because == "The shapes are incompatible."


def test_frames_of_the_look_are_hidden_in_what_was_raised() -> None:
    compiled = tf.function(sine)
    names = {"calling": lambda x: compiled(x) + 1, "x": X}
    with pytest.raises(UntraceableError) as caught:
        trace_program(Source.plain("calling(x)"), names, GraphOptions())
    assert caught.value.__cause__ is not None
    frames = [frame for frame, _ in walk_tb(caught.value.__cause__.__traceback__)]
    ours = {(f.f_code.co_filename, f.f_code.co_name): f.f_locals.get("__tracebackhide__")
            for f in frames}  # fmt: skip
    for place in ((tracer, "graph"), (tracing, "trace"), (compilation, "call")):
        assert ours[place[0].__file__, place[1]] is True


def test_trying_fixes_leaves_nothing_behind() -> None:
    before = signed.experimental_get_tracing_count()
    diagnosis("signed(x)")
    assert "<fix>" not in linecache.cache
    assert signed.experimental_get_tracing_count() == before
