"""A fix that traces, and gives something else in a graph than the code gives, is no fix."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import Diagnosis, UntraceableError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

X = tf.range(1.0, 4.0)
V = tf.Variable(2.0)
SEEN: list[Any] = []


def text_elsewhere(x: Any) -> Any:
    y = np.sin(x)
    return y * len(str(x))


def kind_of_a_number(x: Any) -> Any:
    n = x[0].numpy()
    return x * (2.0 if isinstance(n, np.float32) else 3.0)


def only_text(x: Any) -> Any:
    return len(f"{x[0].numpy()}")


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


def diagnosis(code: str, shapes: Any = ()) -> Diagnosis:
    with pytest.raises(UntraceableError) as caught:
        trace_program(Source.plain(code), {**globals(), "x": X}, GraphOptions(shapes=shapes))
    return caught.value.diagnosis


@pytest.mark.parametrize(
    "name",
    ["text_elsewhere", "kind_of_a_number", "only_text", "compiled", "through"],
)
def test_code_that_gives_something_else_in_a_graph_is_not_advised(name: str) -> None:
    found = diagnosis(f"{name}(x)")
    assert found.fixes == ()
    assert found.advice


def test_what_is_made_to_compare_leaves_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    SEEN.clear()
    drawn = np.random.get_state()[1].copy()
    count = compiled.experimental_get_tracing_count()
    assert [fix.code for fix in diagnosis("noting(x)").fixes] == ["return tf.sin(x) * n"]
    diagnosis("through(x)")
    assert SEEN == []
    assert (np.random.get_state()[1] == drawn).all()
    assert compiled.experimental_get_tracing_count() == count
    assert not tf.config.functions_run_eagerly()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["assigning", "drawing"])
def test_what_changes_or_draws_is_traced_alone(name: str) -> None:
    state = tf.random.get_global_generator().state.numpy()
    found = diagnosis(f"{name}(x)")
    assert [fix.code.partition(")")[0] for fix in found.fixes] == ["return tf.sin(x"]
    assert V.numpy() == 2.0
    assert (tf.random.get_global_generator().state.numpy() == state).all()


def test_of_large_tensors_a_fix_is_only_traced() -> None:
    names = {**globals(), "x": tf.zeros(2**20 + 1)}
    with pytest.raises(UntraceableError) as caught:
        trace_program(Source.plain("text_elsewhere(x)"), names, GraphOptions())
    assert caught.value.diagnosis.fixes


def test_with_shapes_alone_a_fix_is_only_traced() -> None:
    assert diagnosis("text_elsewhere", (("float32", (3,)),)).fixes
