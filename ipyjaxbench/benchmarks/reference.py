"""How long a call takes in steps of a fixed loop that is made between calls: machines cancel out.

Two runs of the same code a day apart differ by what else the machine did: by a factor of two where
another program shares the core. Calls that alternate with a loop of about their own length are
slowed down as much as the loop is (tests/accuracy/sections/benchmarks.py).
"""

from collections.abc import Callable

from ipyjaxbench.comparison import ArmSpec, CompareOptions, compare_snippets
from ipyjaxbench.errors import ArmFailedError
from ipyjaxbench.host import Clock
from ipyjaxbench.records import RelativeTime
from ipyjaxbench.timing import PreparedCall
from ipyjaxbench.usercode import Snippet

_CALL, LOOP = "call", "loop"
_TRIED, _TRIES = 20_000, 3
_FEWEST, _MOST = 1_000, 20_000_000  # steps
_ATTEMPTS, _NARROW = 3, 1.04  # times: ends of an interval that are near enough


def measure_relative(
    call: PreparedCall, seconds: float, options: CompareOptions
) -> RelativeTime | None:
    """Return how many steps of the loop take as long as a call; None where that is not known.

    Beside noise it is measured up to three times, and the surest of them counts.

    Args:
        call: to measure; it has been made before.
        seconds: that it takes, about.
        options: how long to measure each time.
    """
    __tracebackhide__ = True
    steps = min(max(round(seconds / _seconds_per_step()), _FEWEST), _MOST)
    loop = call.beside(LOOP, _make_loop(steps))
    best: RelativeTime | None = None
    for _ in range(_ATTEMPTS):
        found = _measure_once(call, loop, steps, options)
        if found is None:
            break
        best = found if best is None else min(best, found, key=_width)
        if _width(best) < _NARROW:
            break
    return best


def _measure_once(
    call: PreparedCall, loop: Snippet, steps: int, options: CompareOptions
) -> RelativeTime | None:
    __tracebackhide__ = True
    arms = [ArmSpec(LOOP, loop), ArmSpec(_CALL, call.snippet, call.setup)]
    try:
        compared = call.run(lambda: compare_snippets(arms, options))
    except ArmFailedError:
        return None
    ratio = compared.ratio(_CALL)
    if ratio is None or ratio.coverage is None:
        return None
    return RelativeTime(ratio.value * steps, ratio.low * steps, ratio.high * steps, ratio.pairs)


def _width(relative: RelativeTime) -> float:
    return relative.high / relative.low


def _make_loop(steps: int) -> Callable[[], int]:
    def loop() -> int:
        total = 0
        for step in range(steps):
            total += step
        return total

    return loop


def _seconds_per_step() -> float:
    clock, loop = Clock.elapsed(), _make_loop(_TRIED)
    taken = []
    for _ in range(_TRIES):
        start = clock.now()
        loop()
        taken.append(clock.now() - start)
    return max(min(taken), 1) * 1e-9 / _TRIED
