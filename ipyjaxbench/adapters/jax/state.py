"""What calls change of JAX's: references, which can be written to, and arrays given away."""

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.custom_batching
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.refs import array_in, is_ref
from ipyjaxbench.frameworks import (
    CopiedState,
    CopyBudget,
    DonatedArray,
    GivenAway,
    MutableState,
    NamedSettings,
    State,
    attribute_states,
)
from ipyjaxbench.host import host_memory
from ipyjaxbench.usercode import extends, module_of

#: What holds a function of the user's with rules of theirs, which code may add late.
CUSTOM = (jax.custom_jvp, jax.custom_vjp, jax.custom_batching.custom_vmap)


class Ref(CopiedState):
    """The numbers behind a reference."""

    def __init__(self, ref: Any, budget: CopyBudget) -> None:
        super().__init__(ref, budget, ref.size * ref.dtype.itemsize)

    def _copy(self) -> Any:
        array = array_in(self._target)  # read as calls read it, their program would be compiled
        return self._target[...] if array is None else array.copy()

    def _digest(self) -> int:
        return zlib.crc32(np.asarray(self._copy()).tobytes())

    def _differs(self) -> bool:
        return np.asarray(self._copy()).tobytes() != np.asarray(self._before).tobytes()

    def restore(self) -> None:
        """Write the old ones."""
        self._target[...] = self._before


class JaxState(MutableState):
    """References, which can be written to; arrays never change, and may be given away."""

    def states(self, value: Any, budget: CopyBudget) -> list[State] | None:
        """Remember references; of arrays a copy where calls may give them away."""
        kind = type(value)
        is_tracer = extends(kind, jax.core.Tracer)
        if extends(kind, jax.Array) and not is_tracer:
            return _array_states(value, budget)
        if is_ref(value):
            return [Ref(value, budget)]
        if issubclass(kind, CUSTOM):
            return [*attribute_states(value)]
        return [] if module_of(kind).partition(".")[0] in ("jax", "jaxlib") else None

    def settings(self) -> Iterator[tuple[str, State]]:
        """Remember the values in `jax.config`."""
        yield "jax.config", NamedSettings(lambda: jax.config.values, _update_config)

    def copy(self, value: Any) -> Any | None:
        """Copy a pytree; None if over a tenth of the free memory is needed."""
        arrays = [leaf for leaf in trees.leaves(value) if isinstance(leaf, jax.Array)]
        if any(a.is_deleted() for a in arrays):
            return None
        needed = sum(self.framework.placement(a).nbytes for a in arrays)
        if needed > self.framework.free_memory() / 10:
            return None
        fresh = trees.map_leaves(lambda a: a.copy() if isinstance(a, jax.Array) else a, value)
        return jax.block_until_ready(fresh)

    def revived(self, value: Any, copies: Mapping[int, Any]) -> Any:
        """Return the same pytree; the same object where none of its arrays is gone."""
        if not any(id(leaf) in copies for leaf in trees.leaves(value)):
            return value
        return trees.map_leaves(lambda leaf: copies.get(id(leaf), leaf), value)


def _update_config(**values: Any) -> None:
    now = jax.config.values
    for name, value in values.items():
        if now[name] != value:
            jax.config.update(name, value)


def _array_states(array: Any, budget: CopyBudget) -> list[State]:
    """Copy an array that a call may give away."""
    if not budget.gives_away or array.is_deleted():
        return []
    if not budget.take("host", int(array.nbytes), host_memory):
        return [GivenAway(array, array.is_deleted)]
    return [DonatedArray(array, array.copy(), array.is_deleted)]
