"""Calls of compiled functions as they are recorded: what is called where, and what became of it."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ipyjaxbench.frameworks import Framework
from ipyjaxbench.retracing.protocol import CallWatch
from ipyjaxbench.retracing.traces import TracedCall
from ipyjaxbench.usercode import Site


class Callee(NamedTuple):
    """A compiled function, and where it is called."""

    framework: Framework
    watch: CallWatch
    site: Site
    function: Any


@dataclass
class Row:
    """A call, and how many cache hits like it followed."""

    call: TracedCall
    nanoseconds: int | None  # None for one that was reported: its phases may still grow
    last: int
    times: int = 1

    def whole(self) -> TracedCall:
        """Return the call as it is now."""
        phases = dict(self.call.phases)
        known = self.nanoseconds
        seconds = sum(phases.values()) if known is None else known * 1e-9
        return replace(self.call, times=self.times, last=self.last, seconds=seconds, phases=phases)
