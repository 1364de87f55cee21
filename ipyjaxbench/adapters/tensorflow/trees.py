"""Nests as TensorFlow walks them; a container that refuses to be walked is one leaf."""

from collections.abc import Mapping, MappingView, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import is_exactly, is_opaque

_KINDS = (Mapping, MappingView, Sequence)
_ASKED = ("__attrs_attrs__", "__tf_flatten__", "__tf_unflatten__", "_fields")


@dataclass(frozen=True)
class Fixed:
    """An argument that is to be part of the program, whatever it is."""

    value: Any  # what the function is given


def shield_opaque(nest: Any) -> Any:
    """Return the same nest with each object that refuses to be walked as a `Fixed` one."""
    if type(nest) is dict:
        return {key: shield_opaque(value) for key, value in nest.items()}
    if is_exactly(nest, list, tuple):
        return type(nest)(map(shield_opaque, nest))
    return nest if _is_walked(nest) else Fixed(nest)


def leaves(nest: Any) -> list[Any]:
    """Return the leaves; an object that refuses to be walked is one."""
    flat = tf.nest.flatten(shield_opaque(nest))
    return [each.value if type(each) is Fixed else each for each in flat]


def _is_walked(value: Any) -> bool:
    """Whether TensorFlow can walk it, be it a container or a leaf."""
    try:
        if is_opaque(value):
            return False
        # TensorFlow asks the same in C++, where it goes on with the error that an object raises.
        isinstance(value, _KINDS)
        for name in _ASKED:
            getattr(value, name, None)
        tf.nest.flatten(value)
    except CODE_ERRORS:  # the object may raise anything
        return False
    return True
