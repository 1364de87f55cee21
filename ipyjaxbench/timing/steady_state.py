"""All calls after the first one: warm-up, sample size, rounds, and what ends them early."""

import gc
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from ipyjaxbench import stats
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.host import Clock, Conditions, Meter
from ipyjaxbench.option import spell
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import notes, sampling
from ipyjaxbench.timing.call_kinds import Kinds
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.throughput_and_dispatch import QueuedCalls, plan_queued_calls
from ipyjaxbench.usercode import StuckError, describe_error, give_up_blocked

#: Called after each round, or after each sample where their number is known, with the relative half
#: width of the interval so far (not a number where it is not asked) and the nanoseconds left.
OnProgress = Callable[[float, int], object]
_DEFAULT_REPEAT = 7  # what %timeit takes when only -n is given
_SLOW_CALL_SHARE = 0.1  # of the budget: calls this slow are not spent on warming up alone
_IN_FLIGHT_SHARE = 0.1  # of the free memory, for results that were not waited for
_MIN_ROOM = 2  # results that must fit: that of the call before is dropped only after the next
_QUEUED_SHARE = 0.4  # of the time, for throughput and dispatch
_MISSED_RATIO = 1.25  # of the aim: by less it is as good as reached
_MAX_SINGLE_CALL_NS = 30_000_000_000  # one warm call is worth that, whatever the budget


@dataclass
class Steady:
    """Calls until the figure is steady."""

    calls: Calls  # makes them
    options: TimeOptions  # how often and how long
    room: float  # how many more results fit into the free memory
    on_progress: OnProgress  # called with how far it is
    on_gpu: bool = False  # whether to ask what the GPUs do
    number: int = 1  # calls per sample, once `warm_up` has found it
    samples: Samples = field(default_factory=Samples)  # what was timed
    # measures throughput and dispatch; None where nothing is queued
    queued: QueuedCalls | None = None
    notes: list[Note] = field(default_factory=list)  # what the calls showed
    ended_early: bool = False  # whether an error or the user ended them
    error: BaseException | None = None  # of the user's code, which ended them
    differ: Kinds | None = None  # the kinds of calls in the warm-up, where they do different work
    elapsed: float = 0.0  # seconds that they took
    left: int = 0  # nanoseconds of work that a call leaves running and its value does not show
    compiling: float = 0.0  # of these, what compiling took, as far as it is told
    conditions: Conditions | None = None  # what the machine did meanwhile
    patience: float | None = None  # seconds for which a call may wait; None where none does
    # looks at a few calls before the warm-up, within nanoseconds
    prepare: Callable[[Calls, int], object] = lambda calls, budget: None  # noqa: ARG005

    def __post_init__(self) -> None:
        """Be called back where samples leave work running."""
        self.calls.on_work_left = self._wait_for_all

    def run(self, typical: int) -> None:
        """Make all calls, of which one will take ``typical`` nanoseconds; note what ends them."""
        __tracebackhide__ = True
        try:
            with gc_paused():
                # Of the real machine, whatever clock the samples are taken with.
                meter = Meter(Clock.elapsed(), gpus=self.on_gpu)
                self.samples.waited = meter.waited
                try:
                    with self.counted():
                        self._take_samples(typical)
                        self.calls.wait_for_failures()
                finally:
                    self.conditions = meter.read()
        except KeyboardInterrupt as interrupt:
            self.calls.interrupt = interrupt
            self.ended_early = True
            self.notes.append(notes.interrupted())
        if not self.samples.taken:
            self._decide_waiting()
            self.samples.use_warmup_as_samples()
        self.close()
        self._even_out()

    def _even_out(self) -> None:
        """Make the figure of calls that do different work their mean."""
        merge = self.options.number is None and self.options.repeat is None
        merged = self.samples.merge() if merge else None
        if kinds := self.differ or merged:
            note = notes.calls_differ(kinds.fast * 1e-9, kinds.slow * 1e-9, kinds.share)
            self.notes.append(note)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count what is spent within, and keep which error of the user's code ended it."""
        __tracebackhide__ = True
        begun, compiled = self.calls.clock.wall(), self.calls.compile_seconds()
        try:
            with self._patience():
                yield
        # Whatever the user's code raises: its first call succeeded, and that is a result.
        except CODE_ERRORS as error:
            # Its traceback holds what the user's code had at hand, and from Python 3.12 on itself.
            self.ended_early, self.error = True, error.with_traceback(None)
            self.calls.drain.forget_failures()  # of the same calls: other code is not to be blamed
        finally:
            self.elapsed += (self.calls.clock.wall() - begun) * 1e-9
            self.compiling += self.calls.compile_seconds() - compiled

    def warm_up(self, deadline: int) -> None:
        """Call until nothing changes any more, learn from that, and find the size of a sample."""
        __tracebackhide__ = True
        calls, samples = self.calls, self.samples
        self.prepare(calls, deadline - calls.clock.wall())
        sampling.warm_up(calls, samples, deadline)
        self._decide_waiting()
        self.number = sampling.calls_per_sample(calls, samples)
        if kinds := samples.kinds_in_warmup():
            self.differ = kinds
            several = sampling.calls_per_mixed_sample(calls, kinds, deadline)
            self.number = max(self.number, several)
        asynchronous = calls.waiting.is_asynchronous and self.options.clock == "elapsed"
        if asynchronous and self.options.repeat is None:
            most = _IN_FLIGHT_SHARE * self.room
            self.queued = plan_queued_calls(calls, samples.settled_warmup, most)

    @property
    def ahead(self) -> int:
        """Calls to make, untimed, before each sample."""
        return sampling.untimed_calls(self.number)

    def _patience(self) -> AbstractContextManager[None]:
        if self.patience is None:
            return nullcontext()
        calls = self.calls
        return give_up_blocked(self.patience, lambda: calls.made, Clock.elapsed().spent)

    def close(self) -> None:
        """Drop rounds without samples, and note what ended the calls, when all are made."""
        rounds = self.samples.rounds
        while rounds and not rounds[-1]:
            rounds.pop()
        if self.left:
            seconds = self.samples.seconds
            whole = stats.floor(seconds) if seconds else math.inf
            self.notes.append(notes.elsewhere(self.left * 1e-9, whole))
        if self.error is not None:
            self.notes.append(
                _ended_by(self.error, self.calls.made, timed=bool(self.samples.taken))
            )

    def dispatches(self) -> list[float]:
        """Return seconds until Python went on, per call: of queued calls, else the warm-up's."""
        if self.options.clock != "elapsed":
            return []
        if self.queued is not None and self.queued.dispatches:
            return self.queued.dispatches
        return [call.returned * 1e-9 for call in self.samples.settled_warmup]

    def _take_samples(self, typical: int) -> None:
        __tracebackhide__ = True
        calls, samples, options = self.calls, self.samples, self.options
        begun, budget = calls.clock.wall(), int(options.seconds * 1e9)
        deadline = begun + budget
        if self.room < _MIN_ROOM:
            self.notes.append(notes.over_memory(self.room))
            return
        if options.number is not None:
            self.on_progress(math.nan, 0)
            sampling.take_exact_samples(
                calls, samples, options.number, options.repeat or _DEFAULT_REPEAT,
                self._decide_waiting, self._on_sample,
            )  # fmt: skip
            return
        if options.repeat is None and typical > budget:
            again = typical < _MAX_SINGLE_CALL_NS
            if again:  # what the first call alone does, as loading a library, shows now
                samples.warm_up(calls)
                typical = samples.warmup[-1].whole
            if typical > budget:
                self.notes.append(notes.over_budget(typical * 1e-9, again=again))
                return
        self.on_progress(samples.known, budget)
        self.warm_up(deadline)
        if options.repeat is not None:
            sampling.take_samples(calls, samples, self.number, options.repeat, self._on_sample)
            return
        # Where work is hidden, a call whose work was over before the question seems to have none.
        if typical > _SLOW_CALL_SHARE * budget and not (self.differ or calls.waiting.for_all):
            samples.use_warmup_as_samples()
        sampling.sample_until_steady(
            calls, samples, self.number, deadline, options.target,
            self._make_round_callback(deadline, begun),
        )  # fmt: skip
        spent = calls.clock.wall() - begun
        if _MISSED_RATIO * options.target < samples.half_width() < math.inf:
            self.notes.append(notes.needs_longer(samples.known, options.target, spent * 1e-9))

    def _decide_waiting(self) -> None:
        """Decide what calls are waited for, once, from those of the warm-up."""
        if self.samples.warmup and not self.calls.waiting.for_all:
            calls = [(call.waited, call.left) for call in self.samples.warmup]
            if left := self.calls.hidden.decide(calls):
                self._wait_for_all(left)

    def _wait_for_all(self, left: int) -> None:
        """Wait for what the value does not show; what was timed before is another figure."""
        self.calls.wait_for_all()
        self.left = left
        self.samples.count_what_was_left()

    def _on_sample(self, left: int) -> None:
        samples = self.samples
        self.on_progress(math.nan, left * (samples.taken[-1].ns if samples.taken else 0))

    def _make_round_callback(self, deadline: int, begun: int) -> Callable[[], None]:
        calls, queued = self.calls, self.queued
        wall = calls.clock.wall

        def on_round() -> None:
            __tracebackhide__ = True
            if not calls.waiting.for_all and self.samples.taken:
                calls.check(self.samples.per_call)
            if queued is not None and queued.spent <= _QUEUED_SHARE * (wall() - begun):
                queued.measure()
            self.on_progress(self.samples.known, max(deadline - wall(), 0))

        return on_round


def _ended_by(error: BaseException, calls_made: int, *, timed: bool) -> Note:
    """Return the Note on a call after the first one that raised."""
    ended, advice = f"raised {describe_error(error)}", ""
    if isinstance(error, StuckError):
        ended, advice = (
            str(error),
            f"{spell(TimeOptions, budget=round(6 * error.seconds))} waits longer",
        )
    if calls_made == 2:
        return notes.runs_once(ended, advice)
    return notes.stopped_by_error(calls_made, ended, advice, timed=timed)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Collect no garbage in samples, as in `timeit`; as before when the last thread is done."""
    with _Pauses.lock:
        if not _Pauses.count:
            _Pauses.collected = gc.isenabled()
            gc.disable()
        _Pauses.count += 1
    try:
        yield
    finally:
        with _Pauses.lock:
            _Pauses.count -= 1
            if not _Pauses.count and _Pauses.collected:
                gc.enable()


class _Pauses:
    """How many threads sample now, and whether garbage was collected before the first did."""

    lock = threading.Lock()
    count = 0
    collected: bool
