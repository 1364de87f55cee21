"""Scales of pictures: where a value lies between the ends, and the ticks that people read."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ipyjaxbench import units

_MIN_LOG_RATIO = 4.0  # of the ends: below it ticks of a logarithmic scale are even steps
_ROUND = (1, 2, 2.5, 5, 10)
_SAME = 1e-9  # of a value: two that are nearer are drawn as one
_DAY = 86400  # seconds
#: How moments are written on a scale of at least so many seconds, the shortest way first.
_DATES = (
    (300 * _DAY, "%Y-%m"),
    (_DAY, "%b %d"),
    (_DAY, "%b %d %H:%M"),
    (600, "%H:%M"),
    (0, "%H:%M:%S"),
    (0, "%H:%M:%S.%f"),
)
_DATE_STEPS = (
    *(part * 10.0**n for n in (-3, -2, -1) for part in (1, 2, 5)),
    *(part * unit for unit in (1, 60) for part in (1, 2, 5, 10, 20, 30)),
    *(3600 * hours for hours in (1, 2, 3, 6, 12)),
    *(_DAY * days for days in (1, 2, 4, 7, 14, 30, 61, 91, 183, 365, 730, 1826, 3652)),
)
_MICROSECONDS = 3  # digits that are not shown
_PER_DECADE = ((1,), (1, 2, 5))


@dataclass(frozen=True)
class Scale:
    """One axis between two values.

    Attributes:
        low: the value at its beginning.
        high: the value at its end.
        unit: "s", "B", "B/s", "FLOP/s", "FLOP/B", "date" (seconds since 1970) or "" for plain
            numbers.
        log: whether equal lengths are equal ratios.

    Example:
        >>> Scale(1e-6, 1e-2, "s", log=True).place(1e-4)
        0.5
        >>> [label for _, label in Scale(1e-6, 1e-4, "s", log=True).ticks(4)]
        ['1 µs', '10 µs', '100 µs']
    """

    low: float
    high: float
    unit: str = ""
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value lies: 0 at the beginning, 1 at the end; never outside of them."""
        if self.high <= self.low:
            return 0.5
        if self.log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return at most so many values between the ends, with what stands beside them."""
        if self.unit == "date":
            return self._dates(most)
        values = list(self._decades(most)) if self._spans_decades() else []
        if len(values) < 2:
            values = list(self._steps(most))
        labels = {tick_label(value, self.unit): value for value in reversed(values)}
        return [(value, label) for label, value in reversed(labels.items())]

    def _spans_decades(self) -> bool:
        return self.log and self.high > _MIN_LOG_RATIO * self.low

    def _decades(self, most: int) -> Iterator[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for parts in reversed(_PER_DECADE):
            values = [part * 10.0**n for n in range(first, last + 1) for part in parts]
            inside = [value for value in values if self._covers(value)]
            if len(inside) <= most:
                yield from inside
                return
        every = math.ceil(len(inside) / most)
        yield from (value for value in inside[::every])

    def _steps(self, most: int) -> Iterator[float]:
        span = self.high - self.low
        if span <= _SAME * abs(self.high):
            yield self.low
            return
        step = self._round_step(span / most)
        for n in range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1):
            yield n * step

    def _round_step(self, least: float) -> float:
        """Return the smallest round step that is not below the least: of bytes a power of two."""
        if self.unit == "B":
            return 2.0 ** math.ceil(math.log2(least))
        size = 10.0 ** math.floor(math.log10(least))
        return next(part * size for part in _ROUND if part * size >= least * (1 - _SAME))

    def _dates(self, most: int) -> list[tuple[float, str]]:
        values = list(self._round_dates(min(most, 4)))
        if len(values) < 2:
            values = [self.low, self.high] if self.high > self.low else [self.low]
        return [*zip(values, date_labels(values), strict=True)]

    def _round_dates(self, most: int) -> Iterator[float]:
        """Yield full days, hours, minutes or seconds of local time."""
        ahead = _ahead_of_utc(self.low)
        if ahead is None or self.high - self.low > most * _DATE_STEPS[-1]:
            return  # of a forged record
        for step in _DATE_STEPS:
            first, last = ((when + ahead) / step for when in (self.low, self.high))
            inside = range(math.ceil(first), math.floor(last) + 1)
            if len(inside) <= most:
                yield from (n * step - ahead for n in inside)
                return

    def _covers(self, value: float) -> bool:
        return self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)


def tick_label(value: float, unit: str) -> str:
    """Return a round value with its unit.

    Example:
        >>> tick_label(2e-5, "s"), tick_label(5e9, "FLOP/s"), tick_label(2e8, "B/s")
        ('20 µs', '5 GFLOP/s', '200 MB/s')
        >>> tick_label(1024, "")
        '1,024'
    """
    if value == 0:
        return "0"
    if unit == "s":
        digits = len(f"{value:.2e}".partition("e")[0].replace(".", "").rstrip("0")) or 1
        return units.duration(value, digits)
    if unit == "B":
        return units.size(int(value))
    if unit == "FLOP/s":
        return _short(units.flops(value, "/s"))
    if unit == "B/s":
        return _short(units.bandwidth(value))
    if unit:
        return f"{value:,g}"  # the axis's name says what it is
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _short(figure: str) -> str:
    number, _, unit = figure.partition(" ")
    return f"{float(number):g} {unit}"


def date_labels(moments: Sequence[float]) -> list[str]:
    """Return moments in local time, as exactly as it takes to tell different ones apart.

    Example:
        >>> [label[-6:] for label in date_labels([1.7e9, 1.7e9 + 0.1])]
        ['20.000', '20.100']
    """
    span, labels = max(moments) - min(moments), []
    for longest, way in _DATES:
        if span >= longest:
            labels = [_date(when, way) for when in moments]
            if len({*labels}) >= len({*moments}):
                break
    return labels


def _ahead_of_utc(when: float) -> float | None:
    """Return by how many seconds local time is ahead; None for what no calendar has."""
    try:
        ahead = datetime.fromtimestamp(when).astimezone().utcoffset()
    except (OverflowError, OSError, ValueError):  # of a forged record
        return None
    return ahead.total_seconds() if ahead is not None else None


def _date(when: float, way: str) -> str:
    try:
        shown = datetime.fromtimestamp(when).strftime(way)
    except (OverflowError, OSError, ValueError):  # of a forged record
        return "?"
    return shown[:-_MICROSECONDS] if way.endswith("%f") else shown
