"""How far a measurement is."""

import math

from ipyjaxbench.progress import Progress
from ipyjaxbench.testing import FakeClock

MS = 1_000_000


def said(moments: list[int], known: float = 0.034) -> list[tuple[int, str]]:
    """What is shown when it is told of something at these milliseconds."""
    clock, lines = FakeClock(), []
    progress = Progress(lambda line: lines.append((clock.now() // MS, line)), clock)
    for moment in moments:
        clock.advance(moment * MS - clock.now())
        progress(known, 1_200 * MS)
    return lines


def test_nothing_is_said_in_the_first_second() -> None:
    assert said([0, 500, 999]) == []


def test_what_is_known_and_what_is_left_is_said_from_then_on() -> None:
    assert said([1000]) == [(1000, "measuring: ± 3.4 % so far, 1.2 s left at most")]
    assert said([1000], math.inf) == [(1000, "measuring: warming up, 1.2 s left at most")]


def test_it_is_said_four_times_a_second_at_most() -> None:
    assert [moment for moment, _ in said(list(range(0, 2000, 10)))] == [1000, 1250, 1500, 1750]
