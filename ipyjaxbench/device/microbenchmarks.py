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
#: Operations before one wait on other devices than the host: waiting takes a part of each there.
_IN_A_ROW = 4


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
    product: Callable[[int], Run],
    clock: Clock,
    seconds: float,
    sides: Sequence[int] = SIDES,
    in_a_row: int = 1,
    *,
    leaps: bool = False,
) -> tuple[float, int]:
    """Return the most operations in a second over matrices that grow, and their size.

    A run makes ``in_a_row`` products; sizes are left out as `fastest_size` says.
    """

    def operations(n: int) -> float:
        return 2.0 * n**3 * in_a_row

    return fastest_size(
        lambda n: operations(n) / fastest(product(n), clock, seconds),
        *(operations, seconds, sides),
        leaps=leaps,
    )


def fastest_size(
    rate: Callable[[int], float],
    work: Callable[[int], float],
    seconds: float,
    sizes: Sequence[int],
    *,
    leaps: bool = False,
) -> tuple[float, int]:
    """Return the highest rate over sizes that grow, and its size.

    Args:
        rate: measures how much work is done in a second with data of a size.
        work: how much a run does with data of a size.
        seconds: sizes end where three runs would take longer; the first is measured in any case.
        sizes: of the data, small ones first.
        leaps: takes the largest that fits next, where the work of each size takes long to make.

    Example:
        >>> fastest_size(lambda n: 1e3 * n, lambda n: n, 0.01, [1, 2, 3, 4])
        (4000.0, 4)
    """
    rates: list[tuple[float, int]] = []
    fitting = [sizes[0]]
    while fitting:
        size = fitting[-1 if leaps else 0]
        rates.append((rate(size), size))
        most = seconds * rates[-1][0] / _MIN_RUNS
        fitting = [each for each in sizes if each > size and work(each) <= most]
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

    @property
    def in_a_row(self) -> int:
        """How many operations a run of a product or a stream makes before it waits."""
        return 1 if self.on_host else _IN_A_ROW

    @property
    def sides(self) -> Sequence[int]:
        """Sides of square matrices that may be the fastest: small ones do not fill a GPU."""
        return SIDES if self.on_host else SIDES[2:]

    def default_settings(self) -> AbstractContextManager[object]:
        """Put settings of the user's aside that would keep work from being done."""
        return nullcontext()

    @abstractmethod
    def product(self, dtype: str, n: int) -> Run:
        """Return products of two matrices with n rows and columns, `in_a_row` of them."""

    @abstractmethod
    def streams(self, nbytes: int) -> Sequence[tuple[Run, int]]:
        """Return ways to go through an array of some bytes, and the bytes that a run moves."""

    def upload(self, nbytes: int) -> Run:
        """Return a copy of some bytes from the host's memory to the device's."""
        raise NotImplementedError

    def download(self, nbytes: int) -> Run:
        """Return a copy of some bytes from the device's memory to the host's."""
        raise NotImplementedError

    @abstractmethod
    def smallest_operation(self) -> Run:
        """Return the smallest operation: what it takes is what starting any operation takes."""
