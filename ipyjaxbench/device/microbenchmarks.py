"""The work with which a device's ceilings are measured, and how fast it goes at its fastest.

Short runs, many of them, and the best one counts: whatever disturbs a run makes it slower, so that
the fastest is nearest to what a device can do.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from ipyjaxbench.host import Clock

#: Computes, and returns when that is done.
Run = Callable[[], object]

_FEWEST = 3
_NS = 1_000_000_000
#: Sides of square matrices: the first fills a CPU, the last one a large GPU.
SIDES = (512, 1024, 2048, 4096, 8192)


def fastest(run: Run, clock: Clock, seconds: float) -> float:
    """Return the seconds of the fastest run, the first one left out.

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
    """Return the fastest product, over matrices that grow.

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


class Probe(ABC):
    """Makes work for one device; each piece computes, and gives its result when that is done.

    Arrays are made when the work is, so that running it moves and computes nothing else. What a
    device or framework cannot do raises, in any way. All is done in the context of `usual`.

    Attributes:
        device: its name, as placements tell it.
        dtypes: of matrix products that users of it compute.
        on_host: whether its arrays are in the host's memory, so that nothing is copied to it.
        settings: those of the user's that change how fast it computes, in words.
    """

    device: str
    dtypes: tuple[str, ...] = ("float32", "float64")
    on_host: bool = True
    settings: str = ""

    def usual(self) -> AbstractContextManager[object]:
        """Settings of the user's that would keep work from being done, put aside for a while."""
        return nullcontext()

    @abstractmethod
    def product(self, dtype: str, n: int) -> Run:
        """Return a product of two matrices with n rows and columns."""

    @abstractmethod
    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Ways to go through an array of so many bytes, with the bytes that each moves in all."""

    @abstractmethod
    def upload(self, nbytes: int) -> Run:
        """Return a copy of so many bytes from the host's memory to the device's."""

    @abstractmethod
    def download(self, nbytes: int) -> Run:
        """Return a copy of so many bytes from the device's memory to the host's."""

    @abstractmethod
    def nothing(self) -> Run:
        """Return the smallest operation: what it takes is what starting any operation takes."""
