"""Trees that JAX refuses to walk."""

import contextvars
from typing import Any

import pytest

from ipyjaxbench.adapters.jax import trees

NAME = contextvars.ContextVar("name", default="none")


def levels_left(level: int = 0) -> int:
    try:
        return levels_left(level + 1)
    except RecursionError:
        return level


def own_namespace() -> dict[str, Any]:
    names: dict[str, Any] = {"x": 1.0}
    names["g"] = names
    return names


@pytest.mark.parametrize("tree", [own_namespace(), [[{1: 1, "a": 2}]]], ids=["cycle", "keys"])
def test_the_recursion_limit_is_as_far_away_as_before(tree: object) -> None:
    before = levels_left()
    assert trees.leaves(tree) == [tree]
    for walk in (trees.flatten, trees.leaves_with_paths, lambda each: trees.map_leaves(id, each)):
        with pytest.raises((ValueError, RecursionError, SystemError)):
            walk(tree)
    assert levels_left() == before


def test_functions_see_the_context_in_which_a_tree_is_walked() -> None:
    token = NAME.set("mine")
    assert trees.map_leaves(lambda _: NAME.get(), [1, 2]) == ["mine", "mine"]
    NAME.reset(token)
