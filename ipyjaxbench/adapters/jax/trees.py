"""Trees as JAX walks them; a container that refuses to be walked is a leaf."""

from collections.abc import Callable
from typing import Any

import jax

from ipyjaxbench.usercode.objects import is_opaque


def leaves(tree: Any) -> list[Any]:
    """The leaves; the tree itself where JAX cannot walk it."""
    try:
        return list(jax.tree.leaves(tree, is_leaf=is_opaque))
    except Exception:  # noqa: BLE001  keys that cannot be sorted, and the user's own nodes
        return [tree]


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves, and what they are put together by."""
    found, structure = jax.tree.flatten(tree, is_leaf=is_opaque)
    return list(found), structure


def mapped(change: Callable[[Any], Any], tree: Any) -> Any:
    """The same tree with each leaf changed."""
    return jax.tree.map(change, tree, is_leaf=is_opaque)


def with_paths(tree: Any) -> list[tuple[Any, Any]]:
    """Each leaf, with the path to it before it."""
    return list(jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_opaque))
