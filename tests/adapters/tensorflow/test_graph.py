"""The graph of a call in TensorFlow, stage by stage; nothing of the user's grows or changes."""

import importlib
import linecache
import random
import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import Graph, SnippetError, UntraceableError
from ipyjaxbench.adapters.tensorflow.graphs import references
from ipyjaxbench.graphs.counts import Uncounted
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode import Call
from ipyjaxbench.usercode.snippet import Source

X, W = tf.ones((3, 4)), tf.Variable(tf.ones((4, 5)), name="weights")
TABLE = tf.ones((10, 4))
DRAWS = tf.random.Generator.from_seed(3)
MODEL = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(1)])


@tf.function
def inner(x: Any) -> Any:
    return tf.nn.relu(x)


@tf.function
def branched(x: Any) -> Any:
    y = inner(x @ W) * 2.0
    if tf.reduce_sum(y) > 0:
        y = y + 1.0
    for _ in tf.range(3):
        y = tf.sin(y)
    return y


def activated(x: Any, mode: str = "relu") -> Any:
    return tf.nn.relu(x) if mode == "relu" else tf.tanh(x)


def by_data(x: Any) -> Any:
    return x * 2.0 if tf.reduce_sum(x) > 0 else -x


def drawn(x: Any) -> Any:
    return x + tf.random.normal((3, 4)) + DRAWS.normal((3, 4))


def named(x: Any) -> Any:
    print("traced")
    return tf.strings.as_string(x)


def long(v: Any) -> Any:
    for _ in range(200):
        v = tf.sin(v)
    return v


def modelled(x: Any) -> Any:
    return MODEL(x)


NAMES = {**globals(), "__name__": "__main__", "x": X, "w": W, "model": MODEL,
         "open": tf.TensorSpec((None, 4))}  # fmt: skip


def graph(code: str, **options: Any) -> Graph:
    return trace_program(Source.plain(code), dict(NAMES), GraphOptions(**options), "tensorflow")


@pytest.mark.parametrize(("code", "operations", "fixed"), [
    ("inner(x @ w) * 2.0", ["ReadVariableOp", "MatMul", "PartitionedCall", "Const", "Mul"], ()),
    ("activated(x, mode='tanh')", ["Tanh"], ("mode",)), ("(lambda v, n: v)(x, None)", [], ()),
    ("(lambda v: -v['x'])({'x': x})", ["Neg"], ()),  # nothing but a leaf shows whose it is
])  # fmt: skip
def test_a_call_is_operations(code: str, operations: list[str], fixed: tuple[str, ...]) -> None:
    found = graph(code, depth=0)
    shown = [line.split(" = ")[1].split("(")[0] for line in found.program.splitlines()
             if " = " in line]  # fmt: skip
    assert (shown, found.fixed) == (operations, fixed)


def test_inputs_outputs_captures_and_work_are_told() -> None:
    found = graph("x @ w")
    given, made = ([(v.name, v.dtype, v.shape, v.nbytes) for v in each]
                   for each in (found.inputs, found.outputs))  # fmt: skip
    assert given == [("x", "float32", (3, 4), 48), ("w", "float32", (4, 5), 80)]
    assert (made, found.flops) == ([("", "float32", (3, 5), 60)], 2 * 3 * 4 * 5)
    found = graph("(lambda v: tf.reduce_sum(TABLE) + tf.reduce_sum(v @ W))(x)")
    assert [(v.name, v.nbytes) for v in found.constants] == [("TABLE", 160), ("weights", 80)]


@pytest.mark.parametrize(("call", "expected"), [
    (Call("f()", lambda: X + 1), True), (Call("f()", inner), True),
    (Call("f()", tf.zeros, (3,), {}, ("shape",)), True), (Call("f()", X.numpy), True),
    (Call("f(x)", print, (tf.float32,), {}, ("x",)), True),
    (Call("f(x)", print, (), {"end": tf.float32}), True),
    (Call("f(x)", print, (MODEL,), {}, ("x",)), True),
    (Call("f(x)", len, ([1],), {}, ("x",)), False),
    (Call("f(x)", print, (None,), {}, ("x",)), False),
])  # fmt: skip
def test_a_call_is_tensorflows_where_it_names_its_things(call: Call, expected: bool) -> None:
    assert references.is_tensorflows(call) is expected


def test_a_call_needs_tensors_or_their_shapes() -> None:
    with pytest.raises(SnippetError, match=r"pass a call with some, such as  f\(x\)"):
        graph("len([3])")
    found = graph("tf.tanh", shapes=(("float32", (7, 4)),))
    assert [(v.dtype, v.shape) for v in found.outputs] == [("float32", (7, 4))]


@pytest.mark.parametrize(("code", "shape", "headline", "typed"), [
    ("tf.boolean_mask(x, x > 0)", (-1,), "60 B + ?", "→ f32[?]"),
    ("tf.py_function(lambda v: v, [x], tf.float32)", None, "48 B + ?", "→ f32?"),
    ("tf.strings.as_string(x)", (3, 4), "48 B + ?", "→ string[3,4]"),
])  # fmt: skip
def test_what_is_known_only_when_it_runs_is_shown_as_unknown(
    code: str, shape: tuple[int, ...] | None, headline: str, typed: str
) -> None:
    found = graph(code)
    first = found.outputs[0]
    assert (first.shape, first.nbytes, first.sized) == (shape, 0, False)
    assert headline in str(found)
    assert typed in str(found)
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


def test_a_drawing_has_inputs_operations_and_a_result() -> None:
    live = graph("(lambda v: tf.nn.relu(v @ w))(x)").live
    assert live is not None
    nodes = [*live.nodes()]
    assert [node.label for node in nodes] == [
        "v f32[3,4]", "weights f32[4,5]", "ReadVariableOp f32[4,5]", "MatMul f32[3,5]",
        "Relu f32[3,5]", "result",
    ]  # fmt: skip
    assert nodes[-1].takes == (nodes[-2].name,)
    assert (live.compiled(), live.checks()) == (None, ())


# Stages


@pytest.fixture(scope="module")
def compiler() -> None:
    """It is started: it logs a line when it is first used."""
    graph("branched(x)", stage="optimized")


@pytest.mark.parametrize(("stage", "words"), [
    ("tf", "StatelessWhile("), ("stablehlo", "stablehlo.while"), ("hlo", "ENTRY"),
    ("optimized", "is_scheduled=true"),
])  # fmt: skip
def test_each_stage_has_its_text_and_no_path_of_this_machine(stage: str, words: str) -> None:
    found = graph("branched(x)", stage=stage, depth=None)
    assert found.form == stage
    assert words in found.program
    assert found.text(stage) == found.program
    for word in ("site-packages", str(Path(__file__).parent), "metadata={", "loc("):
        assert word not in found.program


@pytest.mark.parametrize(("stage", "lines"), [("tf", 76), ("optimized", 81)])
def test_long_texts_are_folded_and_whole_on_demand(stage: str, lines: int) -> None:
    found = graph("long(x)", stage=stage)
    assert len(found.program.splitlines()) == lines
    assert " more " in found.program
    assert len(found.text().splitlines()) >= 200


@pytest.mark.parametrize(("code", "said"), [
    ("named(x)", "^stage='hlo': XLA does not support AsString; use stage="),
    ("tf.tanh(open)", "XLA needs the full shape of x: pass a tensor"),
    ("tf.strings.join([tf.constant('')])", "XLA supports dense numeric tensors only, which"),
])  # fmt: skip
def test_what_xla_cannot_compile_is_said_in_one_line(code: str, said: str) -> None:
    with pytest.raises(SnippetError, match=said):
        graph(code, stage="hlo")


def test_inner_functions_are_counted_and_shown_and_work_is_told_by_line() -> None:
    found = graph("branched(x)")
    assert found.operations == 34
    assert {each.name: each.times for each in found.stats}["Relu"] == 1
    assert any(line.strip().startswith("inner(") for line in found.program.splitlines())
    assert {*found.uncounted} == {Uncounted("branch", "an if"), Uncounted("turns")}
    assert Graph.from_dict(found.to_dict()).uncounted == found.uncounted
    lines = {each.name: each for each in found.lines}
    assert (lines["y = tf.sin(y)"].flops, lines["y = tf.sin(y)"].parts) == (15, ("Sin",))
    assert lines["return tf.nn.relu(x)"].flops == 15
    assert lines["y = inner(x @ W) * 2.0"].flops == 2 * 3 * 4 * 5 + 15


def test_what_keras_computes_is_told_by_the_line_that_calls_it() -> None:
    flops = 2 * 3 * (4 * 3 + 3) + 3 * (3 + 1)
    for code, text, added in (
        ("model(x)", "model(x)", 0), ("model(x) + 1", "model(x) + 1", 3),
        ("modelled(x)", "return MODEL(x)", 0),
    ):  # fmt: skip
        (line,) = graph(code).lines
        assert (line.name, line.flops) == (text, flops + added)
        assert line.line == {"model(x)": 0, "model(x) + 1": 1}.get(code, line.line)


@pytest.mark.parametrize("stage", ["tf", "hlo", "optimized"])
@pytest.mark.usefixtures("compiler")
def test_nothing_of_the_users_changes(stage: str, capfd: pytest.CaptureFixture[str]) -> None:
    branched(X)
    tf.random.set_seed(3)
    expected = tf.random.normal((4,)).numpy()
    tf.random.set_seed(3)
    logger = tf.get_logger()

    def state() -> Any:
        counts = [each.experimental_get_tracing_count() for each in (branched, inner)]
        values = W.numpy().tolist(), DRAWS.state.numpy().tolist(), random.getstate()
        return (counts, values, [*logger.filters], logger.level, type(branched).__call__,
                [*warnings.filters])  # fmt: skip

    before = state()
    capfd.readouterr()
    graph("branched(tf.ones((7, 4)))", stage=stage)
    graph("drawn(x)", stage=stage)
    assert graph("named(x)").printed == "traced\n"
    assert capfd.readouterr() == ("", "")
    assert state() == before
    assert np.array_equal(tf.random.normal((4,)).numpy(), expected)


def test_a_layer_that_is_not_built_is_looked_at_as_a_copy() -> None:
    layer = keras.layers.Dense(2)
    for codes in (["copy-built"], []):
        found = trace_program(Source.plain("layer(x)"), {"layer": layer, "x": X}, GraphOptions())
        assert ([note.code for note in found.notes], layer.built) == (codes, not codes)
        assert found.inputs[0].name == "inputs"
        layer(X)
