"""How fast something goes at its fastest: short runs, many of them, the best one counts.

Whatever disturbs a run makes it slower, so that the fastest is nearest to what a device can do.
"""

from collections.abc import Callable, Sequence

from ipyjaxbench.host.clock import Clock

#: Computes, and returns when that is done.
Run = Callable[[], object]

_FEWEST = 3
_NS = 1_000_000_000
#: Sides of square matrices: the first fills a CPU, the last one a large GPU.
SIDES = (512, 1024, 2048, 4096, 8192)


def fastest(run: Run, clock: Clock, seconds: float) -> float:
    """Seconds of the fastest run, the first one left out.

    Args:
        run: what is to be timed.
        clock: to read.
        seconds: to spend in all; two runs are made in any case.

    Example:
        >>> from ipyjaxbench.testing import FakeClock
        >>> clock = FakeClock()
        >>> fastest(lambda: clock.advance(2_000_000), clock, 0.1)
        0.002
    """
    end = clock.wall() + int(seconds * _NS)
    run()
    best = 0
    turns = 0
    while turns < 1 or clock.wall() < end:
        start = clock.now()
        run()
        taken = clock.now() - start
        best = min(best or taken, taken)
        turns += 1
    return max(best, 1) / _NS


def of_products(
    product: Callable[[int], Run], clock: Clock, seconds: float, sides: Sequence[int] = SIDES
) -> tuple[float, int]:
    """The fastest product, over matrices that grow.

    Args:
        product: what multiplies matrices of so many rows and columns.
        clock: to read.
        seconds: to spend on each size; a size of which three runs would take longer is left out,
            unless it is the first one.
        sides: the sizes.

    Returns:
        Operations in a second, and the size at which they were reached.
    """
    found: list[tuple[float, int]] = []
    for n in sides:
        operations = 2.0 * n**3
        if found and _FEWEST * operations > seconds * found[-1][0]:
            break
        found.append((operations / fastest(product(n), clock, seconds), n))
    return max(found)
