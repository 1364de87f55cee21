"""Arguments of a call, kept without keeping an array or an object of the user's alive."""

import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import AnyData

_DATA = (bool, int, float, complex, jax.Array, jax.ShapeDtypeStruct)


class HeldArgument:
    """An argument whose arrays are kept as their shapes, and its objects as long as others do.

    Args:
        value: the argument.
        is_static: whether it is compiled with as it is, and so no tree.
    """

    def __init__(self, value: Any, *, is_static: bool) -> None:
        self._structure: Any = None
        leaves = [value]
        if not is_static:
            try:
                leaves, self._structure = trees.flatten(value)
            except CODE_ERRORS:  # then it is no tree to JAX either
                leaves = [value]
        self._is_data = [not is_static and _is_data(each) for each in leaves]
        pairs = zip(leaves, self._is_data, strict=True)
        self._leaves = [_shape(each) if is_data else hold(each) for each, is_data in pairs]

    def with_shapes(self) -> Any:
        """Return it with the shapes of arrays.

        Raises:
            ReferenceError: a part of it was freed.
        """
        pairs = zip(self._leaves, self._is_data, strict=True)
        return self._whole([each if is_data else each() for each, is_data in pairs])

    def without_data(self) -> Any:
        """Return what a trace of it depends on; something else stands for data."""
        pairs = zip(self._leaves, self._is_data, strict=True)
        return self._whole([AnyData() if is_data else each() for each, is_data in pairs])

    def _whole(self, leaves: list[Any]) -> Any:
        if self._structure is None:
            return leaves[0]
        return jax.tree.unflatten(self._structure, leaves)


def hold(value: Any) -> Callable[[], Any]:
    """Return what gives a value back, as long as others hold it.

    What cannot be referred to, as text, is held as it is: JAX does so with static arguments.
    """
    try:
        reference = weakref.ref(value)
    except TypeError:
        return lambda: value
    return lambda: _dereferenced(reference)


def _dereferenced(reference: Callable[[], Any]) -> Any:
    value = reference()
    if value is None:
        raise ReferenceError
    return value


def _is_data(leaf: Any) -> bool:
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype.kind not in "OSUMm"
    return isinstance(leaf, _DATA)


def _shape(leaf: Any) -> Any:
    """Return an array without its data; a number as it is."""
    if isinstance(leaf, np.ndarray):
        return jax.ShapeDtypeStruct(leaf.shape, jax.dtypes.canonicalize_dtype(leaf.dtype))
    if isinstance(leaf, jax.Array):
        weak = bool(getattr(getattr(leaf, "aval", leaf), "weak_type", False))
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=weak)
    return leaf
