"""The static data of pytrees of the user's own classes: JAX compares it beside the leaves."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import ask, attributes, is_exactly

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class StaticData(NamedTuple):
    """What `jax.jit` compares of a tree, whatever its leaves are."""

    whole: Any
    parts: tuple[Any, ...]  # itself, and what is in it
    is_readable: bool  # whether all of it is values and containers of Python's

    def holds(self, attribute: Any) -> bool:
        """Whether an attribute of the tree is part of it, as far as can be told."""
        return not self.is_readable or any(_is_same(part, attribute) for part in self.parts)


def static_data(tree: Any) -> StaticData | None:
    """Return the static data of a tree; None where there is none of the user's own."""
    if is_exactly(tree, dict, list, tuple) or hasattr(type(tree), "_fields"):
        return None
    try:
        structure = trees.walk(jax.tree.structure, tree, is_leaf=lambda x: x is not tree)
        _, whole = structure.node_data()
        if is_exactly(tree, defaultdict):
            whole = tree.default_factory  # beside the keys, which leaves tell
        hash(whole)
    except CODE_ERRORS:  # what has no hash JAX refuses
        return None
    parts = (*_parts(whole),)
    known = {id(value) for value in attributes(tree).values()}
    return StaticData(whole, parts, all(id(p) in known or _is_plain(p) for p in parts))


def _parts(data: Any) -> Iterator[Any]:
    yield data
    if is_exactly(data, tuple, frozenset):
        for each in data:
            yield from _parts(each)


def _is_plain(part: Any) -> bool:
    return is_exactly(part, *_PLAIN, tuple, frozenset) or callable(part)


def _is_same(part: Any, value: Any) -> bool:
    is_value = is_exactly(part, *_PLAIN, tuple, frozenset) and type(part) is type(value)
    return part is value or (is_value and ask(lambda it: it == value, part))
