"""Compares snippets side by side: each is warmed up, then samples are interleaved.

A pass takes one sample of each arm; `PER_ROUND` passes make a round of each arm's samples.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

from ipyjaxbench import ratios
from ipyjaxbench.comparison import notes
from ipyjaxbench.comparison.arm import PER_ROUND, Arm, ArmSpec, OwnNames, start_arm
from ipyjaxbench.comparison.comparison import ArmResult, Comparison, grows
from ipyjaxbench.comparison.fairness import check_fairness
from ipyjaxbench.comparison.name_bindings import names_restored
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.comparison.undecided import note_undecided
from ipyjaxbench.device import DeviceInventory
from ipyjaxbench.errors import CODE_ERRORS, ArmFailedError, Interrupted
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.host import CLOCKS, Clock, Conditions, Meter, usable_cpus
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import (
    Measurement,
    OnProgress,
    Rewind,
    Snapshot,
    TimeOptions,
    gc_paused,
    ignore_progress,
    note_compiled_late,
    note_interrupted,
    open_session,
)
from ipyjaxbench.usercode import Muted, describe_error

_WARM_SHARE = 0.2  # of an arm's share of the budget
_ALIKE_RATIO = 2  # times as many calls in a sample
_SLOWED_RATIO = 1.2  # by less, noise may explain it
_SEED = 20260101
_MIN_BUDGET_SHARE = 0.25  # of the budget, that is spent whatever is known
#: Slow arms get so many nanoseconds in all for the fewest pairs that allow an answer.
_MAX_OVERTIME_NS = 60_000_000_000


def compare_snippets(
    entries: Sequence[ArmSpec],
    options: CompareOptions,
    *,
    muted: Muted | None = None,
    on_progress: OnProgress = ignore_progress,
    clock: Clock | None = None,
) -> Comparison:
    """Compare snippets in their namespace, which is afterwards as it was.

    There are two at least, in one namespace; ``muted`` keeps what later calls print from being
    shown, and ``on_progress`` is called after each pass.

    Raises:
        ArmFailedError: an arm failed, which is not to be passed over, or all of them did.
        Interrupted: the user ended it; it holds the comparison of the calls made until then.
    """
    __tracebackhide__ = True
    clock, muted = clock or CLOCKS["elapsed"](), muted or Muted()
    names, baseline = entries[0].snippet.names, options.baseline or entries[0].label
    randomness = Snapshot(names, (), loaded()[0], later=False)
    found: list[Note] = []
    arms: list[Arm] = []
    failed: dict[str, BaseException] = {}
    conditions, interrupt = None, None
    parts = [part for entry in entries for part in entry.parts]
    with names_restored(parts), ExitStack() as watching:
        if options.align:
            for framework in loaded()[0]:
                inventory = framework.capability(DeviceInventory)
                watching.enter_context(inventory.align_settings(usable_cpus()))
        of_arm = TimeOptions(precision=options.precision, restore=options.restore)
        sessions = [
            open_session(e.snippet, of_arm, setup=e.setup, clock=clock, arms=len(entries))
            for e in entries
        ]
        own = [OwnNames(entry) for entry in entries]
        frameworks, _ = loaded()
        begun = clock.wall()
        try:
            for entry, session, own_names in zip(entries, sessions, own, strict=True):
                watching.enter_context(session.watching)
                try:
                    arms.append(start_arm(entry, session, own_names, muted))
                except CODE_ERRORS as error:  # the others go on
                    failed[entry.label] = error
            options = _share(arms, options)
            begun = clock.wall()
            with muted, gc_paused():
                meter = Meter(Clock.elapsed())  # of the real machine, whatever clock is read
                for arm in arms:
                    arm.steady.samples.waited = meter.waited
                try:
                    budget = int(options.seconds_for(len(entries)) * 1e9)
                    stop = StopRule(clock, begun, budget, options, on_progress)
                    _interleave(arms, stop, budget / len(entries), baseline, options.number)
                finally:
                    conditions = meter.read()
        except KeyboardInterrupt as stopped:
            interrupt = stopped
            found.append(note_interrupted())
        finally:
            elapsed = (clock.wall() - begun) * 1e-9
            found += _leave_out_compiled(arms)
            measured = _finish(arms, conditions)
            randomness.restore(frameworks)
        facts = {arm.label: arm.facts(measured[arm.label]) for arm in arms}
        equal, differences = check_fairness(facts)
    errors = {label: describe_error(error) for label, error in failed.items()}
    labels = [entry.label for entry in entries]
    sides = tuple(ArmResult(n, measured.get(n), errors.get(n, "")) for n in labels)
    every_note = (*found, *differences, *_note_slowed(arms, measured))
    alone = {arm.label: arm.alone * 1e-9 for arm in arms if arm.is_sure_alone and arm.alone}
    compared = Comparison(
        sides, baseline, elapsed=elapsed, equal=equal, notes=every_note, alone=alone
    )
    compared = note_undecided(compared, options)
    if interrupt is not None:
        raise Interrupted(compared, interrupt) from None
    if failed and (not options.keep_going or len(failed) == len(entries)):
        raise ArmFailedError(compared, next(iter(failed.values()))) from None
    return compared


def _finish(arms: Sequence[Arm], conditions: Conditions | None) -> dict[str, Measurement]:
    """Put back what all calls changed; return what was found of each arm."""
    Arm.share_growth(arms)
    measured = {arm.label: arm.finish(conditions) for arm in arms}
    for arm in arms:
        arm.leave()
    return measured


def _note_slowed(arms: Sequence[Arm], measured: Mapping[str, Measurement]) -> Iterator[Note]:
    """Note which arms others slow down; where containers grow, it is their length that does."""
    slowed = {
        arm.label: arm.slowed
        for arm in arms
        if arm.slowed > _SLOWED_RATIO and not grows(measured[arm.label])
    }
    if slowed:
        yield notes.slowed_by_others(slowed)


def _share(arms: Sequence[Arm], options: CompareOptions) -> CompareOptions:
    """Have arms share what they start from; return options for few calls, where one leaves jobs."""
    Rewind.share([arm.later.rewind for arm in arms])
    jobs = next((arm.later.jobs for arm in arms if arm.later.jobs), None)
    return options if jobs is None else jobs.limit(options)


class StopRule:
    """Decides when enough passes were made.

    They are where each ratio is an answer and the widest half width is below a target.
    """

    def __init__(
        self,
        clock: Clock,
        begun: int,
        budget: int,
        options: CompareOptions,
        on_progress: OnProgress,
    ) -> None:
        self.passes = 0  # how many were made
        self._wall, self._on_progress = clock.wall, on_progress
        self._begun, self._deadline, self._target = begun, begun + budget, options.target
        self._samples = options.samples
        self._early = begun + _MIN_BUDGET_SHARE * budget
        self._check = ratios.FEWEST
        self._known, self._is_answered = math.inf, False
        self._first = begun

    def begin(self) -> None:
        """Begin the first pass."""
        self._first = self._wall()

    def spent(self) -> int:
        """Return the nanoseconds since the first calls."""
        return self._wall() - self._begun

    def is_done(self, arms: Sequence[Arm]) -> bool:
        """Count a pass; True where as many were asked for, ratios are known, or time is up."""
        self.passes += 1
        now = self._wall()
        if self._samples is not None:
            left = self._samples - self.passes
            self._on_progress(math.nan, (now - self._first) // self.passes * left)
            return left <= 0
        self._on_progress(self._known, max(self._deadline - now, 0))
        if self.passes < ratios.FEWEST:
            needed = (now - self._first) / self.passes * ratios.FEWEST
            grows = self.passes > 1 and any(arm.outgrows_samples for arm in arms)
            is_vain = grows or needed > _MAX_OVERTIME_NS
            return now > self._deadline and is_vain
        if self.passes >= self._check and now > self._early:
            self._known, self._is_answered = _look(arms)
            self._check = int(1.2 * self._check) + 1
        is_known = self._known <= self._target and self._is_answered
        return now > self._deadline or is_known


def _look(arms: Sequence[Arm]) -> tuple[float, bool]:
    """Return half the width of the widest ratio's interval so far, as a logarithm.

    And whether each of them is an answer: more samples may tell what these do not.
    """
    base, *others = (arm.steady.samples for arm in arms)
    itself = ratios.against_itself(base.seconds)
    floor = 0.0 if itself is None else ratios.floor(itself)
    widths, is_answered = [0.0], True
    for other in others:
        ratio = ratios.ratio(ratios.log_ratios(base.seconds, other.seconds), len(others))
        known = ratio is not None and ratio.coverage
        widths.append(math.log(ratio.high / ratio.low) / 2 if ratio and known else math.inf)
        is_answered &= ratio is not None and ratio.verdict_above(floor) != "CAN'T TELL"
    return max(widths), is_answered


def _interleave(
    arms: Sequence[Arm], stop: StopRule, share: float, baseline: str, number: int | None
) -> None:
    """Warm up each arm, then make passes: one sample of each, in random order."""
    __tracebackhide__ = True
    _warm_up(arms, _WARM_SHARE * share, number)
    stop.begin()
    rng = random.Random(_SEED)
    order: list[Arm] = []
    while going := [arm for arm in arms if not arm.steady.ended_early]:
        # Drawn by lot, then the other way round: no arm comes before another more often.
        mirrored = stop.passes % 2 == 1 and len(order) == len(going)
        order = order[::-1] if mirrored else rng.sample(going, len(going))
        for arm in order:
            arm.sample()
        # What is known is known of ratios to the baseline, so it is asked for first.
        if stop.is_done(sorted(going, key=lambda arm: arm.label != baseline)):
            return
        if stop.passes % PER_ROUND == 0:
            for arm in going:
                arm.measure_throughput(stop.spent())


def _warm_up(arms: Sequence[Arm], share: float, number: int | None) -> None:
    """Decide once for all which state calls start from, then warm up each; set calls per sample."""
    alone = len({framework.name for arm in arms for framework in arm.later.in_play}) < 2
    for arm in arms:
        arm.choose_state(share)
    Rewind.agree([arm.later.rewind for arm in arms if not arm.steady.ended_early])
    for arm in arms:
        if not arm.steady.ended_early:
            arm.warm_up(share, alone=alone)
    going = [arm for arm in arms if not arm.steady.ended_early]
    if number is None:
        _even_out(going)
        return
    for arm in going:
        arm.number = number


def _even_out(arms: Sequence[Arm]) -> None:
    """Give arms that take about as long as many calls in a sample.

    On a busy machine a longer sample meets more of what other programs do.
    """
    numbers = [arm.number for arm in arms]
    if numbers and max(numbers) <= _ALIKE_RATIO * min(numbers):
        for arm in arms:
            arm.number = max(numbers)


def _leave_out_compiled(arms: Sequence[Arm]) -> list[Note]:
    """Drop the passes in which an arm compiled something that does not do so all the time."""
    lists = [arm.steady.samples for arm in arms]
    rare = [s for s in lists if 0 < 2 * sum(s.compiled) <= len(s.compiled)]
    wrong = {i for samples in rare for i, compiled in enumerate(samples.compiled) if compiled}
    for samples in lists:
        samples.leave_out(wrong)
    return [note_compiled_late(len(wrong))] if wrong else []
