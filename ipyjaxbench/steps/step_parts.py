"""The parts of a step's time, in one step and in one line."""

from dataclasses import dataclass

from ipyjaxbench.record_types import NonNegativeFloat, NonNegativeInt, PositiveInt

#: What the time of a step goes into, in the order of a step, and what that is.
PARTS = {
    "data": "waiting for the next batch",
    "host": "Python, until the device has its work",
    "call": "calls that compute before they return: host and device in one",
    "device": "waiting for the device",
    "rest": "Python after that: logging, metrics, checkpoints",
}


@dataclass(frozen=True)
class StepTime:
    """One step, or several that follow each other, in seconds.

    Attributes:
        data: waiting for the next batch.
        host: Python until the device has its work.
        call: calls that compute before they return: host and device in one.
        device: waiting for the device.
        rest: Python after the last work for the device.
        steps: how many steps share this entry.
        compiled: whether something was compiled in it.
        complete: whether it came to its end.
    """

    data: NonNegativeFloat
    host: NonNegativeFloat
    call: NonNegativeFloat
    device: NonNegativeFloat
    rest: NonNegativeFloat
    steps: PositiveInt = 1
    compiled: bool = False
    complete: bool = True

    @property
    def seconds(self) -> float:
        """The whole time, all parts together."""
        return self.data + self.host + self.call + self.device + self.rest


@dataclass(frozen=True)
class LineTime:
    """One line of the loop in its steady steps.

    Attributes:
        line: its number.
        text: the line.
        part: "data", "host", "call" or "rest": the part that its time belongs to, except waits.
        seconds: time spent in it, waits left out, all steady steps together.
        waited: time for which it waited for the device.
        waits: number of complete steps in which it waited for 2 % of the step or more.
        framework: the framework whose work it starts; empty if none.
    """

    line: int
    text: str
    part: str
    seconds: NonNegativeFloat
    waited: NonNegativeFloat = 0.0
    waits: NonNegativeInt = 0
    framework: str = ""
