"""A GPU that only a clock can ask, whose answers take as long as an H100's took.

Medians and 95 % points are those of `cuCtxSynchronize` (driver 580) and of a tiny JAX program that
is waited for; a few answers in a hundred take longer, as an interrupt would make them.
"""

import math
import random
from typing import Any, NamedTuple

from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from tests.fake_framework import FakeFramework

_LONG_NS = 3_300_000  # a call after which looks take as long as they ever do
_LATE, _LATEST_NS = 0.05, 200_000  # the share of answers that are late, and by how much at most
_DISPATCH_NS = 8_000


class Look(NamedTuple):
    """How long asking takes, in nanoseconds."""

    warm: tuple[int, int]  # right after another one: from, to
    after_small: int  # right after a call of some microseconds, in the middle
    after_long: int  # right after one of some milliseconds, in the middle
    spread: float  # of the logarithm


DRIVER = Look((2_000, 3_500), 6_000, 29_000, 0.24)
TINY_PROGRAM = Look((75_000, 80_000), 80_000, 150_000, 0.17)


class NoisyGpu(FakeFramework):
    """What works in the order in which it was given work, and tells nothing.

    Args:
        look: how long asking it takes.
        seed: of its noise.
    """

    def __init__(self, look: Look, seed: int) -> None:
        super().__init__(FakeDevice(FakeClock()))
        self._look = look
        self._random = random.Random(seed)
        self._cold = 0.0  # the share of a long call that the last one was, until it is asked

    def is_running(self) -> None:
        """It is not told."""

    def drain(self) -> None:
        """Wait until it has nothing to do; then the answer takes a while."""
        asked = self.device.clock.now()
        super().drain()
        waited = self.device.clock.now() - asked
        self.device.clock.advance(max(self._answer() - waited, self._look.warm[0]))

    def start(self, work: int, hidden: int = 0) -> FakeArray:
        """Begin a call whose value takes ``work`` nanoseconds, and ``hidden`` more that it hides.

        Its value comes when all that it was given before is done.
        """
        noise = math.exp(self._random.gauss(0, 0.01))
        self._cold = min(work / _LONG_NS, 1.0)
        array = self.device.start(dispatch=_DISPATCH_NS, work=round(work * noise) - _DISPATCH_NS)
        if hidden:
            self.device.start(dispatch=0, work=round(hidden * noise))
        return array

    def _answer(self) -> int:
        """Nanoseconds of one answer."""
        draw, look = self._random, self._look
        late = draw.uniform(0, _LATEST_NS) if draw.random() < _LATE else 0.0
        if not self._cold:
            return round(draw.uniform(*look.warm) + late)
        middle = look.after_small + self._cold * (look.after_long - look.after_small)
        self._cold = 0.0
        return round(middle * math.exp(draw.gauss(0, look.spread)) + late)


def names(gpu: NoisyGpu, work: int, hidden: int) -> dict[str, Any]:
    """What code calls that is timed on it."""
    return {"call": lambda: gpu.start(work, hidden)}
