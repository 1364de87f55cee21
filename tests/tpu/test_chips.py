"""TPUs' own compilers estimate a program, on a machine that has none."""

import os
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from ipyjaxbench import Graph
from ipyjaxbench.frameworks.jax.chips import CHIPS
from ipyjaxbench.inspecting import inspect_code
from ipyjaxbench.options import GraphOptions
from ipyjaxbench.snippet import Source

NAMES = {
    "jax": jax,
    "jnp": jnp,
    "x": jax.ShapeDtypeStruct((3000, 3000), "float32"),
    "huge": jax.ShapeDtypeStruct((60_000, 60_000), "float32"),
    "tree": {"w": jnp.ones((4, 2)), "b": jnp.zeros(2)},
    "scaled": lambda tree, x, double: (x @ tree["w"] + tree["b"]) * (2 if double else 1),
}


def graph(code: str, *chips: str) -> Graph:
    return inspect_code(Source.plain(code), dict(NAMES), GraphOptions(on=chips))


@pytest.mark.parametrize(("chip", "expected"), [("v5e", 474e-6), ("v6e", 158e-6), ("v2", 2.37e-3)])
def test_the_product_of_the_blog_post_is_estimated(chip: str, expected: float) -> None:
    (found,) = graph("jnp.dot(x, x.T)", f"tpu:{chip}").estimates
    assert found.seconds == pytest.approx(expected, rel=0.05)
    assert found.flops == pytest.approx(54e9, rel=0.01)
    assert 72_000_000 <= found.memory < found.limit


def test_every_chip_that_is_named_has_a_compiler() -> None:
    found = graph("jnp.tanh(x)", *(f"tpu:{name}" for name in CHIPS))
    assert [each.chip for each in found.estimates if each.seconds] == [
        f"tpu:{name}" for name in CHIPS
    ]


def test_a_program_too_large_for_a_chip_is_called_so_and_the_others_go_on() -> None:
    small, large = graph("huge + 1", "tpu:v5e", "tpu:v5p").estimates
    assert small.seconds is None
    assert small.memory == pytest.approx(2 * 4 * 60_000**2, rel=0.01)
    assert large.seconds is not None
    text = str(graph("huge + 1", "tpu:v5e"))
    assert "too large" in text
    assert "26.8 GiB of 16.0 GiB" in text


def test_trees_and_static_arguments_are_compiled_too() -> None:
    (found,) = graph("scaled(tree, jnp.ones((3, 4)), True)", "tpu:v5e").estimates
    assert found.seconds


def test_nothing_is_left_behind() -> None:
    before = dict(os.environ)
    graph("jnp.tanh(x)", "tpu:v5e")
    assert dict(os.environ) == before
    assert jax.default_backend() == "cpu"
    assert not Path("/tmp/libtpu_lockfile").exists()
