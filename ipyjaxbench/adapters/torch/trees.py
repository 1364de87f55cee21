"""Trees as PyTorch walks them; a container that refuses to be walked is a leaf."""

from collections.abc import Callable, Iterator
from typing import Any

from torch.utils import _pytree as pytree

from ipyjaxbench.usercode import is_opaque


def leaves(tree: Any) -> list[Any]:
    """Return the leaves of a tree."""
    return list(pytree.tree_leaves(tree, is_leaf=is_opaque))


def structure(tree: Any) -> Any:
    """Return what its leaves are put together by."""
    return pytree.tree_structure(tree, is_leaf=is_opaque)


def map_leaves(change: Callable[[Any], Any], tree: Any) -> Any:
    """Return the same tree with each leaf changed."""
    return pytree.tree_map(change, tree, is_leaf=is_opaque)


def containers(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, str]]:
    """Yield the lists, tuples and dicts of a tree, the outermost first: a path, and the type."""
    if isinstance(tree, list | tuple | dict) and not is_opaque(tree):
        yield path, type(tree).__name__
        for key, child in pytree.tree_flatten_with_path(tree, is_leaf=lambda v: v is not tree)[0]:
            yield from containers(child, (*path, *key))


def leaves_with_paths(tree: Any) -> list[tuple[Any, Any]]:
    """Return each leaf, with the path to it before it."""
    return list(pytree.tree_flatten_with_path(tree, is_leaf=is_opaque)[0])
