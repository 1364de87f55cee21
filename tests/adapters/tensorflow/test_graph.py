"""The graph of a call in TensorFlow: of a new tf.function, so that none of the user's grows."""

import importlib
import linecache
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import Graph, SnippetError, UntraceableError
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode import Call
from ipyjaxbench.usercode.snippet import Source

X, W = tf.ones((3, 4)), tf.Variable(tf.ones((4, 5)))


@tf.function
def scaled(x: Any) -> Any:
    return tf.nn.relu(x @ W) * 2.0


def activated(x: Any, mode: str = "relu") -> Any:
    return tf.nn.relu(x) if mode == "relu" else tf.tanh(x)


def by_data(x: Any) -> Any:
    return x * 2.0 if tf.reduce_sum(x) > 0 else -x


def model() -> Any:
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(1)])


NAMES = {"__name__": "__main__", "tf": tf, "np": np, "keras": keras, "by_data": by_data,
         "model": model(), "x": X, "w": W, "scaled": scaled, "activated": activated}  # fmt: skip


def graph(code: str) -> Graph:
    return trace_program(Source.plain(code), dict(NAMES), GraphOptions())


@pytest.mark.parametrize(
    ("code", "operations"),
    [
        ("scaled(x)", ["ReadVariableOp", "MatMul", "Relu", "Const", "Mul"]),
        ("activated(x, mode='tanh')", ["Tanh"]),
        ("x @ w", ["ReadVariableOp", "MatMul"]),
    ],
)
def test_a_call_is_shown_as_its_operations(code: str, operations: list[str]) -> None:
    found = graph(code)
    assert [line.split(" = ")[1].split("(")[0] for line in found.program.splitlines()] == operations
    assert found.operations == len(operations)


def test_inputs_outputs_and_work_are_told() -> None:
    found = graph("x @ w")
    assert [(v.name, v.dtype, v.shape) for v in found.inputs] == [
        ("x", "float32", (3, 4)),
        ("w", "float32", (4, 5)),
    ]
    assert [(v.dtype, v.shape, v.nbytes) for v in found.outputs] == [("float32", (3, 5), 60)]
    assert found.flops == 2 * 3 * 4 * 5


def test_arguments_that_are_no_data_are_named() -> None:
    assert graph("activated(x, mode='tanh')").fixed == ("mode",)
    assert graph("x @ w").fixed == ()
    assert graph("(lambda v, n: v)(x, None)").fixed == ()


def of_a_global() -> Any:
    return X + 1


class Holder:
    def __init__(self) -> None:
        self.x = X

    def method(self) -> Any:
        return self.x


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (Call("f()", of_a_global), True), (Call("f()", scaled), True),
        (Call("f()", tf.zeros, (3,), {}, ("shape",)), True), (Call("f()", X.numpy), True),
        (Call("f(x)", print, (tf.float32,), {}, ("x",)), True),
        (Call("f(x)", print, (), {"end": tf.float32}), True),
        (Call("f(x)", print, (NAMES["model"],), {}, ("x",)), True),
        (Call("f(x)", len, ([1],), {}, ("x",)), False),
        (Call("f(x)", print, (None,), {}, ("x",)), False), (Call("f()", Holder().method), False),
    ],
)  # fmt: skip
def test_a_call_without_tensors_is_tensorflows_where_it_calls_or_names_some(
    call: Call, expected: bool
) -> None:
    assert references.is_tensorflows(call) is expected


def test_what_is_no_call_with_tensors_is_told_so() -> None:
    with pytest.raises(SnippetError, match=r"pass a call with some, such as  f\(x\)"):
        trace_program(Source.plain("len([3])"), dict(NAMES), GraphOptions(), "tensorflow")


def test_shapes_alone_will_do() -> None:
    options = GraphOptions(shapes=(("float32", (7, 4)),))
    found = trace_program(Source.plain("tf.tanh"), dict(NAMES), options, "tensorflow")
    assert [(v.dtype, v.shape) for v in found.outputs] == [("float32", (7, 4))]


@pytest.mark.parametrize(
    ("code", "shape", "headline", "typed"),
    [
        ("tf.boolean_mask(x, x > 0)", (-1,), "60 B + ?", "→ f32[?]"),
        ("tf.py_function(lambda v: v, [x], tf.float32)", None, "48 B + ?", "→ f32?"),
        ("tf.strings.as_string(x)", (3, 4), "48 B + ?", "→ string[3,4]"),
        ("tf.unique(x[0])", (-1,), "32 B + ?", "→ f32[?], i32[4]"),
    ],
)
def test_what_is_known_only_when_it_runs_is_shown_as_unknown(
    code: str, shape: tuple[int, ...] | None, headline: str, typed: str
) -> None:
    found = graph(code)
    first = found.outputs[0]
    assert (first.shape, first.nbytes, first.sized) == (shape, 0, False)
    for words in (headline, typed):
        assert words in str(found)
    assert "-1" not in str(found).split("shapes")[1]
    assert Graph.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("code", ["by_data(x) + 1", "(lambda v: by_data(v) + 1)(x)"])
def test_autograph_reads_what_an_expression_calls(
    code: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python that runs in a notebook has AutoGraph's warnings printed too."""
    logs = importlib.import_module("tensorflow.python.autograph.utils.ag_logging")
    monkeypatch.setattr(logs, "echo_log_to_stdout", True)
    found = graph(code)
    assert "StatelessIf(" in found.program
    assert found.text("optimized")
    assert (found.printed, capfd.readouterr().out) == ("", "")
    assert logs.echo_log_to_stdout
    assert not any(file.startswith("<typed>") for file in linecache.cache)


def test_an_expression_that_does_not_trace_is_told_as_it_was_typed() -> None:
    with pytest.raises(UntraceableError) as caught:
        graph("np.sin(x) + 1")
    found = caught.value.diagnosis
    assert (found.line, found.source) == (1, "np.sin(x) + 1")
    assert [fix.code for fix in found.fixes] == ["tf.sin(x) + 1"]


def test_what_keras_computes_is_told_by_the_line_that_calls_it() -> None:
    (line,) = graph("model(x)").lines
    assert (line.name, line.line, line.flops) == ("model(x)", 0, 2 * 3 * (4 * 3 + 3) + 3 * (3 + 1))
    (line,) = graph("model(x) + 1").lines
    assert (line.name, line.line) == ("model(x) + 1", 1)
    names = {**NAMES, "called": lambda v: model_of(v) * 2.0, "model_of": NAMES["model"]}
    found = trace_program(Source.plain("called(x)"), names, GraphOptions(src=True))
    assert {each.line > 1 for each in found.lines} == {True}
    assert "by line" in str(found)


def model_of(x: Any) -> Any:
    return NAMES["model"](x)
