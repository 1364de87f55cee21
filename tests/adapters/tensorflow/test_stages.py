"""What TensorFlow and XLA make of a call, stage by stage; nothing of the user's changes."""

import random
import warnings
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import Graph
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.graphs.components import Uncounted
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

X, W = tf.ones((3, 4)), tf.Variable(tf.ones((4, 5)), name="weights")
STATE = {"draws": tf.random.Generator.from_seed(3)}


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


def drawn(x: Any) -> Any:
    return x + tf.random.normal((3, 4)) + STATE["draws"].normal((3, 4))


def named(x: Any) -> Any:
    print("traced")
    return tf.strings.as_string(x)


def long(v: Any) -> Any:
    for _ in range(200):
        v = tf.sin(v)
    return v


NAMES = {"tf": tf, "x": X, "w": W, "branched": branched, "drawn": drawn, "named": named,
         "open": tf.TensorSpec((None, 4)), "long": long}  # fmt: skip


def graph(code: str, **options: Any) -> Graph:
    return trace_program(Source.plain(code), dict(NAMES), GraphOptions(**options))


@pytest.fixture(scope="module", autouse=True)
def _compiler() -> None:
    """It is started: it logs a line when it is first used."""
    graph("branched(x)", stage="optimized")


@pytest.mark.parametrize(
    ("stage", "words"),
    [("tf", "StatelessWhile("), ("stablehlo", "stablehlo.while"), ("hlo", "ENTRY"),
     ("optimized", "is_scheduled=true")],
)  # fmt: skip
def test_each_stage_has_its_text_and_no_path_of_this_machine(stage: str, words: str) -> None:
    found = graph("branched(x)", stage=stage, depth=None)
    assert found.form == stage
    assert words in found.program
    assert found.text(stage) == found.program
    for word in ("site-packages", str(Path(__file__).parent), "metadata={", "loc("):
        assert word not in found.program


def test_long_texts_are_folded_and_whole_on_demand() -> None:
    for stage, lines in (("tf", 76), ("optimized", 81)):
        found = graph("long(x)", stage=stage)
        assert len(found.program.splitlines()) == lines
        assert " more " in found.program
        assert len(found.text().splitlines()) >= 200


def test_what_xla_cannot_compile_is_said_in_one_line() -> None:
    with pytest.raises(
        SnippetError, match=r"^stage='hlo': XLA does not support AsString; use stage="
    ):
        graph("named(x)", stage="hlo")
    with pytest.raises(SnippetError, match="XLA needs the full shape of x: pass a tensor"):
        graph("tf.tanh(open)", stage="optimized")
    with pytest.raises(SnippetError, match="XLA supports dense numeric tensors only, which inputs"):
        graph("tf.strings.join([tf.constant('a')])", stage="hlo")


def test_inner_functions_are_counted_and_shown() -> None:
    found = graph("branched(x)")
    assert found.operations == 34
    assert {each.name: each.times for each in found.stats}["Relu"] == 1
    assert any(line.strip().startswith("inner(") for line in found.program.splitlines())
    assert set(found.uncounted) == {Uncounted("branch", "an if"), Uncounted("turns")}
    assert Graph.from_dict(found.to_dict()).uncounted == found.uncounted
    shown = " ".join(str(found).split())
    assert "only the costliest branch of an if" in shown
    assert "one iteration of a while loop (how many run is unknown)" in shown


def test_work_is_told_by_line_of_the_users_code() -> None:
    lines = {each.name: each for each in graph("branched(x)").lines}
    assert lines["y = tf.sin(y)"].flops == 15
    assert lines["y = tf.sin(y)"].parts == ("Sin",)
    assert lines["return tf.nn.relu(x)"].flops == 15
    assert lines["y = inner(x @ W) * 2.0"].flops == 2 * 3 * 4 * 5 + 15


def test_loops_of_known_length_are_counted_with_all_turns() -> None:
    found = graph("tf.map_fn(lambda row: row * 2.0, x)")
    assert {each.name: each.flops for each in found.stats}["Mul"] == 12
    assert found.uncounted == (Uncounted("most turns", turns=3),)
    assert "the maximum of 3 iterations of a while loop" in str(found)


@pytest.mark.parametrize("code", ["x @ w", "tf.nn.softmax(x)", "tf.reduce_mean(x)"])
def test_work_is_what_tensorflows_own_profiler_counts(code: str) -> None:
    found = graph(code)
    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    options = builder(builder.float_operation()).with_empty_output().build()
    told = tf.compat.v1.profiler.profile(found.graph.graph, options=options)
    assert found.flops == told.total_float_ops


def test_variables_and_tensors_that_are_captured_are_named_the_largest_first() -> None:
    table = tf.ones((10, 4))
    names = {**NAMES, "f": lambda v: tf.reduce_sum(table) + tf.reduce_sum(v @ W)}
    found = trace_program(Source.plain("f(x)"), names, GraphOptions())
    assert [(v.name, v.nbytes) for v in found.constants] == [("table", 160), ("weights", 80)]


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


def test_what_the_code_prints_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    found = graph("named(x)")
    assert found.printed == "traced\n"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("stage", ["tf", "hlo", "optimized"])
def test_nothing_of_the_users_changes(stage: str, capfd: pytest.CaptureFixture[str]) -> None:
    branched(X)
    tf.random.set_seed(3)
    expected = tf.random.normal((4,)).numpy()
    tf.random.set_seed(3)
    logger = tf.get_logger()

    def state() -> Any:
        counts = [each.experimental_get_tracing_count() for each in (branched, inner)]
        values = W.numpy().tolist(), STATE["draws"].state.numpy().tolist(), random.getstate()
        return (
            counts, values, [*logger.filters], logger.level, type(branched).__call__,
            [*warnings.filters],
        )  # fmt: skip

    before = state()
    capfd.readouterr()
    graph("branched(tf.ones((7, 4)))", stage=stage)
    graph("drawn(x)", stage=stage)
    assert capfd.readouterr() == ("", "")
    assert state() == before
    assert np.array_equal(tf.random.normal((4,)).numpy(), expected)


def test_a_layer_that_is_not_built_is_looked_at_as_a_copy() -> None:
    layer = keras.layers.Dense(2)
    found = trace_program(Source.plain("layer(x)"), {"layer": layer, "x": X}, GraphOptions())
    assert not layer.built
    assert [note.code for note in found.notes] == ["copy-built"]
    assert found.inputs[0].name == "inputs"
    layer(X)
    found = trace_program(Source.plain("layer(x)"), {"layer": layer, "x": X}, GraphOptions())
    assert found.notes == ()


def test_an_optimizer_that_is_not_built_is_not_built_by_looking() -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    names = {"model": model, "x": X, "y": tf.ones((3, 1))}
    with pytest.raises(SnippetError, match=r"^the model's optimizer is not built yet"):
        trace_program(Source.plain("model.train_step((x, y))"), names, GraphOptions())
    assert not model.optimizer.built
