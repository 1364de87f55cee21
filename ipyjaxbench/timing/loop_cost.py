"""What the loop around calls costs itself."""

from collections.abc import Sequence
from itertools import repeat

from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import Snippet, Source

_ITERATIONS, _READINGS = 1000, 9


def cost_of_binding(names: Sequence[str], clock: Clock) -> float:
    """Nanoseconds that setting names back takes in each iteration: as much as a tiny statement."""
    bind = "; ".join(f"{name} = None" for name in names)
    return max(cost_per_iteration(bind, clock) - cost_per_iteration("pass", clock), 0.0)


def cost_per_iteration(code: str, clock: Clock) -> float:
    """Nanoseconds that tiny code takes in each iteration of a loop, the loop included."""
    loop = Snippet(Source.plain(code), {}).loop()
    readings = [
        loop(repeat(None, _ITERATIONS), clock.now, lambda _: None, ()) for _ in range(_READINGS)
    ]
    return min(readings) / _ITERATIONS  # other programs only lengthen it
