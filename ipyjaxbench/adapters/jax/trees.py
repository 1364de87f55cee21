"""Trees as JAX walks them; a container that refuses to be walked is a leaf."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
from greenlet import getcurrent, greenlet

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import is_opaque


def leaves(tree: Any) -> list[Any]:
    """Return the leaves; the tree itself where JAX cannot walk it."""
    try:
        return list(walk(jax.tree.leaves, tree))
    except CODE_ERRORS:  # keys that cannot be sorted, and the user's own nodes
        return [tree]


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Return the leaves, and what they are put together by."""
    found, structure = walk(jax.tree.flatten, tree)
    return list(found), structure


def map_leaves(change: Callable[[Any], Any], tree: Any) -> Any:
    """Return the same tree with each leaf changed."""
    return walk(jax.tree.map, change, tree)


def leaves_with_paths(tree: Any) -> list[tuple[Any, Any]]:
    """Return each leaf, with the path to it before it."""
    return list(walk(jax.tree_util.tree_leaves_with_path, tree))


def walk(walker: Callable[..., Any], *args: Any, is_leaf: Callable[[Any], bool] = is_opaque) -> Any:
    """Walk a tree, with a function of `jax.tree`, without using up the recursion limit.

    Where JAX 0.10 raises, for a dictionary that holds itself or whose keys cannot be sorted, each
    level that it has entered counts for ever. A greenlet has a count of its own.
    """
    apart = greenlet(partial(walker, is_leaf=is_leaf))
    apart.gr_context = getcurrent().gr_context
    return apart.switch(*args)
