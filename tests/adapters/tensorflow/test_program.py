"""What is counted and shown of a TensorFlow graph, operation by operation."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench import Graph
from ipyjaxbench.adapters.tensorflow.graphs import dataset_guard, lowering, references
from ipyjaxbench.graphs.counts import Uncounted
from ipyjaxbench.graphs.options import GraphOptions
from ipyjaxbench.graphs.trace_program import trace_program
from ipyjaxbench.usercode.snippet import Source

X, W = tf.ones((3, 4)), tf.ones((4, 5))
NAMES = {"tf": tf, "np": np, "x": X, "w": W, "open": tf.TensorSpec((None, 4))}


def graph(code: str, depth: int | None = 1, **names: Any) -> Graph:
    return trace_program(Source.plain(code), NAMES | names, GraphOptions(depth=depth), "tensorflow")


@pytest.mark.parametrize(("code", "flops"), [
    *((f"tf.raw_ops.{code}", each * 12) for code, each in (
        ("TanhGrad(y=x, dy=x)", 3), ("SigmoidGrad(y=x, dy=x)", 3), ("SqrtGrad(y=x, dy=x)", 2),
        ("EluGrad(gradients=x, outputs=x)", 2), ("LogSoftmax(logits=x)", 5),
        ("SoftplusGrad(gradients=x, features=x)", 3),
        ("Einsum(inputs=[x], equation='ij->ji')", 1),
    )),
    ("tf.sin(x)", 12), ("tf.cumsum(x)", 12), ("tf.transpose(x)", 0),
    ("tf.einsum('ij,jk->ik', x, w)", 2 * 3 * 4 * 5),
    ("tf.raw_ops.Einsum(inputs=[tf.ones((2, 3, 4)), w], equation='...ij,jk->...ik')",
     2 * 2 * 3 * 4 * 5),
    ("tf.cast(x, tf.int32) // 2", 12),
])  # fmt: skip
def test_operations_are_counted_by_their_numbers(code: str, flops: int) -> None:
    found = graph(code)
    assert (found.flops, found.uncounted) == (flops, ())


@pytest.mark.parametrize("code", ["x @ w", "tf.nn.softmax(x)", "tf.reduce_mean(x)"])
def test_work_is_what_tensorflows_own_profiler_counts(code: str) -> None:
    found = graph(code)
    builder = tf.compat.v1.profiler.ProfileOptionBuilder
    options = builder(builder.float_operation()).with_empty_output().build()
    told = tf.compat.v1.profiler.profile(found.graph.graph, options=options)
    assert found.flops == told.total_float_ops


def test_the_costlier_branch_counts() -> None:
    def cost(one: str, other: str) -> float:
        return graph(f"tf.cond(tf.reduce_sum(x) > 0, lambda: {one}, lambda: {other})").flops

    cheap, dear = "x * 2.0", "x @ w @ tf.transpose(w)"
    assert cost(dear, cheap) == cost(cheap, dear) == cost(dear, dear)
    assert cost(dear, dear) - cost(cheap, cheap) == 2 * 3 * 4 * 5 * 2 - 12


@pytest.mark.parametrize(("code", "uncounted"), [
    ("tf.tanh(open)", Uncounted("shape", "Tanh")),
    ("tf.linalg.cholesky(x @ tf.transpose(x))", Uncounted("operation", "Cholesky")),
    ("tf.map_fn(lambda row: row * 2.0, x)", Uncounted("most turns", turns=3)),
])  # fmt: skip
def test_what_is_not_counted_is_told_with_the_reason(code: str, uncounted: Uncounted) -> None:
    found = graph(code)
    assert found.uncounted == (uncounted,)
    assert {each.name: each.flops for each in found.stats}.get("Mul", 12) == 12  # of all turns


@pytest.mark.parametrize(("numbers", "is_told"), [(256, True), (255, False)])
def test_constants_are_told_from_a_kibibyte_on(numbers: int, is_told: bool) -> None:
    found = graph(f"(lambda v: v[0, 0] + tf.constant(np.arange({numbers}, dtype='float32')))(x)")
    assert [value.nbytes for value in found.constants] == [4 * numbers] * is_told


@pytest.mark.parametrize(("code", "shown", "is_shown"), [
    ("v[0, 0] + tf.constant(np.ones(4, 'f'))", "Const([1.0, 1.0, 1.0, 1.0])", True),
    ("v[0, 0] + tf.constant(np.ones(5, 'f'))", "[1.0", False),  # only a few are
    ("tf.matmul(v, v, transpose_b=True)", " = MatMul(v, v, transpose_b=True)", True),
    ("tf.split(v, 2, axis=1)[1] + 1.0", "(split:1, ", True),  # one of several results
])  # fmt: skip
def test_an_operation_is_shown_in_short(code: str, shown: str, is_shown: bool) -> None:
    assert (shown in graph(f"(lambda v: {code})(x)").program) is is_shown


def test_functions_are_shown_down_to_the_level_that_is_asked_for() -> None:
    @tf.function
    def deep(v: Any) -> Any:
        return tf.sin(v)

    @tf.function
    def inner(v: Any) -> Any:
        return deep(v) + 1.0

    def shown(depth: int | None) -> str:
        return graph("inner(x) * 2.0", inner=inner, depth=depth).program

    assert "inner(v: f32[3,4]): 4 operations" in shown(0)
    assert "deep(" not in shown(0)
    assert "deep(v: f32[3,4]): 1 operations" in shown(1)
    assert "Sin(" not in shown(1)
    assert "Sin(" in shown(2)
    assert shown(None) == shown(2)


def test_functions_that_call_functions_are_followed_to_the_end_once() -> None:
    names: dict[str, Any] = {}
    for number in range(9):
        exec(f"def f{number}(x): return f{(number + 1) % 9}(x)", names)
    used = [name for name, _ in references.used_values(names["f0"])]
    assert used == [*(f"f{n}" for n in range(1, 9)), "f0"]
    named = {each.__name__ for each in references.functions_of(names["f0"])}
    assert named == {f"f{n}" for n in range(9)}


def test_elements_of_a_dataset_that_are_taken_one_by_one_have_an_end() -> None:
    elements = iter(tf.data.Dataset.range(3000))
    kind = type(elements)
    before = kind.__next__
    with dataset_guard.limit_iteration():
        for _ in range(1000):
            next(elements)
        with pytest.raises(
            dataset_guard.EndlessError, match=r"^Python took 1,000 elements of a dataset"
        ):
            next(elements)
    assert kind.__next__ is before
    assert int(next(elements)) == 1000


@pytest.mark.parametrize(("message", "why"), [
    ("(No registered 'A' OpKernel)", "XLA cannot compile this: (No registered 'A' OpKernel)"),
    ("A (No registered 'A')\nB (No registered 'B')\nA (No registered 'A')",
     "XLA does not support A, B"),
    ("\nFailed getting HLO text: 'too large\nmore", "XLA cannot compile this: too large"),
    ("x" * 200, "XLA cannot compile this: " + "x" * 160),
    ("", "XLA cannot compile this: ValueError"),
])  # fmt: skip
def test_why_xla_cannot_compile_is_one_line(message: str, why: str) -> None:
    assert lowering._why(ValueError(message)) == why


@pytest.mark.parametrize(("names", "chosen"), [
    (["/device:CPU:0"], "/job:localhost/replica:0/task:0/device:CPU:0"),
    (["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"],
     "/job:localhost/replica:0/task:0/device:GPU:0"),
    (["/job:worker/replica:0/task:1/device:GPU:0"], "/job:worker/replica:0/task:1/device:GPU:0"),
])  # fmt: skip
def test_xla_compiles_for_the_device_on_which_tensorflow_computes(
    names: list[str], chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = [tf.config.LogicalDevice(name, name.split(":")[-2]) for name in names]
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda: devices)
    assert lowering._device() == chosen


@pytest.mark.parametrize(("value", "inputs"), [
    ("np.array([1 + 2j])", ["complex128"]), ("np.array([None])", []),
    ("np.array(['2026-01-01'], 'datetime64[D]')", []),
])  # fmt: skip
def test_arrays_of_numpy_may_be_inputs(value: str, inputs: list[str]) -> None:
    found = graph(f"(lambda a, b: b + 1)({value}, x)")
    assert [each.dtype for each in found.inputs] == [*inputs, "float32"]
