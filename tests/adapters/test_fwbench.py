"""``fwbench`` on code of each framework."""

from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from ipyjaxbench.records import read_benchmarks
from tests.benchmarks.suite import Pytest, suite, work

__all__ = ["suite", "work"]  # fixtures
FRAMEWORKS = {
    "jax": "import jax\nf = jax.jit(lambda x: (x * 2).sum())\nx = jax.numpy.ones(8)",
    "torch": "import torch\nf = lambda x: (x * 2).sum()\nx = torch.ones(8)",
    "tensorflow": "import tensorflow as tf\n"
    "f = tf.function(lambda x: tf.reduce_sum(x * 2))\nx = tf.ones(8)",
    "numpy": "import numpy\nf = lambda x: (x * 2).sum()\nx = numpy.ones(8)",
}


for each in FRAMEWORKS:  # which changes the environment when it is loaded
    with suppress(ImportError):
        import_module(each)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_each_framework_gives_its_value_and_its_name(suite: Pytest, name: str, work: Path) -> None:
    pytest.importorskip(name)
    code = f"{FRAMEWORKS[name]}\ndef test_it(fwbench):\n    assert float(fwbench(f, x)) == 16"
    done = suite(code, "--fwbench-json", "a.json")
    assert done.returncode == 0, done.stdout
    (found,) = read_benchmarks(work / "a.json")
    assert name in found.entry.environment.frameworks
    assert found.entry.first_call or name not in ("jax", "tensorflow")
    assert ("first call" in done.stdout) is bool(found.entry.first_call)
