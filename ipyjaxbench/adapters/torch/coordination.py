"""The store of torch.distributed's default process group."""

import datetime
import threading
from typing import Any

import torch.distributed as dist

from ipyjaxbench.adapters.torch.trees import leaves
from ipyjaxbench.frameworks import Coordination, Job

_PREFIX = "ipyjaxbench_"


class TorchCoordination(Coordination):
    """What `init_process_group` has started; asking starts nothing."""

    def job(self) -> Job | None:
        """Return this process's place among `torch.distributed.get_world_size()`."""
        if not _is_one_of_many():
            return None
        store = _store()
        return None if store is None else _TorchJob(store)

    def reason(self) -> str | None:
        """Say that this version of PyTorch does not show the store."""
        is_lost = _is_one_of_many() and _store() is None
        return "this version of PyTorch does not show its store" if is_lost else None

    def wait_for_collectives(self, value: object) -> bool:
        """Wait for what ``async_op=True`` returns, also in lists, tuples and dicts."""
        works = [each for each in leaves(value) if isinstance(each, dist.Work)]
        for work in works:
            work.wait()
        return bool(works)


def _is_one_of_many() -> bool:
    return bool(dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1)


def _store() -> Any:
    """Return the store through which the processes found each other."""
    find = getattr(dist.distributed_c10d, "_get_default_store", None)  # nothing public returns it
    return find() if callable(find) else None


class _TorchJob(Job):
    def __init__(self, store: Any) -> None:
        self._store = store
        self._waiting = threading.local()
        self.rank: int = dist.get_rank()
        self.size: int = dist.get_world_size()

    def put(self, key: str, value: bytes) -> None:
        self._store.set(_PREFIX + key, value)

    def get(self, key: str, milliseconds: int) -> bytes | None:
        key, most = _PREFIX + key, datetime.timedelta(milliseconds=milliseconds)
        store = self._own_store()
        try:
            store.wait([key], most)
        except dist.DistStoreError:
            return None
        return bytes(store.get(key))

    def peek(self, key: str) -> bytes | None:
        key = _PREFIX + key
        return bytes(self._store.get(key)) if self._store.check([key]) else None

    def _own_store(self) -> Any:
        """Return a store of this thread's own: while one thread waits, others cannot ask."""
        if not hasattr(self._waiting, "store"):
            self._waiting.store = self._store.clone()
        return self._waiting.store

    def add(self, key: str, more: int = 1) -> int:
        return int(self._store.add(_PREFIX + key, more))
