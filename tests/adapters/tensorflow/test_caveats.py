"""What of TensorFlow's settings changes what a figure means: told where it is, and only there."""

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.cluster_pb2 import ClusterDef, JobDef
from tensorflow.core.protobuf.tensorflow_server_pb2 import ServerDef
from tensorflow.python.eager import context as tf_context

from ipyjaxbench.adapters.shared.matmul_precision import example
from ipyjaxbench.adapters.tensorflow import caveats
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from tests.cautions import cautions

NAMES: dict[str, Any] = {"tf": tf, "a": tf.ones((8, 8)), "f": tf.function(lambda x: x + 1)}


@contextmanager
def switched(on: Callable[[], object], off: Callable[[], object]) -> Iterator[None]:
    on()
    try:
        yield
    finally:
        off()


EAGERLY = tf.config.run_functions_eagerly
CHECKS = tf.debugging.enable_check_numerics, tf.debugging.disable_check_numerics
SETTINGS: dict[str, Any] = {
    "tf.config.run_functions_eagerly is on: tf.function builds no graph":
        lambda _: switched(lambda: EAGERLY(True), lambda: EAGERLY(False)),
    "tf.debugging.enable_check_numerics is on: every result is checked.":
        lambda _: switched(*CHECKS),
    "A tf.GradientTape records every call for a backward pass, which the time does not include.":
        lambda _: tf.GradientTape(),
    "tf.profiler is active": lambda folder: tf.profiler.experimental.Profile(str(folder)),
}  # fmt: skip


@pytest.mark.parametrize("text", SETTINGS)
def test_what_is_set_around_the_code_is_told(text: str, tmp_path: Path) -> None:
    with SETTINGS[text](tmp_path):
        (note,) = cautions("f(a)", NAMES)
        plain = cautions("tf.sin(a)", NAMES)
    assert note.text.startswith(text)
    assert bool(plain) != ("eagerly" in text)  # where no tf.function is called
    assert cautions("with tf.GradientTape() as tape: y = f(a)", NAMES) == []


def rounded(device: str, left: Any, right: Any) -> Any:
    """As a GPU does that keeps ten bits of the fraction."""
    drop = 13
    left, right = ((n.view(np.uint32) >> drop << drop).view(np.float32) for n in (left, right))
    return left @ right


def test_products_that_a_gpu_rounds_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def noted(code: str, *devices: str) -> list[Note]:
        placed = Placement("a", "tensorflow", 1, "float32", (2, 2), devices, 16)
        facts = CodeFacts(inputs=(placed,), statements=tuple(ast.parse(code).body))
        return [*caveats._note_rounding(facts)]

    left, right, exact = example()
    assert np.allclose(caveats._multiply("cpu:0", left, right), exact, atol=1e-3)
    monkeypatch.setattr(caveats, "_multiply", rounded)
    (note,) = noted("a @ a", "cpu:0", "gpu:1")
    assert note.text.startswith("TF32: float32 matrix products on gpu:1 are")
    assert note.code == "default-precision"
    assert note.advice == "tf.config.experimental.enable_tensor_float_32_execution(False)"
    assert noted("a @ a", "cpu:0") == noted("a + a", "gpu:1") == []
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        assert noted("a @ a", "gpu:1") == []
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)


@pytest.mark.parametrize(("workers", "texts"), [
    (1, []), (2, ["This is the time of process 1 of 2; the others may differ."]),
])  # fmt: skip
def test_several_workers_are_told(
    monkeypatch: pytest.MonkeyPatch, workers: int, texts: list[str]
) -> None:
    tasks = {number: f"localhost:{number}" for number in range(workers)}
    cluster = ClusterDef(job=[JobDef(name="worker", tasks=tasks)])
    # As a strategy keeps it that has joined a cluster.
    server = ServerDef(cluster=cluster, task_index=1)
    monkeypatch.setattr(tf_context.context(), "_collective_ops_server_def", server)
    assert [note.text for note in cautions("tf.sin(a)", NAMES)] == texts
