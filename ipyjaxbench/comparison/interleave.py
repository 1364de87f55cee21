"""Compares snippets side by side: each is warmed up, then all are sampled in turns."""

import random
from collections.abc import Sequence
from contextlib import ExitStack

from ipyjaxbench.comparison import fairness, notes
from ipyjaxbench.comparison.arm import PER_ROUND, Contender, Entry
from ipyjaxbench.comparison.comparison import Comparison
from ipyjaxbench.comparison.name_bindings import restored
from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.comparison.stopping import Pace, Told
from ipyjaxbench.errors import ArmFailedError, Interrupted
from ipyjaxbench.frameworks import loaded, usable_cpus
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.host.conditions import Meter
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing import notes as timing_notes
from ipyjaxbench.timing.isolation import Snapshot
from ipyjaxbench.timing.measure import nobody
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.rewind import Rewind
from ipyjaxbench.timing.steady_state import gc_paused
from ipyjaxbench.usercode.output import Muted

_WARM_SHARE = 0.2  # of an arm's share of the budget
_ALIKE = 2  # times as many calls in a sample
_SLOWED = 1.2  # by less, noise may explain it
_SEED = 20260101


def compare_snippets(
    entries: Sequence[Entry],
    options: CompareOptions,
    *,
    muted: Muted | None = None,
    told: Told = nobody,
    clock: Clock | None = None,
) -> Comparison:
    """Compare snippets in their namespace, which is afterwards as it was.

    Args:
        entries: the arms, two at least, in one namespace.
        options: the baseline and how long.
        muted: keeps what later calls print from being shown.
        told: hears after each block how far it is.
        clock: to read; None takes that of elapsed time.

    Returns:
        The comparison.

    Raises:
        ArmFailedError: an arm failed, which is not to be passed over, or all of them did.
        Interrupted: the user ended it; it holds the comparison of the calls made until then.
    """
    __tracebackhide__ = True
    clock, muted = clock or Clock.elapsed(), muted or Muted()
    names, baseline = entries[0].snippet.names, options.baseline or entries[0].label
    randomness = Snapshot(names, (), loaded()[0], later=False)
    said: list[Note] = []
    conditions, interrupt = None, None
    parts = [part for entry in entries for part in entry.parts]
    with restored(parts), ExitStack() as watching:
        if options.align:
            for framework in loaded()[0]:
                watching.enter_context(framework.aligned(usable_cpus()))
        each = TimeOptions(precision=options.precision, restore=options.restore)
        arms = [Contender(entry, each, muted, clock) for entry in entries]
        frameworks, _ = loaded()
        begun = clock.wall()
        try:
            for arm in arms:
                watching.enter_context(arm.timing.watching)
                arm.first_call(frameworks, names)
            Rewind.share([arm.timing.rewind for arm in arms if arm.steady is not None])
            begun = clock.wall()
            with muted, gc_paused():
                meter = Meter(Clock.elapsed())  # of the real machine, whatever clock is read
                try:
                    deadline = begun + int(options.seconds_for(len(arms)) * 1e9)
                    _in_turns(arms, Pace(clock, begun, deadline, options.target, told), baseline)
                finally:
                    conditions = meter.read()
        except KeyboardInterrupt as stopped:
            interrupt = stopped
            said.append(timing_notes.interrupted())
        finally:
            elapsed = (clock.wall() - begun) * 1e-9
            said += _leave_out_compiled(arms)
            sides = tuple(arm.side(conditions) for arm in arms)
            randomness.restore(frameworks)
        said += [notes.slowed_by_others(a.label, a.slowed) for a in arms if a.slowed > _SLOWED]
        checked = fairness.checked({arm.label: arm.seen() for arm in arms if arm.steady})
    said += checked.notes
    found = Comparison(sides, baseline, elapsed=elapsed, equal=checked.equal, notes=tuple(said))
    if interrupt is not None:
        raise Interrupted(found, interrupt) from None
    failed = [arm.failed for arm in arms if arm.failed is not None]
    if failed and (not options.keep_going or len(failed) == len(arms)):
        raise ArmFailedError(found, failed[0]) from None
    return found


def _in_turns(arms: Sequence[Contender], pace: Pace, baseline: str) -> None:
    """Warm up each arm, then take blocks: one sample of each, in random order."""
    _warm_up(arms, _WARM_SHARE * pace.budget / len(arms))
    pace.begin()
    rng = random.Random(_SEED)
    order: list[Contender] = []
    while going := [arm for arm in arms if arm.going]:
        # Drawn by lot, then the other way round: no arm comes before another more often.
        mirrored = pace.blocks % 2 == 1 and len(order) == len(going)
        order = order[::-1] if mirrored else rng.sample(going, len(going))
        for arm in order:
            arm.sample()
        # What is known is known of ratios to the baseline, so it is asked for first.
        if pace.enough(sorted(going, key=lambda arm: arm.label != baseline)):
            return
        if pace.blocks % PER_ROUND == 0:
            for arm in going:
                arm.look(pace.spent())


def _warm_up(arms: Sequence[Contender], share: float) -> None:
    """Decide once for all which state calls start from, then warm up each."""
    alone = len({name for arm in arms for name in arm.frameworks}) < 2
    for arm in arms:
        if arm.going:
            arm.choose_state(share)
    Rewind.agree([arm.timing.rewind for arm in arms if arm.going])
    for arm in arms:
        if arm.going:
            arm.warm_up(share, alone=alone)
    _even_out([arm for arm in arms if arm.going])


def _even_out(arms: Sequence[Contender]) -> None:
    """Give arms that take about as long as many calls in a sample.

    On a busy machine a longer sample meets more of what other programs do.
    """
    numbers = [arm.number for arm in arms]
    if numbers and max(numbers) <= _ALIKE * min(numbers):
        for arm in arms:
            arm.number = max(numbers)


def _leave_out_compiled(arms: Sequence[Contender]) -> list[Note]:
    """Drop the blocks in which an arm compiled something that does not do so all the time."""
    lists = [arm.steady.samples for arm in arms if arm.steady is not None]
    rare = [s for s in lists if 0 < 2 * sum(s.compiled) <= len(s.compiled)]
    wrong = {i for samples in rare for i, compiled in enumerate(samples.compiled) if compiled}
    for samples in lists:
        samples.leave_out(wrong)
    return [timing_notes.compiled_late(len(wrong))] if wrong else []
