"""Trees that JAX refuses to walk."""

import contextvars
from typing import Any

import jax.numpy as jnp
import pytest

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.retracing import cache_key, callee

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


def test_so_it_is_after_a_call_with_such_arguments_was_looked_at() -> None:
    tree = {"x": jnp.ones(3), 1: 2}
    before = levels_left()
    assert [path for path, _ in cache_key.leaves("tree", tree)] == ["tree"]
    assert callee.per_example(0, (tree,), {})[1] == (tree,)
    assert callee.per_example(0, (jnp.ones((2, 3)),), {"tree": tree})[0] == "vmap"
    assert callee.per_example([0, [1]], (jnp.ones(3), 2), {})[0] == "vmap"  # axes that do not fit
    assert levels_left() == before


def test_functions_see_the_context_in_which_a_tree_is_walked() -> None:
    token = NAME.set("mine")
    assert trees.map_leaves(lambda _: NAME.get(), [1, 2]) == ["mine", "mine"]
    NAME.reset(token)
