"""Bytes in memory that is not Python's own: mapped files, and data of `ctypes`."""

import mmap
import zlib
from typing import Any

from ipyjaxbench.frameworks.state.copies import CopiedState
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.undo import Setting, State
from ipyjaxbench.usercode import module_of


class SharedBytes(CopiedState):
    """The bytes behind a mapped file, or in an object of `ctypes`."""

    is_shared = True

    def __init__(self, values: Any, budget: CopyBudget) -> None:
        super().__init__(values, budget, memoryview(values).nbytes)

    def _copy(self) -> bytes:
        return memoryview(self._target).tobytes()

    def _digest(self) -> int:
        return zlib.crc32(memoryview(self._target))

    def _differs(self) -> bool:
        return bool(self._copy() != self._before)

    def restore(self) -> None:
        """Write the old ones."""
        memoryview(self._target).cast("B")[:] = self._before


def shared_states(value: Any, budget: CopyBudget) -> list[State] | None:
    """Return the bytes of such an object, and how far a file is read; None of others."""
    kind = type(value)
    if not _is_shared(kind):
        return None
    states: list[State] = [] if memoryview(value).readonly else [SharedBytes(value, budget)]
    if issubclass(kind, mmap.mmap):
        own = mmap.mmap
        states.append(Setting(lambda: [own.tell(value)], lambda place: own.seek(value, *place)))
    return states


def is_shared_memory(held: object) -> bool:
    """Whether what holds the memory of an array is of such a kind, behind views of it."""
    while type(held) is memoryview:
        held = held.obj
    return _is_shared(type(held))


def _is_shared(kind: type) -> bool:
    if issubclass(kind, mmap.mmap):
        return True
    meta = type(kind)
    return meta is not type and module_of(meta) == "_ctypes" and meta.__name__ != "PyCFuncPtrType"
