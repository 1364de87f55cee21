"""Samples of what one device can do at most: again and again, until the best of them agree.

What people use most comes first, and again until it agrees: products of float32 and bfloat16,
memory, copies. What there is no time for is missing, so that the time is kept.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ipyjaxbench.device.microbenchmarks import Probe, Run, fastest, fastest_product, fastest_size
from ipyjaxbench.host import Clock

#: What people use most; other figures come after these.
_MOST_USED = ("float32", "bfloat16", "memory", "upload", "download")
#: The best samples of a figure that are to agree, and how far they may be apart.
_FEW, _AGREED = 3, 0.03
#: Seconds for each size of a product, for going through memory, for copies, and for tiny work.
_PRODUCT, _STREAM, _COPY, _TINY = 0.05, 0.1, 0.1, 0.02
_COPY_BYTES = 2**27


def figure_names(probe: Probe) -> tuple[str, ...]:
    """Return the names of a device's figures, what people use most first."""
    copies = () if probe.on_host else ("upload", "download")
    names = (*probe.dtypes, "memory", *copies, "latency")
    first = [name for name in _MOST_USED if name in names]
    return (*first, *(name for name in names if name not in first))


class PeakFigures:
    """Samples of each figure, apart in time: what disturbs one need not disturb the next.

    Args:
        probe: makes the work. Other devices than the host keep that of the fastest size until the
            figure agrees: to make it takes longer there than to run it.
        clock: to read.
        nbytes: of arrays that memory is measured with, small ones first.
        names: figures to sample, in this order.
        costs: nanoseconds that the first sample of each kind has taken at most, which grows here.
    """

    def __init__(
        self,
        probe: Probe,
        clock: Clock,
        nbytes: Sequence[int],
        names: Sequence[str],
        costs: dict[str, int],
    ) -> None:
        self._clock, self._nbytes, self._names, self._costs = clock, nbytes, tuple(names), costs
        self._all_sides, self._in_a_row = probe.sides, probe.in_a_row
        self._keeps = not probe.on_host
        self._sizes: dict[str, int] = {}  # those that were fastest: a later sample begins there
        self._kept: dict[str, tuple[int, Any]] = {}  # work, with the size that it was made for
        self._rates: dict[str, list[float]] = {}
        self._taken: dict[str, int] = {}  # nanoseconds of the last sample
        measures: dict[str, Callable[[], float]] = {
            **{d: partial(self._product, d, partial(probe.product, d)) for d in probe.dtypes},
            "memory": partial(self._memory, probe.streams),
            "upload": partial(self._copy, "upload", probe.upload),
            "download": partial(self._copy, "download", probe.download),
            "latency": partial(self._latency, probe.smallest_operation),
        }
        self._measures = {name: measures[name] for name in self._names}
        self._products = set(probe.dtypes)

    def sample_until(self, end: int) -> None:
        """Sample until all figures agree or a moment has come; then let go of all arrays.

        What people use most is sampled again before the others begin, within its share of the time.
        """
        most = [name for name in self._names if name in _MOST_USED]
        others = [name for name in self._names if name not in most]
        now = self._clock.wall()
        share = max(end - now, 0) * len(most) // max(len(self._names), 1)
        try:
            self._repeat(most, now + share, end)
            self._repeat(others, end, end)
            self._repeat(self._names, end, end)
        finally:
            self._kept.clear()

    def rates(self) -> dict[str, float]:
        """Return the highest rate of each, by name; of the smallest operation how many a second."""
        return {name: max(rates) for name, rates in self._rates.items()}

    def spreads(self) -> dict[str, float]:
        """Return how far the best samples of each are apart, relative; 1 where there is one."""
        return {name: self._spread(name) for name in self._rates}

    def missing(self) -> tuple[str, ...]:
        """Return the figures for which there was no time; those that failed are not among them."""
        return tuple(name for name in self._measures if name not in self._rates)

    def _repeat(self, names: Sequence[str], until: int, end: int) -> None:
        """Sample each once before the end, and again what does not agree yet until a moment."""
        for name in names:
            if name in self._measures and name not in self._rates and self._fits(name, end):
                self._take(name)
        while due := [n for n in names if not self._agrees(n) and self._fits(n, until)]:
            for name in due:
                if self._fits(name, until):
                    self._take(name)

    def _fits(self, name: str, end: int) -> bool:
        """Whether a sample is over before the end, as far as the ones before tell."""
        least = min(self._costs.values(), default=0)
        expected = self._taken.get(name) or self._costs.get(self._kind(name), least)
        return self._clock.wall() + expected < end

    def _kind(self, name: str) -> str:
        """Return what a first sample is like: programs for products take about equally long."""
        return "product" if name in self._products else name

    def _agrees(self, name: str) -> bool:
        """Whether enough samples agree, or no more can be taken."""
        rates = self._rates.get(name, ())
        if name not in self._measures or not rates:
            return True
        return len(rates) >= _FEW and self._spread(name) <= _AGREED

    def _spread(self, name: str) -> float:
        best = sorted(self._rates[name], reverse=True)[:_FEW]
        return 1 - best[-1] / best[0] if len(best) >= min(_FEW, 2) else 1.0

    def _take(self, name: str) -> None:
        begun = self._clock.wall()
        try:
            rate = self._measures[name]()
        # Of what devices cannot do, frameworks say so in many ways.
        except Exception:  # noqa: BLE001
            del self._measures[name]
            self._kept.pop(name, None)
            return
        self._taken[name] = self._clock.wall() - begun
        if name not in self._rates:
            kind = self._kind(name)
            self._costs[kind] = max(self._costs.get(kind, 0), self._taken[name])
        self._rates.setdefault(name, []).append(rate)
        if self._agrees(name):
            self._kept.pop(name, None)  # its arrays make room

    def _make(self, name: str, made: Callable[[int], Any], size: int) -> Any:
        """Return work of a size, where that is kept the same as before."""
        if not self._keeps:
            return made(size)
        kept, work = self._kept.pop(name, (None, None))
        if kept != size:
            work = None  # before the next one is made
            work = made(size)
        self._kept[name] = size, work
        return work

    def _product(self, name: str, product: Callable[[int], Run]) -> float:
        rate, self._sizes[name] = fastest_product(
            partial(self._make, name, product), self._clock, _PRODUCT,
            self._from(name, self._all_sides), self._in_a_row, leaps=self._keeps,
        )  # fmt: skip
        return rate

    def _memory(self, streams: Callable[[int], Sequence[tuple[Run, int]]]) -> float:
        def rate(nbytes: int) -> float:
            ways: Sequence[tuple[Run, int]] = self._make("memory", streams, nbytes)
            return max(moved / fastest(run, self._clock, _STREAM) for run, moved in ways)

        def moved(nbytes: int) -> float:
            return 2.0 * nbytes * self._in_a_row

        found, self._sizes["memory"] = fastest_size(
            rate, moved, _STREAM, self._from("memory", self._nbytes), leaps=self._keeps
        )
        return found

    def _from(self, name: str, sizes: Sequence[int]) -> Sequence[int]:
        """Return the size that was fastest; of the host, where others disturb, larger ones too."""
        best = self._sizes.get(name)
        if best is not None and self._keeps:
            return [best]
        return [size for size in sizes if size >= (best or 0)]

    def _copy(self, name: str, made: Callable[[int], Run]) -> float:
        nbytes = min(_COPY_BYTES, self._nbytes[0])
        return nbytes / fastest(self._make(name, made, nbytes), self._clock, _COPY)

    def _latency(self, made: Callable[[], Run]) -> float:
        run = self._make("latency", lambda _: made(), 0)
        return 1 / fastest(run, self._clock, _TINY)
