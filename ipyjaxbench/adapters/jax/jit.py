"""Functions that JAX compiles."""

from types import MethodType
from typing import Any

import jax

from ipyjaxbench.usercode import attribute, is_of

#: Of `jax.stages.Wrapped`, which would ask an object itself for them.
_METHODS = [name for name in ("lower", "trace", "__call__") if hasattr(jax.stages.Wrapped, name)]
_NONE = object()


def is_jitted(thing: Any) -> bool:
    """Whether `jax.jit` made it, or what has its methods, as Flax's; a method of it counts."""
    thing = thing.__func__ if is_of(thing, MethodType) else thing
    return all(attribute(thing, name, _NONE) is not _NONE for name in _METHODS)
