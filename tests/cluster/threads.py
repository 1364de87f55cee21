"""A job whose ranks are threads of this process, over a store in memory."""

import threading
from collections.abc import Callable
from typing import Any

from ipyjaxbench.frameworks import Job


class Memory:
    """What all ranks share."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.counts: dict[str, int] = {}
        self.changed = threading.Condition()


class ThreadJob(Job):
    """One rank."""

    def __init__(self, memory: Memory, rank: int, size: int) -> None:
        self._memory, self.rank, self.size = memory, rank, size

    def put(self, key: str, value: bytes) -> None:
        with self._memory.changed:
            if key in self._memory.values:
                raise RuntimeError(f"ALREADY_EXISTS: {key}")
            self._memory.values[key] = value
            self._memory.changed.notify_all()

    def get(self, key: str, milliseconds: int) -> bytes | None:
        with self._memory.changed:
            self._memory.changed.wait_for(lambda: key in self._memory.values, milliseconds / 1000)
            return self._memory.values.get(key)

    def peek(self, key: str) -> bytes | None:
        return self._memory.values.get(key)

    def add(self, key: str, more: int = 1) -> int:
        with self._memory.changed:
            self._memory.counts[key] = self._memory.counts.get(key, 0) + more
            return self._memory.counts[key]


def run_ranks(
    size: int, work: Callable[[ThreadJob], Any], *, absent: int = -1, memory: Memory | None = None
) -> list[Any]:
    """Run ``work`` in each rank but an absent one; return what each returned or raised."""
    memory = memory or Memory()
    outcomes: list[Any] = [None] * size

    def run(rank: int) -> None:
        try:
            outcomes[rank] = work(ThreadJob(memory, rank, size))
        except Exception as error:
            outcomes[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size) if rank != absent]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return outcomes
