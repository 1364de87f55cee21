"""What of TensorFlow's settings changes what a figure means: told where it is, and only there."""

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from ipyjaxbench.adapters.shared.matmul_precision import example
from ipyjaxbench.adapters.tensorflow import caveats
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing.validity.code_facts import CodeFacts
from tests.adapters.pair import run_pair
from tests.cautions import cautions

NAMES: dict[str, Any] = {"tf": tf, "a": tf.ones((8, 8)), "f": tf.function(lambda x: x + 1)}


def caution_notes(code: str) -> list[Note]:
    return cautions(code, NAMES)


@pytest.mark.parametrize(
    "code", ["f(a)", "tf.matmul(a, a)", "with tf.GradientTape() as tape: y = f(a)"]
)
def test_nothing_is_told_where_nothing_is_set(code: str) -> None:
    assert caution_notes(code) == []


def test_functions_that_run_eagerly_are_told() -> None:
    tf.config.run_functions_eagerly(True)
    try:
        (note,) = caution_notes("f(a)")
        assert caution_notes("tf.sin(a)") == []  # no tf.function
    finally:
        tf.config.run_functions_eagerly(False)
    assert note.text == (
        "tf.config.run_functions_eagerly is on: tf.function builds no graph,"
        " operations run one by one."
    )


def test_checked_numbers_are_told() -> None:
    tf.debugging.enable_check_numerics()
    try:
        (note,) = caution_notes("tf.sin(a)")
    finally:
        tf.debugging.disable_check_numerics()
    assert note.text == "tf.debugging.enable_check_numerics is on: every result is checked."


def test_a_tape_around_the_code_is_told() -> None:
    with tf.GradientTape():
        (note,) = caution_notes("f(a)")
    assert note.text == (
        "A tf.GradientTape records every call for a backward pass, which the time does not include."
    )


def test_a_profiler_is_told_while_it_runs(tmp_path: Path) -> None:
    tf.profiler.experimental.start(str(tmp_path))
    try:
        (note,) = caution_notes("f(a)")
    finally:
        tf.profiler.experimental.stop()
    assert note.text.startswith("tf.profiler is active")
    assert caution_notes("f(a)") == []


def rounded(device: str, left: Any, right: Any) -> Any:
    """As a GPU does that keeps ten bits of the fraction."""
    drop = 13
    left, right = ((each.view(np.uint32) >> drop << drop).view(np.float32)
                   for each in (left, right))  # fmt: skip
    return left @ right


def test_products_that_a_gpu_rounds_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def noted(code: str, *devices: str) -> list[Note]:
        placed = Placement("a", "tensorflow", 1, "float32", (2, 2), devices, 16)
        facts = CodeFacts(inputs=(placed,), statements=tuple(ast.parse(code).body))
        return [*caveats._note_rounding(facts)]

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


def test_the_product_is_computed_on_the_device() -> None:
    left, right, exact = example()
    assert np.allclose(caveats._multiply("cpu:0", left, right), exact, atol=1e-3)


def test_several_workers_are_told() -> None:
    printed = run_pair(
        "import json, os, sys\n"
        "workers = [f'localhost:{port}' for port in sys.argv[2:]]\n"
        "task = dict(type='worker', index=int(sys.argv[1]))\n"
        "os.environ['TF_CONFIG'] = json.dumps(dict(cluster=dict(worker=workers), task=task))\n"
        "import tensorflow as tf, ipyjaxbench\n"
        "strategy = tf.distribute.MultiWorkerMirroredStrategy()\n"
        "names = dict(tf=tf, a=tf.ones(3))\n"
        "r = ipyjaxbench.measure_code('tf.sin(a)', names, number=1, repeat=2)\n"
        "print([n.text for n in r.notes if n.code == 'processes'])"
    )
    assert printed == [
        f"['This is the time of process {i} of 2; the others may differ.']" for i in (0, 1)
    ]
