"""How long arms go on taking turns: until the ratios are known, or the time is up."""

import math
from collections.abc import Callable, Sequence

from ipyjaxbench import ratios
from ipyjaxbench.comparison.arm import Contender
from ipyjaxbench.host.clock import Clock

_SPAN = 0.25  # of the budget at least
#: Slow arms get so many seconds in all for the fewest pairs that allow an answer.
_PATIENCE_NS = 60_000_000_000

#: Hears what is going on: relative half width of the widest ratio, nanoseconds left.
Told = Callable[[float, int], object]


class Pace:
    """Says when enough blocks were taken.

    Attributes:
        blocks: how many there are.
        budget: nanoseconds in all.
    """

    def __init__(self, clock: Clock, begun: int, deadline: int, target: float, told: Told) -> None:
        self.blocks = 0
        self.budget = deadline - begun
        self._wall, self._told = clock.wall, told
        self._begun, self._deadline, self._target = begun, deadline, target
        self._early = begun + _SPAN * self.budget
        self._check = ratios.FEWEST
        self._known = math.inf
        self._first = begun

    def begin(self) -> None:
        """The first block begins."""
        self._first = self._wall()

    def spent(self) -> int:
        """Nanoseconds since the first calls."""
        return self._wall() - self._begun

    def enough(self, arms: Sequence[Contender]) -> bool:
        """Count a block; True where the ratios are known, or time is up."""
        self.blocks += 1
        now = self._wall()
        self._told(self._known, max(self._deadline - now, 0))
        if self.blocks < ratios.FEWEST:
            needed = (now - self._first) / self.blocks * ratios.FEWEST
            return now > self._deadline and needed > _PATIENCE_NS
        if self.blocks >= self._check and now > self._early:
            self._known = _widest(arms)
            self._check = int(1.2 * self._check) + 1
        return now > self._deadline or self._known <= self._target


def _widest(arms: Sequence[Contender]) -> float:
    """Half width of the widest ratio's interval so far, as a logarithm."""
    base, *others = (arm.steady.samples for arm in arms if arm.steady is not None)
    widths = []
    for other in others:
        found = ratios.ratio(ratios.log_ratios(base.seconds, other.seconds), len(others))
        widths.append(math.log(found.high / found.low) / 2 if found else math.inf)
    return max(widths, default=0.0)
