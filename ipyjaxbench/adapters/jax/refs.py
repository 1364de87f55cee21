"""JAX's arrays that change in place, which `jax.new_ref` makes; versions without it have none."""

import sys
from typing import Any

import jax

from ipyjaxbench.usercode import attributes, is_exactly

_REF: Any = getattr(jax, "Ref", None)  # since 0.8
#: What stands for one in the keys of JAX's caches (private).
_TYPE: Any = getattr(sys.modules.get("jax._src.state.types"), "AbstractRef", None)


def is_ref(value: object) -> bool:
    """Whether a value is one of them, and no tracer of one."""
    return _REF is not None and is_exactly(value, _REF)


def is_ref_type(value: object) -> bool:
    """Whether a value is what JAX keeps of one, its shape and dtype."""
    return _TYPE is not None and is_exactly(value, _TYPE)


def array_in(ref: object) -> Any | None:
    """Return the array that one holds now (private); None where this version keeps it elsewhere."""
    return attributes(attributes(ref).get("_refs")).get("_buf")
