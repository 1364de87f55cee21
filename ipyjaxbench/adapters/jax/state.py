"""What calls change of JAX's: references, which can be written to, and arrays given away."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.frameworks import CopyBudget, DonatedArray, MutableState, State
from ipyjaxbench.host import host_memory
from ipyjaxbench.usercode import extends, module_of

_REF: Any = getattr(jax, "Ref", None)  # since 0.8


class Ref(State):
    """The numbers behind a reference.

    Args:
        ref: it.
        room: for a copy.
    """

    def __init__(self, ref: Any, room: CopyBudget) -> None:
        self._ref, self._room = ref, room
        self.nbytes = ref.size * ref.dtype.itemsize
        self.can_restore = room.take("host", self.nbytes, host_memory)
        self._before = ref[...] if self.can_restore else None

    def changed(self) -> bool:
        """Whether a bit differs."""
        if not self.can_restore:
            return False
        return np.asarray(self._ref[...]).tobytes() != np.asarray(self._before).tobytes()

    def restore(self) -> None:
        """Write the old ones."""
        self._ref[...] = self._before

    def again(self) -> "Ref":
        """The numbers now."""
        return Ref(self._ref, self._room)


def states(value: Any, room: CopyBudget) -> list[State] | None:
    """What calls can change of a reference.

    Args:
        value: anything.
        room: for copies.

    Returns:
        Nothing for what never changes, as arrays do not; None for what is none of JAX's.
    """
    kind = type(value)
    if extends(kind, jax.Array) and not extends(kind, jax.core.Tracer):
        return _of_array(value, room)
    if _REF is not None and issubclass(kind, _REF) and not issubclass(kind, jax.core.Tracer):
        return [Ref(value, room)]
    return [] if module_of(kind).partition(".")[0] in ("jax", "jaxlib") else None


def _of_array(array: Any, room: CopyBudget) -> list[State]:
    """A copy of an array that a call may give away."""
    if not room.gives_away or array.is_deleted():
        return []
    if not room.take("host", int(array.nbytes), host_memory):
        return []
    return [DonatedArray(array, array.copy(), array.is_deleted)]


class JaxState(MutableState):
    """References, which can be written to; arrays never change, and may be given away."""

    def states(self, value: object, room: CopyBudget) -> list[State] | None:
        """Those of references; of arrays a copy where calls may give them away."""
        return states(value, room)

    def copy(self, value: Any) -> Any | None:
        """The same pytree with new buffers; None if over a tenth of the free memory is needed."""
        arrays = [leaf for leaf in trees.leaves(value) if isinstance(leaf, jax.Array)]
        if any(a.is_deleted() for a in arrays):
            return None
        needed = sum(self.framework.placement(a).nbytes for a in arrays)
        if needed > self.framework.free_memory() / 10:
            return None
        fresh = trees.map_leaves(lambda a: a.copy() if isinstance(a, jax.Array) else a, value)
        return jax.block_until_ready(fresh)

    def revived(self, value: Any, copies: Mapping[int, Any]) -> Any:
        """The same pytree; the same object where none of its arrays is gone."""
        if not any(id(leaf) in copies for leaf in trees.leaves(value)):
            return value
        return trees.map_leaves(lambda leaf: copies.get(id(leaf), leaf), value)
