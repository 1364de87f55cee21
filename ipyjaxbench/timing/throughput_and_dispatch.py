"""Throughput and dispatch: what calls cost when they are queued and not waited for one by one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ipyjaxbench import stats
from ipyjaxbench.timing.runner import Calls, TimedCall

_QUEUED_NS = 8_000_000  # of queued calls in one sample
_MIN_QUEUED, _MAX_QUEUED = 4, 64
_MAX_DISPATCHED = 4  # an eighth of the 32 programs that wait on XLA's CPU before a call blocks
_SYNCHRONOUS_SHARE = 0.9  # Python goes on when this share of a call is over: nothing is queued
_MAX_CALL_NS = 10_000_000  # beside that, what waiting costs is nothing


@dataclass
class QueuedCalls:
    """Measures queued calls, once in each round between the samples."""

    calls: Calls
    number: int  # of calls that are queued at once
    dispatched: int  # calls that are begun on idle devices to see how soon Python goes on
    throughputs: list[float] = field(default_factory=list)  # seconds per call, waited for once
    dispatches: list[float] = field(default_factory=list)  # seconds per call until Python goes on
    spent: int = 0  # nanoseconds on the wall, in all

    def measure(self) -> None:
        """Queue many calls, then few; the difference has no fixed cost of waiting in it.

        What compiles is left out. A difference below 0, or above the plain quotient, is noise:
        then the quotient stands.
        """
        __tracebackhide__ = True
        start, compiled = self.calls.clock.wall(), self.calls.compilations()
        few = max(self.number // 4, 1)
        many_ns = self.calls.queue(self.number).waited
        few_ns = self.calls.queue(few).waited
        returned = self.calls.queue(self.dispatched).returned
        if self.calls.compilations() == compiled:
            slope, quotient = (many_ns - few_ns) / (self.number - few), many_ns / self.number
            self.throughputs.append((slope if 0 < slope < quotient else quotient) * 1e-9)
            self.dispatches.append(returned / self.dispatched * 1e-9)
        self.spent += self.calls.clock.wall() - start


def plan_queued_calls(calls: Calls, warmup: Sequence[TimedCall], most: float) -> QueuedCalls | None:
    """Return what measures queued calls; None where nothing is queued or calls are too slow.

    ``most`` results fit into the memory that may be in flight.
    """
    __tracebackhide__ = True
    returned = stats.median([call.returned for call in warmup])
    waited = stats.median([call.waited for call in warmup])
    if (
        calls.one_by_one
        or waited > _MAX_CALL_NS
        or returned > _SYNCHRONOUS_SHARE * waited
        or most < 2
    ):
        return None
    number = int(min(max(_QUEUED_NS / waited, _MIN_QUEUED), _MAX_QUEUED, most))
    # Code of many operations fills the queue with few calls.
    blocks = calls.queue(_MAX_DISPATCHED).returned > 2 * _MAX_DISPATCHED * returned
    return QueuedCalls(calls, number, 1 if blocks else min(_MAX_DISPATCHED, number))
