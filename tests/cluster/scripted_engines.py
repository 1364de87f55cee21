"""Engines whose answers come at moments of a scripted clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ipyjaxbench.cluster.engines import Engines
from ipyjaxbench.host import Clock

_NOTHING = object()


@dataclass
class Work:
    """What one engine will return, or raise."""

    answer: Any = _NOTHING

    def done(self) -> bool:
        return self.answer is not _NOTHING

    def result(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class ScriptedEngines(Engines):
    """Engines that are told what happens when; what they are asked for is written down.

    Args:
        size: how many.
    """

    def __init__(self, size: int = 2) -> None:
        self.numbers = tuple(range(size))
        self.labels = tuple(f"engine {number}" for number in self.numbers)
        self.work: list[Work] = []
        self.marks: list[Work] = []
        self.dead: set[int] = set()
        self.interrupted: list[list[int]] = []
        self.aborted: list[Any] = []
        self.on_interrupt: Callable[[int], None] = lambda _: None
        self._events: list[tuple[float, Callable[[], object]]] = []
        self._now = 0.0
        self.clock = Clock(self._read, self._read, self._sleep)

    def at(self, second: float, act: Callable[[], object]) -> None:
        """Have something happen then."""
        self._events.append((second, act))

    def answers(self, second: float, index: int, answer: Any) -> None:
        """Have an engine answer then."""
        self.at(second, lambda: setattr(self.work[index], "answer", answer))

    def _read(self) -> int:
        return int(self._now * 1e9)

    def _sleep(self, seconds: float) -> None:
        self._now += seconds
        assert self._now < 600, "it waits for ever"
        due = [event for event in self._events if event[0] <= self._now]
        self._events = [event for event in self._events if event not in due]
        for _, act in due:
            act()

    def submit(self, index: int, function: Callable[..., Any], *args: Any) -> Work:
        self.work.append(Work())
        return self.work[-1]

    def abort(self, pending: Any) -> None:
        self.aborted.append(pending)

    def interrupt(self, indices: Sequence[int]) -> None:
        self.interrupted.append([*indices])
        for index in indices:
            self.on_interrupt(index)

    def send_mark(self, index: int) -> Work | None:
        self.marks.append(Work())
        return self.marks[-1]

    def is_alive(self, index: int) -> bool:
        return index not in self.dead

    def cause(self, error: BaseException) -> tuple[str, str]:
        return type(error).__name__, str(error)

    def choose(self, indices: Sequence[int]) -> "ScriptedEngines":
        chosen = ScriptedEngines(0)
        chosen.labels = tuple(self.labels[index] for index in indices)
        chosen.numbers = tuple(self.numbers[index] for index in indices)
        return chosen
