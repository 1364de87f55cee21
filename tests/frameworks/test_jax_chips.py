"""Chips that this machine does not have: what is refused, and how answers are read."""

import importlib.util

import jax.numpy as jnp
import pytest

from ipyjaxbench import MissingLibraryError, OptionError
from ipyjaxbench.frameworks.jax import chips
from ipyjaxbench.graph import Graph
from ipyjaxbench.inspecting import inspect_code
from ipyjaxbench.options import GraphOptions
from ipyjaxbench.snippet import Source


def graph(*asked: str) -> Graph:
    return inspect_code(Source.plain("x + 1"), {"x": jnp.ones(3)}, GraphOptions(on=asked))


def test_a_chip_that_is_not_known_is_refused_with_those_that_are() -> None:
    with pytest.raises(OptionError) as caught:
        graph("tpu:v9")
    known = "tpu:v2, tpu:v3, tpu:v4, tpu:v5e, tpu:v5p, tpu:v6e"
    assert str(caught.value) == f"--on tpu:v9: it is one of {known}"


def test_without_the_compiler_the_command_that_installs_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingLibraryError) as caught:
        graph("tpu:v5e")
    assert str(caught.value) == "libtpu is not installed: pip install ipyjaxbench[tpu]"


@pytest.mark.parametrize(
    ("error", "memory", "words"),
    [
        ("E: RESOURCE_EXHAUSTED: temporaries (26.84G) exceeds available HBM (15.75G).",
         28_819_231_211, ""),
        ("JaxRuntimeError: RESOURCE_EXHAUSTED: Used 20.00M of 16.00M", 20 * 2**20, ""),
        ("JaxRuntimeError: INVALID_ARGUMENT: no\nmore", 0, "JaxRuntimeError: INVALID_ARGUMENT: no"),
    ],
)  # fmt: skip
def test_why_a_program_does_not_compile_is_read(error: str, memory: int, words: str) -> None:
    found = chips._estimate("v5e", {"error": error})
    assert found.seconds is None
    assert found.memory == pytest.approx(memory)
    assert found.error == words
