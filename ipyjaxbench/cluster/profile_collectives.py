"""A profiled pass over a few calls: how long each is in collectives, and what those exchange."""

from collections.abc import Sequence
from dataclasses import dataclass

from ipyjaxbench.cluster.collectives import collective_seconds, is_collective
from ipyjaxbench.cluster.exchange import Exchange, count_exchanges
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.timing import Calls, Interval, Profiler


@dataclass(frozen=True)
class CollectivePass:
    """What the calls of a rank do in collectives.

    Attributes:
        seconds: in collectives, of each call; empty if unknown.
        exchanged: collectives that each call makes; empty if unknown.
        unknown: why the seconds are not known; "" where they are.
    """

    seconds: tuple[float, ...] = ()
    exchanged: tuple[Exchange, ...] = ()
    unknown: str = "no call was profiled"


def profile_collectives(framework: Framework, calls: Calls, number: int) -> CollectivePass:
    """Make calls under a framework's profiler; where it cannot be used, without it.

    Whatever this rank's profiler says, all ranks make the same calls: else the others would wait.
    """
    __tracebackhide__ = True
    made = False

    def run() -> None:
        nonlocal made
        __tracebackhide__ = True
        made = True
        calls.stretch(number)

    calls.set_up()
    calls.drain()
    seen = framework.capability(Profiler).profile(run)
    if not made:
        run()
    if seen is None:
        return CollectivePass(unknown=f"{framework.name} has no profiler")
    if seen.reason:
        return CollectivePass(unknown=seen.reason)
    seconds = tuple(collective_seconds(seen.intervals, number))
    unknown = "" if seconds else _explain(seen.intervals)
    return CollectivePass(seconds, count_exchanges(seen.intervals, number), unknown)


def _explain(intervals: Sequence[Interval]) -> str:
    """Say why intervals do not tell how long each call was in collectives."""
    if any(map(is_collective, intervals)):
        return "calls have different numbers of collectives"
    return "the profiler saw no collective"
