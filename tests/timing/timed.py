"""Calls of some code on a device whose time is told by hand, below all that plans them."""

from typing import Any

from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.waiting import Waiting
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework


class Timed:
    """A device, a namespace with it, and calls of some code.

    Args:
        code: what is called.
        setup: runs before.
        waiting: what calls are waited for; None where that is not arranged.
        names: of the namespace, beside the device, its clock and a log.

    Attributes:
        log: what the code noted down.
        left: what was told that samples left running.
    """

    def __init__(
        self, code: str, setup: str | None = None, waiting: Waiting | None = None, **names: Any
    ) -> None:
        self.device = FakeDevice(FakeClock())
        self.clock = clock = self.device.clock
        self.log: list[Any] = []
        self.left: list[int] = []
        self.names = {"device": self.device, "clock": clock, "log": self.log, **names}
        self.framework = FakeFramework(self.device)
        self.snippet = Snippet(Source.plain(code), self.names)
        prepared = Snippet(Source.plain(setup), self.names) if setup else None
        self.calls = Calls(self.snippet, prepared, clock, Drain([self.framework], clock))
        self.calls.watches = [self.framework.capability(Compilation).watch(())]
        self.calls.on_work_left = self.left.append
        if waiting is not None:
            self.calls.arrange(waiting, kept={})
