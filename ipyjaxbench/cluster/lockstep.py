"""Has all ranks make the same calls: rank 0 measures, the others repeat each step that it makes."""

from collections.abc import Callable
from typing import NamedTuple

from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.profile_collectives import CollectivePass
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.timing import Calls, LaterCalls, Steady, gc_paused
from ipyjaxbench.usercode import describe_error

_END = "end"
_PROFILED_NS = 250_000_000
_MIN_PROFILED, _MAX_PROFILED = 20, 50  # calls
_FEWEST_PROFILED = 3  # of calls that take longer than the whole budget

#: Makes so many calls under a profiler; returns what they do in collectives.
Profile = Callable[[int], CollectivePass]


class Step(NamedTuple):
    """Calls that all ranks make before they meet again."""

    purpose: str  # as `Calls.announce` names it
    calls: int  # how many, in each sample
    ahead: int  # untimed ones before them
    samples: int  # how many


class Stopped(BaseException):
    """The ranks are apart; no error of the user's code, so that nothing takes it for one.

    Attributes:
        error: what to raise in its place.
    """

    def __init__(self, error: RankError) -> None:
        super().__init__(str(error))
        self.error = error


class Lead:
    """Rank 0: announces each step before it is made."""

    def __init__(self, rendezvous: Rendezvous) -> None:
        self._rendezvous = rendezvous
        self.samples: list[int] = []  # the steps that are samples

    def begin(self, calls: Calls) -> None:
        """Announce from now on what these calls are."""
        calls.announce = self._announce

    def run(self, later: LaterCalls, steady: Steady, profile: Profile) -> CollectivePass:
        """Make all calls after the first one; return what profiled ones do in collectives."""
        __tracebackhide__ = True
        self._steady = steady
        steady.run(later.typical)
        if steady.error is not None:  # others may wait for it in a collective
            raise steady.error
        is_over = later.session.calls.interrupt is not None or not steady.samples.taken
        if is_over or steady.options.number is not None:
            return _not_profiled(steady)
        return profile(_count_profiled(steady))

    def end(self) -> None:
        """Release the others for good; say whether the calls of the warm-up are samples, too."""
        self._announce(_END, int(self._steady.samples.counts_warmup))

    def fail(self, error: BaseException) -> None:
        """Tell the others that there are no more steps, and why."""
        if not isinstance(error, Stopped):  # they know
            self._rendezvous.stop(f"rank 0 raised {describe_error(error)}")

    def _announce(self, purpose: str, calls: int, ahead: int = 0, *, samples: int = 1) -> None:
        __tracebackhide__ = True
        if purpose == "sample":
            self.samples.append(len(self._rendezvous.meetings))
        if purpose == "wait-for-all":
            self.samples.clear()  # they were of another kind
        try:
            self._rendezvous.release(Step(purpose, calls, ahead, samples))
        except RankError as error:
            raise Stopped(error) from None


def _not_profiled(steady: Steady) -> CollectivePass:
    if steady.options.number is not None:
        return CollectivePass(unknown="with -n no further calls are made to find out")
    return CollectivePass()


def _count_profiled(steady: Steady) -> int:
    """Return how many calls are profiled: few of long ones, which take at most the budget."""
    each = max(steady.samples.per_call, 1)
    number = min(max(round(_PROFILED_NS / each), _MIN_PROFILED), _MAX_PROFILED)
    affordable = round(steady.options.seconds * 1e9 / each)
    return min(number, max(affordable, _FEWEST_PROFILED))


class Follow:
    """Another rank: makes the steps that rank 0 makes."""

    def __init__(self, rendezvous: Rendezvous) -> None:
        self._rendezvous = rendezvous
        self._is_over = False
        self.samples: list[int] = []  # the steps that are samples

    def begin(self, calls: Calls) -> None:  # noqa: ARG002  as in `Lead`
        """Wait for the first call."""
        self._next()

    def run(self, later: LaterCalls, steady: Steady, profile: Profile) -> CollectivePass:  # noqa: ARG002
        """Make all calls after the first one; return what profiled ones do in collectives."""
        __tracebackhide__ = True
        steady.calls.on_work_left = _leave_to_rank_0
        profiled = _not_profiled(steady)
        with gc_paused():
            while (step := self._next()).purpose != _END:
                profiled = self._make(step, steady, profile) or profiled
        if step.calls:
            steady.samples.use_warmup_as_samples()
        return profiled

    def end(self) -> None:
        """Do nothing: rank 0 has ended it."""

    def fail(self, error: BaseException) -> None:
        """Tell rank 0 that this rank makes no more steps."""
        if not isinstance(error, Stopped):
            self._rendezvous.fail(describe_error(error))

    def _next(self) -> Step:
        try:
            return Step(*self._rendezvous.follow())
        except RankError as error:
            raise Stopped(error) from None

    def _make(self, step: Step, steady: Steady, profile: Profile) -> CollectivePass | None:
        """Make the calls of a step."""
        __tracebackhide__ = True
        calls, samples = steady.calls, steady.samples
        if step.purpose == "one":
            samples.warm_up(calls)
        elif step.purpose == "sample":
            self.samples.append(len(self._rendezvous.meetings) - 1)
            samples.rounds.append(0)
            if step.samples == 1:
                samples.take(calls, step.calls, ahead=step.ahead)
            else:
                samples.take_together(calls, step.calls, step.samples, ahead=step.ahead)
        elif step.purpose == "try":
            calls.sample(step.calls)
        elif step.purpose == "queue":
            calls.queue(step.calls)
        elif step.purpose == "again":
            calls.again()
        elif step.purpose == "wait-for-all":
            calls.wait_for_all()
            samples.count_what_was_left()
            self.samples.clear()
        return profile(step.calls) if step.purpose == "stretch" else None


def _leave_to_rank_0(left: int) -> None:
    """Do nothing: rank 0 decides whether work that is left is waited for."""
