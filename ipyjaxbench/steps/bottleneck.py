"""What a loop's steps spend their time on, in one word, and the line to change."""

from collections.abc import Mapping
from dataclasses import dataclass

from ipyjaxbench.steps.step_parts import LineTime

VERDICT_MEANINGS = {
    "DATA-BOUND": "most of a step waits for the next batch",
    "HOST-BOUND": "most of a step is Python; the device waits for it",
    "DEVICE-BOUND": "most of a step is the device's work",
    "SYNC-BOUND": "a value is read in every step: host and device take turns",
    "CALL-BOUND": "most of a step is calls that compute before they return",
    "BALANCED": "no part of a step is clearly the largest",
    "?": "not known; a note says why",
    "FEW": "too few steps between the first and the last",
}
FEWEST = 3  # steady steps
_CLEARLY = 0.1  # of a step: by so much the largest part is larger than the next
_WORTH = 0.1  # of a step: what host and device would save side by side
_LEAST_WAIT = 0.02  # of a step: shorter ones are what asking takes
_EVERY = 0.9  # of all steps: from there on it is in every one
_LEAST_BACKLOG = 1e-3  # seconds
_QUEUE = 32  # steps that devices may have waiting; after more of them Python waits, too
_BEHIND = 1.5  # steps of work left after the loop: the device has never been idle


@dataclass(frozen=True)
class Bottleneck:
    """What the steps spend their time on.

    Attributes:
        verdict: one word of `VERDICT_MEANINGS`.
        line: the one to change; None where there is none.
        saves: share of a step that would be saved at most.
    """

    verdict: str
    line: LineTime | None = None
    saves: float = 0.0


@dataclass(frozen=True)
class SteadySteps:
    """The steps of a loop between the first and the last, in short.

    Attributes:
        steps: how many.
        usual: seconds of one, the median.
        shares: the share of each part.
        lines: the lines of the loop.
        complete: how many steps came to their end, the first and the last too.
        backlog: seconds of work that a device had left after the loop, each time that it ran.
        draws_inside: whether calls draw their batches themselves.
        was_stopped: whether that backlog is not known.
    """

    steps: int
    usual: float
    shares: Mapping[str, float]
    lines: tuple[LineTime, ...]
    complete: int
    backlog: float
    draws_inside: bool = False
    was_stopped: bool = False

    @property
    def is_behind(self) -> bool:
        """Whether the device had more than a step's work left: it was never idle."""
        return self.backlog > max(_BEHIND * self.usual, _LEAST_BACKLOG)

    def largest(self, *parts: str) -> LineTime | None:
        """Return the line that takes longest, of those of some parts."""
        lines = [each for each in self.lines if each.part in parts]
        return max(lines, key=lambda each: each.seconds, default=None)

    def last_work(self) -> LineTime | None:
        """Return the last line that gives the device work."""
        lines = [each for each in self.lines if each.framework]
        return lines[-1] if lines else None

    def overlapped(self, read: LineTime | None) -> float:
        """Return the share of a step in which the device works beside Python, for certain.

        A wait above all work of a step is for the work of the step before: the device was busy with
        that while Python waited for data. It was so for certain if the wait is no short one.
        """
        work = [each.line for each in self.lines if each.framework and each is not read]
        if read is None or not work or read.line >= min(work):
            return 0.0
        is_short = self.shares["device"] < _LEAST_WAIT
        return 0.0 if is_short else self.shares["data"] + self.shares["rest"]

    def read_in_every_step(self) -> LineTime | None:
        """Return the line that waits longest for the device, of those that do in every step."""
        often = [each for each in self.lines if each.waits >= max(_EVERY * self.complete, 1)]
        return max(often, key=lambda each: each.waited, default=None)


def find_bottleneck(steady: SteadySteps) -> Bottleneck:
    """Return what the steady steps of a loop spend their time on."""
    shares = steady.shares
    if steady.steps < FEWEST or not shares:
        return Bottleneck("FEW")
    sizes = {
        "DATA-BOUND": (shares["data"], steady.largest("data")),
        "HOST-BOUND": (shares["host"] + shares["rest"], steady.largest("host", "rest")),
        "CALL-BOUND": (shares["call"], steady.largest("call")),
        "DEVICE-BOUND": (shares["device"], steady.last_work()),
    }
    order = sorted(sizes, key=lambda verdict: -sizes[verdict][0])
    size, line = sizes[order[0]]
    if steady.draws_inside and order[0] == "CALL-BOUND":
        return Bottleneck("?")
    if steady.is_behind:
        return Bottleneck("DEVICE-BOUND", steady.last_work(), size)
    read, device = steady.read_in_every_step(), shares["device"]
    busy = device + steady.overlapped(read)
    if read is not None and busy > device and 1 - busy < _WORTH:
        return Bottleneck("DEVICE-BOUND", steady.last_work(), busy)
    apart = min(device, 1 - busy)
    if read is not None and apart >= _WORTH and device > size - _CLEARLY:
        return Bottleneck("SYNC-BOUND", read, apart)
    if steady.was_stopped and read is None and steady.complete <= _QUEUE:
        return Bottleneck("?")
    if size - sizes[order[1]][0] < _CLEARLY:
        return Bottleneck("BALANCED")
    return Bottleneck(order[0], line, size)
