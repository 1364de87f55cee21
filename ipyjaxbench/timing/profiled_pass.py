"""The profiled pass: a few more calls, after the samples, under the frameworks' own profilers."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from ipyjaxbench import units
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.timing.device_time import (
    DeviceTime,
    Interval,
    Profile,
    ProfiledPass,
    profiled_pass,
)
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.perfetto.timeline import Timeline
from ipyjaxbench.timing.protocol import Profiler
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.usercode import describe_error

_PROFILED_NS = 20_000_000
_MAX_CALLS = 50
#: Of calls before those, on a GPU: its clock is higher after a pause of 50 ms, so that 20 ms of
#: bfloat16 products take 14 % less than in a loop (H100 and H200, capped at 700 W).
_HEATING_NS = 200_000_000
_MAX_HEATING_CALLS = 1000  # shorter calls leave a GPU idle for most of the time
_INTERRUPTED = "interrupted"
_START = attrgetter("start")
_MAX_SESSIONS = 5  # where each call needs preparing, it gets a session of the profiler of its own


class Plan(NamedTuple):
    """Which calls are made under a profiler."""

    number: int  # how many count
    heating: int  # how many are made before them
    timeline: Timeline | None  # in which it is kept what they did when


def profile_calls(
    calls: Calls,
    frameworks: Sequence[Framework],
    options: TimeOptions,
    samples: Samples,
    first: int,
    *,
    on_gpu: bool,
    ended_early: bool,
    timeline: Timeline | None = None,
) -> DeviceTime:
    """Make calls under the profiler of each framework in play, one framework after the other.

    Nothing is raised: the samples are a result. ``first`` is what the first call took, in
    nanoseconds, where there are no samples. A GPU is brought to the clock of a loop before. What
    the calls did when is kept in a ``timeline``, where there is one.
    """
    __tracebackhide__ = True
    passes: list[ProfiledPass] = []
    reasons: dict[str, str] = {}
    typical = samples.per_call if samples.taken else first
    refused = ""
    if ended_early:
        refused = "the measurement ended early"
    elif typical > options.seconds * 1e9:
        refused = (
            f"another call would exceed the time budget of {units.duration(options.seconds, 2)}"
        )
    number = max(1, min(_MAX_CALLS, round(_PROFILED_NS / max(typical, 1))))
    heating = min(_MAX_HEATING_CALLS, round(_HEATING_NS / max(typical, 1))) if on_gpu else 0
    for framework in frameworks:
        outcome = refused or _undisturbed(framework, calls, Plan(number, heating, timeline))
        if isinstance(outcome, ProfiledPass):
            passes.append(outcome)
        elif outcome is not None:
            reasons[framework.name] = outcome
            refused = outcome if outcome == _INTERRUPTED else refused
    if not passes and not reasons:
        reasons = {framework.name: "there is no profiler for it" for framework in frameworks}
    return DeviceTime(tuple(passes), reasons, options.ops)


def _undisturbed(framework: Framework, calls: Calls, plan: Plan) -> ProfiledPass | str | None:
    """The pass; what the user or the user's code does in it ends it and no more than it."""
    __tracebackhide__ = True
    try:
        return _under(framework, calls, plan)
    except KeyboardInterrupt as interrupt:
        calls.interrupt = interrupt
        return _INTERRUPTED
    except CODE_ERRORS as error:  # whatever the user's code raises
        return f"a profiled call raised {describe_error(error)}"


def _under(framework: Framework, calls: Calls, plan: Plan) -> ProfiledPass | str | None:
    """The pass under one profiler, or why it tells nothing; None where there is none."""
    __tracebackhide__ = True
    sessions = 1
    if calls.one_by_one:
        sessions, plan = min(plan.number, _MAX_SESSIONS), plan._replace(number=1, heating=0)
    profiles, made, elapsed, replayed = [], 0, 0, False
    for _ in range(sessions):
        calls.set_up()
        calls.drain()
        profile, calls_of_it, nanoseconds = _profile(framework, calls, plan)
        if profile is None:
            return None
        if profile.reason:
            return profile.reason
        made += calls_of_it
        elapsed += nanoseconds
        replayed |= profile.replayed
        profiles.append(profile.intervals)
    if not any(profiles):
        return "the profiler saw nothing run on a device"
    return profiled_pass(framework.name, made, elapsed / 1e9, profiles, replayed=replayed)


def _profile(framework: Framework, calls: Calls, plan: Plan) -> tuple[Profile | None, int, int]:
    """Return what one session of a profiler saw, of how many calls, and their nanoseconds."""
    __tracebackhide__ = True
    elapsed: list[int] = []
    number, heating, timeline = plan

    def run() -> None:
        __tracebackhide__ = True
        if timeline is not None:
            timeline.begin_run()
        for stretch in filter(None, (heating, number)):
            _stretch(calls, stretch, timeline)
            elapsed.append(calls.elapsed)

    profiler = framework.capability(Profiler)
    profile = profiler.profile(run) if timeline is None else profiler.profile(run, sources=True)
    if profile is None:
        return None, number, sum(elapsed)
    last = _of_last_calls(profile.intervals, heating, number) if heating else None
    if last is not None:
        profile, elapsed = replace(profile, intervals=last), elapsed[-1:]
    elif heating:  # the report counts all of them
        number += heating
    if timeline is not None and not profile.reason:
        timeline.keep(framework.name, profile, len(elapsed))
    return profile, number, sum(elapsed)


def _stretch(calls: Calls, number: int, timeline: Timeline | None) -> None:
    __tracebackhide__ = True
    if timeline is None:
        calls.stretch(number)
        return
    with timeline.recording():
        calls.stretch(number, timeline.observe)
    timeline.end_stretch(calls.begun, calls.elapsed)


def _of_last_calls(
    intervals: Sequence[Interval], before: int, calls: int
) -> tuple[Interval, ...] | None:
    """Return what the last calls ran; None where not all run equally many operations."""
    found: list[Interval] = []
    for device in {each.device for each in intervals}:
        own = sorted((each for each in intervals if each.device == device), key=_START)
        each_call, odd = divmod(len(own), before + calls)
        if odd:
            return None
        found += own[before * each_call :]
    return tuple(found)
