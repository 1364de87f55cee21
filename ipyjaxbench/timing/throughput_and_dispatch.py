"""Throughput and dispatch: what calls cost when they are queued and not waited for one by one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ipyjaxbench import stats
from ipyjaxbench.timing.call_times import TimedCall
from ipyjaxbench.timing.runner import Calls

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
    many: list[int] = field(default_factory=list)  # nanoseconds of all of them, waited for once
    few_ns: int = 0  # the least of a quarter of them
    dispatches: list[float] = field(default_factory=list)  # seconds per call until Python goes on
    spent: int = 0  # nanoseconds on the wall, in all

    def measure(self) -> None:
        """Queue many calls, then few; what compiles is left out."""
        __tracebackhide__ = True
        start, compiled = self.calls.clock.wall(), self.calls.compilations()
        many_ns = self.calls.queue(self.number).waited
        few_ns = self.calls.queue(self._few).waited
        returned = self.calls.queue(self.dispatched).returned
        if self.calls.compilations() == compiled:
            self.many.append(many_ns)
            self.few_ns = min(self.few_ns or few_ns, few_ns)
            self.dispatches.append(returned / self.dispatched * 1e-9)
        self.spent += self.calls.clock.wall() - start

    @property
    def throughputs(self) -> list[float]:
        """Seconds per call: of many queued calls less few, so that no wait is in it.

        Few that were held up would make many seem fast; so the least of them counts. A difference
        below 0, or above the plain quotient, is noise: then the quotient stands.
        """
        more = self.number - self._few
        pairs = [((ns - self.few_ns) / more, ns / self.number) for ns in self.many]
        return [1e-9 * (slope if 0 < slope < whole else whole) for slope, whole in pairs]

    @property
    def _few(self) -> int:
        return max(self.number // 4, 1)


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
