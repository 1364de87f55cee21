"""Which calls of compiled functions each rank traced, and in which call ranks first differ."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ipyjaxbench.cluster.call_profile import CallProfile, DifferingCall, find_differing_calls
from ipyjaxbench.reports import Result
from ipyjaxbench.retracing import Traces


@dataclass(frozen=True)
class RankTraces:
    """What became of the calls in one rank.

    Attributes:
        label: its name, such as "rank 3".
        host: the name of its machine.
        pid: its process ID there.
        traces: its calls; None if it did not answer.
        silent: why it did not answer; empty if it did.
    """

    label: str
    host: str
    pid: int
    traces: Traces | None = None
    silent: str = ""


@dataclass(frozen=True, repr=False)
class JobTraces(Result):
    """The calls of compiled functions in code that all ranks ran: traced or cached in each.

    Attributes:
        code: what they ran.
        ranks: the ranks that were asked, in order.
        job: the framework that connects them; "" if each is an engine that runs by itself.
    """

    kind: ClassVar[str] = "job-traces"

    code: str
    ranks: tuple[RankTraces, ...]
    job: str = ""

    def check(self) -> str | None:
        """Return why these facts contradict each other."""
        if not self.ranks:
            return "no rank was asked"
        if any((rank.traces is None) != bool(rank.silent) for rank in self.ranks):
            return "a rank has both calls and a reason why it did not answer, or neither"
        wrong = (rank.traces.check() for rank in self.ranks if rank.traces)
        return next(filter(None, wrong), None)

    @cached_property
    def answering(self) -> tuple[tuple[RankTraces, Traces], ...]:
        """The ranks that answered, each with its calls."""
        return tuple((rank, rank.traces) for rank in self.ranks if rank.traces is not None)

    @cached_property
    def profiles(self) -> tuple[CallProfile, ...]:
        """Of each rank that answered, what became of its calls."""
        return tuple(CallProfile(traces) for _, traces in self.answering)

    @cached_property
    def interrupted(self) -> tuple[int, ...]:
        """The places of ranks whose code was interrupted, among those that answered."""
        return tuple(
            place
            for place, (_, traces) in enumerate(self.answering)
            if traces.error.startswith(KeyboardInterrupt.__name__)
        )

    @cached_property
    def failed(self) -> tuple[int, ...]:
        """The places of ranks whose code raised an error, among those that answered."""
        return tuple(
            place
            for place, (_, traces) in enumerate(self.answering)
            if traces.error and place not in self.interrupted
        )

    @property
    def shown(self) -> int:
        """The place of the rank to look into: that failed, or differs first; else the first."""
        chosen = [*self.failed[:1], *(call.shown for call in self.differing[:1]), 0]
        return chosen[0]

    @cached_property
    def differing(self) -> tuple[DifferingCall, ...]:
        """Calls that some ranks traced and others did not, in the order in which they were made."""
        return tuple(find_differing_calls(self.profiles))

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each call in each rank; times in seconds."""
        return [
            {"rank": rank.label, "host": rank.host, **row}
            for rank, traces in self.answering
            for row in traces.rows()
        ]

    def __repr__(self) -> str:
        """One line."""
        count = sum(traces.traces for _, traces in self.answering)
        return f"<JobTraces: {count} traces in {len(self.ranks)} ranks>"
