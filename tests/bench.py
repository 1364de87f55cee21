"""A device whose time is told by hand, and code timed on it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ipyjaxbench.adapters.python import Python
from ipyjaxbench.errors import Interrupted
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing.measure import measure_snippet
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework

MS = 1_000_000
START = "device.start(dispatch=10_000, work=1_000_000)"  # 10 µs to start, 1 ms to compute


class Bench:
    """A device, an adapter for it, and a namespace in which code is timed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.framework = FakeFramework(FakeDevice(FakeClock()))
        self.device = self.framework.device
        self.clock = self.device.clock
        self.broken: dict[str, str] = {}
        self.names: dict[str, Any] = {"device": self.device, "clock": self.clock}
        found = [Python(), self.framework]
        monkeypatch.setattr("ipyjaxbench.timing.session.loaded", lambda: (found, self.broken))

    def time(self, code: str, setup: str | None = None, **options: Any) -> Measurement:
        """Time code."""
        prepared = Snippet(Source.plain(setup), self.names) if setup else None
        snippet = Snippet(Source.plain(code), self.names)
        clock = options.pop("clock", self.clock)
        return measure_snippet(snippet, TimeOptions(**options), setup=prepared, clock=clock)

    def interrupted(self, code: str, **options: Any) -> Measurement:
        """Time code that the user ends before its time; what was measured until then."""
        with pytest.raises(Interrupted) as caught:
            self.time(code, **options)
        assert isinstance(caught.value.result, Measurement)
        return caught.value.result

    def counted(self, each: Callable[[int], Any] = lambda count: None) -> list[int]:
        """Bind ``call``, which takes a millisecond, to something that knows its turn."""
        counter = _turns()
        turns = next(counter)

        def call() -> Any:
            result = each(len(next(counter)))
            self.clock.advance(MS)
            return result

        self.names["call"] = call
        return turns


def recorder() -> tuple[Callable[[Any], None], list[Any]]:
    """What keeps all that it is called with, and the list: no state of the code's."""
    log: list[Any] = []

    def keep() -> Iterator[None]:
        while True:
            log.append((yield))  # type: ignore[misc]

    running: Any = keep()
    next(running)
    return running.send, log


def _turns() -> Iterator[list[int]]:
    """A list that grows by itself: no state of the code's, which would be put back."""
    turns: list[int] = []
    while True:
        yield turns
        turns.append(len(turns) + 1)


def notes_by_code(m: Measurement) -> dict[str, str]:
    """The Notes by their codes, but what they say of this bench's own counters."""
    own = ("turns", "moment", "busy", "log", "seen")
    return {n.code: n.text for n in m.notes if not n.text.lstrip("'").startswith(own)}


def failing(turn: int, error: BaseException) -> Callable[[int], None]:
    """What raises in one call."""

    def each(count: int) -> None:
        if count == turn:
            raise error

    return each
