"""The energy of calls, by the counter of the GPU's driver, seen in calls apart from the samples."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ipyjaxbench import units
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.host import EnergyCounter, find_energy_counter
from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.usercode import describe_error

_SECONDS = 2.0  # in which the counter rises about twenty times
_LONG_ENOUGH, _TRIES = 0.7, 3  # of these seconds; of numbers of calls that take so long
_BETWEEN_READINGS = 0.005  # seconds: by so much the moment of a rise may be late


class _Rise(NamedTuple):
    """The counter when it was seen to have risen."""

    joules: float
    ns: int  # on the clock


@dataclass(frozen=True)
class Energy:
    """What GPUs used while calls were made, between the first and the last rise of a counter.

    It is the energy of whole GPUs, with what they use while they wait for the next call.
    """

    calls: NonNegativeInt = 0
    elapsed: NonNegativeFloat = 0.0  # seconds that they took
    joules: NonNegativeFloat = 0.0  # between two rises of the counter while they were made
    seconds: NonNegativeFloat = 0.0  # between the same two
    rises: NonNegativeInt = 0  # from the first of them to the last
    reason: str = ""  # why it is not known, in words; empty where it is

    @property
    def watts(self) -> float | None:
        """Mean power; None if unknown."""
        return self.joules / self.seconds if self.seconds else None

    @property
    def per_call(self) -> float | None:
        """Joules per call; None if unknown."""
        return self.watts * self.elapsed / self.calls if self.watts and self.calls else None

    def words(self) -> str:
        """Return the row of a report.

        Example:
            >>> Energy(1400, 2.0, 1254.0, 1.9, 19).words()
            "943 mJ per call, 660 W; 1,400 more calls, 19 rises of the driver's counter in 1.90 s"
        """
        if self.per_call is None or self.watts is None:
            return f"unknown: {self.reason}"
        each, power = units.energy(self.per_call), units.power(self.watts)
        calls, rises = units.count(self.calls, "more call"), units.count(self.rises, "rise")
        took = units.duration(self.seconds)
        return f"{each} per call, {power}; {calls}, {rises} of the driver's counter in {took}"

    def check(self) -> str | None:
        """Return why these facts cannot be true, in words; None where they can."""
        is_known = self.per_call is not None
        return None if is_known != bool(self.reason) else "energy without a time, or for no call"


def measure_energy(calls: Calls, typical: float, budget: float, *, ended_early: bool) -> Energy:
    """Make calls for two seconds while the counter runs; whatever they raise ends these alone.

    Args:
        calls: makes them.
        typical: nanoseconds that a call takes.
        budget: seconds that one call may take.
        ended_early: whether the measurement ended early; then no more calls are made.
    """
    __tracebackhide__ = True
    if ended_early:
        return Energy(reason="the measurement ended early")
    if typical > budget * 1e9:
        over = units.duration(budget, 2)
        return Energy(reason=f"another call would exceed the time budget of {over}")
    if calls.is_prepared:
        return Energy(reason="what runs before each call would be counted too")
    counter = find_energy_counter()
    if isinstance(counter, str):
        return Energy(reason=counter)
    try:
        return _count(counter, calls, max(1, round(_SECONDS * 1e9 / max(typical, 1))))
    except KeyboardInterrupt as interrupt:
        calls.interrupt = interrupt
        return Energy(reason="interrupted")
    except CODE_ERRORS as error:  # whatever the user's code raises
        return Energy(reason=f"a call raised {describe_error(error)}")


def _count(counter: EnergyCounter, calls: Calls, number: int) -> Energy:
    """Make so many calls. A thread reads meanwhile: asking a driver can take milliseconds."""
    __tracebackhide__ = True
    wall, done = calls.clock.wall, threading.Event()
    rises: list[_Rise] = []
    reader = threading.Thread(
        target=_read, args=(counter, wall, done, rises), daemon=True, name="ipyjaxbench energy"
    )
    reader.start()
    try:
        for _ in range(_TRIES):
            begun = wall()
            calls.stretch(number)
            ended = begun + calls.elapsed
            if calls.elapsed >= _LONG_ENOUGH * _SECONDS * 1e9:
                break
            # The samples were of slower calls, as a few after a pause are.
            number = round(number * _SECONDS * 1e9 / max(calls.elapsed, 1))
    finally:
        done.set()
        reader.join()
    within = [rise for rise in rises if begun <= rise.ns <= ended]
    if len(within) < 2:
        return Energy(reason=f"the driver's counter did not rise twice in {_SECONDS:g} s of calls")
    first, last = within[0], within[-1]
    seconds, joules = (last.ns - first.ns) * 1e-9, last.joules - first.joules
    return Energy(number, calls.elapsed * 1e-9, joules, seconds, len(within) - 1)


def _read(
    counter: EnergyCounter, wall: Callable[[], int], done: threading.Event, rises: list[_Rise]
) -> None:
    last = counter.joules()
    while not done.wait(_BETWEEN_READINGS):
        now = counter.joules()
        if now is None:
            continue  # an answer that fails is no rise, nor is the one after it
        if last is not None and now != last:
            rises.append(_Rise(now, wall()))
        last = now
