"""Numbers that are copied where there is memory for it, and told by something small elsewhere."""

import zlib
from abc import ABC, abstractmethod
from array import array
from typing import Any, Self

from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.undo import State
from ipyjaxbench.host import host_memory


class CopiedState(State, ABC):
    """Numbers of which a copy is made, where there is memory for it.

    Args:
        target: the object.
        budget: for copies.
        nbytes: of the copy.
    """

    def __init__(self, target: Any, budget: CopyBudget, nbytes: int) -> None:
        self._budget, self.nbytes = budget, nbytes
        self.can_restore = self._take(target)
        self.is_read = self.can_restore or self._may_read()
        super().__init__(target)

    def _take(self, target: Any) -> bool:  # noqa: ARG002
        """Whether there is memory for the copy, which is taken."""
        return self._budget.take("host", self.nbytes, host_memory)

    def _may_read(self) -> bool:
        """Whether all of it may be read, where there is no copy."""
        return self._budget.may_read(self.nbytes)

    def _read(self) -> Any:
        if self.can_restore:
            return self._copy()
        return self._digest() if self.is_read else None

    @abstractmethod
    def _copy(self) -> Any:
        """Return a copy of the numbers."""

    @abstractmethod
    def _digest(self) -> Any:
        """Return something small that differs where the numbers do, as far as that is possible."""

    @abstractmethod
    def _differs(self) -> bool:
        """Whether the numbers differ from those of the copy."""

    def changed(self) -> bool:
        """Whether the numbers are others now."""
        return self._differs() if self.can_restore else bool(self._read() != self._before)

    def again(self) -> Self:
        """Return the same object as it is at this moment; its copy takes memory too."""
        return type(self)(self._target, self._budget)  # type: ignore[call-arg]


class Buffer(CopiedState):
    """The numbers of a `bytearray` or an `array.array`."""

    def __init__(self, values: Any, budget: CopyBudget) -> None:
        self._kind: Any = bytearray if issubclass(type(values), bytearray) else array
        super().__init__(values, budget, memoryview(values).nbytes)

    def _copy(self) -> Any:
        return self._kind.__getitem__(self._target, slice(None))

    def _digest(self) -> tuple[int, int]:
        return len(self._target), zlib.crc32(memoryview(self._target))

    def _differs(self) -> bool:
        return bytes(memoryview(self._target)) != bytes(memoryview(self._before))

    def restore(self) -> None:
        """Have it hold the old numbers."""
        self._kind.__setitem__(self._target, slice(None), self._before)
