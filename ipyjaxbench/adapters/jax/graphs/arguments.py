"""A call cut into what is traced and what is fixed while it is."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.compilation import is_jitted
from ipyjaxbench.adapters.jax.refs import is_ref
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import Call, ask, attribute, is_of, items_of, name_of

_CONTAINERS: tuple[Any, ...] = (list, tuple, dict)
_MAX_DEPTH = 200  # containers in each other: JAX needs several frames for each
_MOST_NAMED = 3  # parts that are named one by one
_HOLE = None  # what stands in a tree where a static leaf was


def is_leaf(value: Any) -> bool:
    """Whether a leaf of an argument is data: an array, a number, or the shape of one."""
    if ask(_is_data, value):
        return True
    if is_of(value, np.ndarray, np.generic):
        return value.dtype.kind not in "OSUMm"
    return attribute(type(value), "__jax_array__") is not None


def is_array(value: Any) -> bool:
    """Whether a leaf is data to what takes numbers as they are, as `equinox.filter_jit` does."""
    return is_leaf(value) and not is_of(value, bool, int, float, complex)


def unbind_method(call: Call) -> Call:
    """Return a call of a method of a tree of arrays as one that takes that tree."""
    function = call.function
    if is_of(function, MethodType):
        owner, plain = function.__self__, function.__func__  # type: ignore[attr-defined]
    else:
        owner, plain = function, attribute(type(function), "__call__")
    # What binds itself stands for a function, as what `equinox.filter_grad` gives.
    binds = owner is function and attribute(type(function), "__get__") is not None
    if binds or is_jitted(function) or type(plain) is not FunctionType:
        return call
    if not any(is_leaf(leaf) for leaf in trees.leaves(owner)) or owner is None:
        return call
    return Call(call.text, plain, (owner, *call.args), call.kwargs, ("self", *call.labels))


def holds_itself(value: object, above: frozenset[int] = frozenset()) -> bool:
    """Whether a container leads back to itself, or as good as that: JAX cannot follow it."""
    if len(above) > _MAX_DEPTH:
        return True
    if not is_of(value, *_CONTAINERS):
        return False
    containers = [each for each in items_of(value, 0) if is_of(each, *_CONTAINERS)]
    here = above | {id(value)}
    return any(id(each) in here or holds_itself(each, here) for each in containers)


def _is_data(value: object) -> bool:
    kinds = bool | int | float | complex | jax.Array | jax.ShapeDtypeStruct
    return isinstance(value, kinds) or is_ref(value)


def dress(wrapper: Any, function: Any) -> None:
    """Make a wrapper look like what it wraps: JAX's errors then name the user's arguments."""
    with contextlib.suppress(*CODE_ERRORS):  # an object may answer what it likes
        wrapper.__signature__ = inspect.signature(function)
    name = name_of(function) or name_of(type(function))
    wrapper.__name__ = wrapper.__qualname__ = name
    if is_of(function, FunctionType, MethodType):
        functools.update_wrapper(wrapper, function, updated=())
        wrapper.__name__ = name


class Part:
    """One argument, cut into the leaves that are data, and others.

    Args:
        name: of the argument.
        value: of it.
        is_data: whether a leaf is data.
    """

    def __init__(self, name: str, value: Any, is_data: Callable[[Any], bool]) -> None:
        self.name = name
        self._value = value
        self._leaves, self._tree = trees.flatten(value)
        self._is_data = [is_data(leaf) for leaf in self._leaves]
        leaves = [
            leaf if is_data else _HOLE
            for leaf, is_data in zip(self._leaves, self._is_data, strict=True)
        ]
        self.data = jax.tree.unflatten(self._tree, leaves)

    @property
    def no_data(self) -> bool:
        """Whether it has leaves, and none of them is data."""
        return bool(self._leaves) and not any(self._is_data)

    def fixed_leaves(self) -> tuple[str, ...]:
        """Return the paths to what is no data beside data; their number, if they are many."""
        if not any(self._is_data):
            return ()
        pairs = trees.leaves_with_paths(self._value)
        paths = [
            self.name + jax.tree_util.keystr(path)
            for (path, _), is_data in zip(pairs, self._is_data, strict=True)
            if not is_data
        ]
        return (
            tuple(paths) if len(paths) <= _MOST_NAMED else (f"{len(paths)} parts of {self.name}",)
        )

    def whole(self, data: Any) -> Any:
        """Return the argument with traced leaves in place of data."""
        traced = iter(trees.leaves(data))
        leaves = [
            next(traced) if is_data else leaf
            for leaf, is_data in zip(self._leaves, self._is_data, strict=True)
        ]
        return jax.tree.unflatten(self._tree, leaves)

    def leaves(self) -> Iterator[tuple[str, Any]]:
        """Yield each leaf that is data, with the path to it."""
        for path, leaf in trees.leaves_with_paths(self.data):
            yield self.name + jax.tree_util.keystr(path), leaf
