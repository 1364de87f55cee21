"""A `tf.function` with an `input_signature` is traced with its types, whatever a call is given."""

from typing import Any

import pytest
import tensorflow as tf

from ipyjaxbench import Graph, SnippetError, UntraceableError
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source
from tests.loads import PRODUCT, N, load

ROWS = tf.TensorSpec([None, 3], tf.float32)


@tf.function(input_signature=[ROWS, {"scale": tf.TensorSpec([], tf.float32)}])
def scaled(x: Any, by: Any) -> Any:
    return x * by["scale"]


@tf.function(input_signature=[ROWS])
def by_rows(x: Any) -> Any:
    return x * x.shape[0]


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
def squared(x: Any) -> Any:
    return x @ x


def graph_of(code: str, stage: str = "tf") -> Graph:
    return trace_program(Source.plain(code), {**globals()}, GraphOptions(stage=stage))


@pytest.mark.parametrize(
    "arguments",
    ["tf.ones((2, 3)), {'scale': 2.0}", "[[1, 2, 3]], {'scale': tf.constant(2.0)}",
     "tf.ones((2, 3)), by={'scale': 2}"],
)  # fmt: skip
def test_the_program_is_that_of_the_signature(arguments: str) -> None:
    graph = graph_of(f"scaled({arguments})")
    assert [(each.name, each.shape) for each in graph.inputs] == [
        ("x", (-1, 3)), ("by['scale']", ()),
    ]  # fmt: skip
    assert graph.program == "mul: f32[?,3] = Mul(x, by)"


def test_code_that_needs_a_size_that_the_signature_leaves_open_does_not_trace() -> None:
    with pytest.raises(ValueError, match="None values not supported"):
        by_rows(tf.ones((2, 3)))
    with pytest.raises(UntraceableError, match="None values not supported"):
        graph_of("by_rows(tf.ones((2, 3)))")


@pytest.mark.parametrize(
    ("given", "told"),
    [("tf.ones((2, 4))", r"f32\[2,4\]"), ("tf.ones((2, 3), tf.int32)", r"i32\[2,3\]")],
)
def test_what_the_signature_does_not_take_is_refused(given: str, told: str) -> None:
    with pytest.raises(SnippetError, match=rf"takes f32\[\?,3\] for x, and this is {told}"):
        graph_of(f"by_rows({given})")


def test_what_xla_compiles_and_the_work_are_those_of_the_arrays_of_the_call() -> None:
    assert f"f32[{N},{N}]" in graph_of(f"squared(tf.ones(({N}, {N})))", "hlo").program
    found = load("tensorflow", "squared(t)", tf=tf, t=tf.ones((N, N)), squared=squared)
    assert found is not None
    assert found.products == {"float32": PRODUCT}
