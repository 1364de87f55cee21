"""How far a measurement is."""

import io
import math
import sys
import threading

import pytest

from ipyjaxbench.jupyter.screen import Progress, Screen
from ipyjaxbench.testing import FakeClock
from tests.shell import Shell

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
    assert said([1000], 331.11) == [(1000, "measuring: ± over 100 % so far, 1.2 s left at most")]
    assert said([1000], math.inf) == [(1000, "measuring: warming up, 1.2 s left at most")]


def test_where_the_interval_is_not_looked_at_the_time_left_is_said() -> None:
    assert said([1000], math.nan) == [(1000, "measuring: 1.2 s left at most")]


def test_it_is_said_four_times_a_second_at_most() -> None:
    assert [moment for moment, _ in said(list(range(0, 2000, 10)))] == [1000, 1250, 1500, 1750]


def test_until_there_is_news_it_says_how_long_it_has_taken() -> None:
    clock, lines, shown = FakeClock(), [], threading.Event()

    def show(line: str) -> None:
        lines.append(line)
        shown.set()

    with Progress(show, clock, "first call", wait=0.001) as told:
        clock.advance(2_400 * MS)
        assert shown.wait(60)
        told(0.01, 0)
        lines.clear()
        shown.clear()
        assert not shown.wait(0.02)  # the news stopped it
    told(0.02, 0)
    assert lines == []


def test_what_is_over_soon_says_nothing_and_leaves_no_thread() -> None:
    lines: list[str] = []
    before = threading.active_count()
    with Progress(lines.append, FakeClock(), "first call"):
        assert threading.active_count() == before + 1
    assert (lines, threading.active_count()) == ([], before)


def test_how_long_is_told_in_words() -> None:
    clock, lines, shown = FakeClock(), [], threading.Event()
    progress = Progress(lambda line: (lines.append(line), shown.set()), clock, "running", 0.001)
    clock.advance(2_400 * MS)
    with progress:
        assert shown.wait(60)
    assert lines[0] == "running: 2.4 s so far"


class Terminal(io.StringIO):
    """A stream that shows one line over another."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "active", "written"),
    [
        (Terminal(), True, "\rlooking\x1b[K\rdone +- 1 %\x1b[K\r\x1b[K"),
        (Terminal(), False, ""),
        (io.StringIO(), True, ""),
    ],
)
def test_a_terminal_shows_the_line_until_the_result_is_there(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, active: bool, written: str
) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    with Screen(shell.shell, active=active) as screen:
        screen.show("looking")
        screen.show("done ± 1 %")
    assert stream.getvalue() == written
