"""The profiled pass: a few more calls, after the samples, under the frameworks' own profilers."""

from collections.abc import Sequence

from ipyjaxbench import units
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.timing.device_time import DeviceTime, ProfiledPass, profiled_pass
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.protocol import Profiler
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.usercode import describe_error

_PROFILED_NS = 20_000_000
_MAX_CALLS = 50
_INTERRUPTED = "interrupted"
_MAX_SESSIONS = 5  # where each call needs preparing, it gets a session of the profiler of its own


def profile_calls(
    calls: Calls,
    frameworks: Sequence[Framework],
    options: TimeOptions,
    samples: Samples,
    first: int,
    *,
    ended_early: bool,
) -> DeviceTime:
    """Make calls under the profiler of each framework in play, one framework after the other.

    Nothing is raised: the samples are a result. ``first`` is what the first call took, in
    nanoseconds, where there are no samples.
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
    for framework in frameworks:
        outcome = refused or _undisturbed(framework, calls, number)
        if isinstance(outcome, ProfiledPass):
            passes.append(outcome)
        elif outcome is not None:
            reasons[framework.name] = outcome
            refused = outcome if outcome == _INTERRUPTED else refused
    if not passes and not reasons:
        reasons = {framework.name: "there is no profiler for it" for framework in frameworks}
    return DeviceTime(tuple(passes), reasons, options.ops)


def _undisturbed(framework: Framework, calls: Calls, number: int) -> ProfiledPass | str | None:
    """The pass; what the user or the user's code does in it ends it and no more than it."""
    __tracebackhide__ = True
    try:
        return _under(framework, calls, number)
    except KeyboardInterrupt as interrupt:
        calls.interrupt = interrupt
        return _INTERRUPTED
    except CODE_ERRORS as error:  # whatever the user's code raises
        return f"a profiled call raised {describe_error(error)}"


def _under(framework: Framework, calls: Calls, number: int) -> ProfiledPass | str | None:
    """The pass under one profiler, or why it tells nothing; None where there is none."""
    __tracebackhide__ = True

    def run() -> None:
        __tracebackhide__ = True
        calls.stretch(each)

    sessions, each = (min(number, _MAX_SESSIONS), 1) if calls.one_by_one else (1, number)
    profiles, elapsed = [], 0
    for _ in range(sessions):
        calls.set_up()
        calls.drain()
        profile = framework.capability(Profiler).profile(run)
        if profile is None:
            return None
        if profile.reason:
            return profile.reason
        elapsed += calls.elapsed
        profiles.append(profile.intervals)
    if not any(profiles):
        return "the profiler saw nothing run on a device"
    return profiled_pass(framework.name, sessions * each, elapsed / 1e9, profiles)
