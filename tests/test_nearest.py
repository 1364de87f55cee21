"""`python -m tests --quick` runs what a change can reach, modules that are loaded by name too."""

from typing import TYPE_CHECKING

import pytest

from tests.nearest import find_tests, imports

if TYPE_CHECKING:
    import grimp

#: Packages without code, and what pytest itself loads.
WITHOUT = (("frameworks", "disk_cache"), ("benchmarks", "pytest_plugin"))


@pytest.fixture(scope="module")
def graph() -> "grimp.ImportGraph":
    """Of all files, which takes two seconds; nothing here changes it."""
    return imports()


def test_a_test_reaches_every_module(graph: "grimp.ImportGraph") -> None:
    tests = {each for each in graph.modules if each.rpartition(".")[2].startswith("test_")}
    own = {each for each in graph.modules if each.startswith("ipyjaxbench.")}
    alone = {each for each in own if tests.isdisjoint(graph.find_downstream_modules(each))}
    # A name that stands here as one text would count as a use.
    assert alone == {".".join(("ipyjaxbench", *parts)) for parts in WITHOUT}


@pytest.mark.parametrize(
    ("changed", "first"),
    [("comparison/scaling_blocks.py", "comparison/test_scaling.py"),
     ("jupyter/fwcompare_many.py", "jupyter/"),
     ("adapters/torch/waits.py", "adapters/torch/"),
     ("adapters/jax/retracing/cache_key.py", "adapters/jax/test_cache_key.py")],
)  # fmt: skip
def test_the_nearest_come_first(graph: "grimp.ImportGraph", changed: str, first: str) -> None:
    nearest, *_ = find_tests([f"ipyjaxbench/{changed}"], graph)
    assert f"tests/{first}" in str(nearest)
