"""``fwbench`` on code of each framework."""

from importlib import import_module
from pathlib import Path

from ipyjaxbench.records import read_benchmarks
from tests.benchmarks.suite import Pytest, suite, work

__all__ = ["suite", "work"]  # fixtures
CODE = """
import jax, numpy, tensorflow as tf, torch

SESSIONS = {
    "jax": (jax.jit(lambda x: (x * 2).sum()), jax.numpy.ones(8)),
    "torch": (lambda x: (x * 2).sum(), torch.ones(8)),
    "tensorflow": (tf.function(lambda x: tf.reduce_sum(x * 2)), tf.ones(8)),
    "numpy": (lambda x: (x * 2).sum(), numpy.ones(8)),
}

def test_jax(fwbench):
    assert float(fwbench(*SESSIONS["jax"])) == 16

def test_torch(fwbench):
    assert float(fwbench(*SESSIONS["torch"])) == 16

def test_tensorflow(fwbench):
    assert float(fwbench(*SESSIONS["tensorflow"])) == 16

def test_numpy(fwbench):
    assert float(fwbench(*SESSIONS["numpy"])) == 16
"""
for each in ("jax", "torch._dynamo", "tensorflow"):
    import_module(each)  # changes the environment when it is loaded


def test_each_framework_gives_its_value_and_its_name(suite: Pytest, work: Path) -> None:
    done = suite(CODE, "--fwbench-json", "a.json")
    assert done.returncode == 0, done.stdout
    found = [*read_benchmarks(work / "a.json")]
    for each, name in zip(found, ("jax", "torch", "tensorflow", "numpy"), strict=True):
        assert name in each.entry.environment.frameworks
        assert each.entry.first_call or name not in ("jax", "tensorflow")
    assert "first call" in done.stdout
