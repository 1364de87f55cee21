"""The work with which a device's peaks are measured, and how fast it goes at its fastest.

Short runs, many of them, and the best one counts: whatever disturbs a run makes it slower, so that
the fastest is nearest to what a device can do.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from ipyjaxbench.host import Clock

#: Computes, and returns when that is done.
Run = Callable[[], object]

_MIN_RUNS = 3
_NS = 1_000_000_000
#: Sides of square matrices: the first fills a CPU, the last one a large GPU.
SIDES = (512, 1024, 2048, 4096, 8192)


def fastest(run: Run, clock: Clock, seconds: float) -> float:
    """Return the seconds of the fastest run, the first one left out; two are made in any case.

    Example:
        >>> from ipyjaxbench.testing import FakeClock
        >>> clock = FakeClock()
        >>> fastest(lambda: clock.advance(2_000_000), clock, 0.1)
        0.002
    """
    end = clock.wall() + int(seconds * _NS)
    run()
    best = 0
    while not best or clock.wall() < end:
        start = clock.now()
        run()
        taken = max(clock.now() - start, 1)
        best = min(best or taken, taken)
    return best / _NS


def fastest_product(
    product: Callable[[int], Run], clock: Clock, seconds: float, sides: Sequence[int] = SIDES
) -> tuple[float, int]:
    """Return the most operations in a second over matrices that grow, and their size.

    A size of which three runs would take longer than ``seconds`` is left out, but for the first.
    """
    rates: list[tuple[float, int]] = []
    for n in sides:
        operations = 2.0 * n**3
        if rates and _MIN_RUNS * operations > seconds * rates[-1][0]:
            break
        rates.append((operations / fastest(product(n), clock, seconds), n))
    return max(rates)


class Probe(ABC):
    """Makes work for one device; each piece computes, and returns its result when that is done.

    Arrays are made when the work is, so that running it moves and computes nothing else. What a
    device or framework cannot do raises, in any way. All is done under `default_settings`.

    Attributes:
        device: its name, as in placements.
        dtypes: of matrix products that users of it compute.
        on_host: whether its arrays are in the host's memory, so that nothing is copied to it.
        settings: those of the user's that change how fast it computes, in words.
    """

    device: str
    dtypes: tuple[str, ...] = ("float32", "float64")
    on_host: bool = True
    settings: str = ""

    def default_settings(self) -> AbstractContextManager[object]:
        """Put settings of the user's aside that would keep work from being done."""
        return nullcontext()

    @abstractmethod
    def product(self, dtype: str, n: int) -> Run:
        """Return a product of two matrices with n rows and columns."""

    @abstractmethod
    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Return ways to go through an array of some bytes, and the bytes that each moves."""

    def upload(self, nbytes: int) -> Run:
        """Return a copy of some bytes from the host's memory to the device's."""
        raise NotImplementedError

    def download(self, nbytes: int) -> Run:
        """Return a copy of some bytes from the device's memory to the host's."""
        raise NotImplementedError

    @abstractmethod
    def smallest_operation(self) -> Run:
        """Return the smallest operation: what it takes is what starting any operation takes."""
