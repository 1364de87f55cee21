"""The memory of tensors, which several of them may share."""

import zlib
from collections.abc import Iterator
from typing import Any

import torch

from ipyjaxbench.frameworks import CopiedState, CopyBudget, State

_PAGE = 512  # words that are added up for a digest


class Storage(CopiedState):
    """The bits in the memory; where there is no copy, counters of tensors tell more than sums."""

    def __init__(self, storage: Any, budget: CopyBudget) -> None:
        self.is_shared = storage.device.type == "cpu" and storage.is_shared()
        super().__init__(storage, budget, storage.nbytes())
        if not self.can_restore:
            budget.lose(key_of(storage))

    @property
    def address(self) -> int:
        """Where the memory is; 0 where there is none, as on a meta device."""
        try:
            return int(self._target.data_ptr())
        except (RuntimeError, NotImplementedError):
            return 0

    def _take(self, target: Any) -> bool:
        device = target.device
        self._is_on_gpu = device.type == "cuda" and self._budget.take(
            str(device), self.nbytes, lambda: torch.cuda.mem_get_info(device)[0]
        )
        return self._is_on_gpu or super()._take(target)

    def _may_read(self) -> bool:
        return not self._budget.copies or super()._may_read()

    def _copy(self) -> Any:
        bits = _bits(self._target)
        is_here = self._is_on_gpu or self._target.device.type == "cpu"
        return bits.clone() if is_here else bits.cpu()

    def _digest(self) -> tuple[int, int]:
        """Return its length, and a checksum of the sums of pages; 0 where none is copied."""
        nbytes = self._target.nbytes()
        if not self._budget.copies:
            return nbytes, 0
        bits = _bits(self._target)
        whole = len(bits) // _PAGE * _PAGE
        sums = bits[:whole].view(-1, _PAGE).sum(1, dtype=torch.int64)
        rest = bits[whole:].sum(dtype=torch.int64)
        return nbytes, zlib.crc32(torch.cat([sums, rest.view(1)]).cpu().numpy())

    def _differs(self) -> bool:
        if self._target.nbytes() != self.nbytes:
            return True
        return not torch.equal(_bits(self._target).to(self._before.device), self._before)

    def restore(self) -> None:
        """Write the old bits into the same memory, of the old length."""
        if self._target.nbytes() != self.nbytes:
            self._target.resize_(self.nbytes)
        _bits(self._target).copy_(self._before)


def storage_states(storage: Any, budget: CopyBudget) -> Iterator[State]:
    """Yield the memory, where it was not met before."""
    if budget.is_new(storage, key_of(storage)):
        yield Storage(storage, budget)


def key_of(storage: Any) -> tuple[str, str, int]:
    """Return what tells some memory from other memory."""
    return "torch", str(storage.device), storage.data_ptr()


def _bits(storage: Any) -> Any:
    """The memory as whole numbers: as few as can be, for PyTorch has threads copy many."""
    dtype = torch.int64 if storage.nbytes() % 8 == 0 else torch.uint8
    return torch.empty(0, dtype=dtype, device=storage.device).set_(storage)
