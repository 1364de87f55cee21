"""How far a measurement is."""

import io
import math
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.frameworks import OtherWriters, loaded
from ipyjaxbench.jupyter import screen as module
from ipyjaxbench.jupyter.screen import Progress, ProgressLine, Screen, show
from ipyjaxbench.testing import FakeClock
from tests.shell import Shell

MS = 1_000_000


def shown_lines(
    moments: list[int], known: float = 0.034, left: int = 1_200 * MS
) -> list[tuple[int, str]]:
    """What is shown when it is told of something at these milliseconds."""
    clock, lines = FakeClock(), []
    progress = ProgressLine(lambda line: lines.append((clock.now() // MS, line)), clock)
    for moment in moments:
        clock.advance(moment * MS - clock.now())
        progress(known, left)
    return lines


def test_something_is_said_after_a_second_and_four_times_a_second_at_most() -> None:
    assert shown_lines([0, 500, 999]) == []
    moments = [moment for moment, _ in shown_lines(list(range(0, 2000, 10)))]
    assert moments == [1000, 1250, 1500, 1750]


HOUR = 3_600_000 * MS


@pytest.mark.parametrize(
    ("known", "left", "words"),
    [
        (0.034, 1_200 * MS, ": CI ±3.4 % so far, at most 1.2 s left"),
        (1.0, 1_200 * MS, ": CI ±100 % so far, at most 1.2 s left"),
        (1.01, 1_200 * MS, ": CI wider than ±100 % so far, at most 1.2 s left"),
        (math.inf, 1_200 * MS, ": warming up, at most 1.2 s left"),
        (math.nan, 1_200 * MS, ": at most 1.2 s left"),
        (math.nan, 0, ""),
        (0.01, 1, ": CI ±1.0 % so far, at most 1.0 ns left"),
        (0.01, HOUR - MS, ": CI ±1.0 % so far, at most 1.00 h left"),
        (0.01, HOUR, ": CI ±1.0 % so far"),
        (0.01, -1, ": CI ±1.0 % so far"),
    ],
)
def test_what_is_known_and_what_is_left_is_said(known: float, left: int, words: str) -> None:
    assert shown_lines([1000], known, left) == [(1000, f"measuring{words}")]


def test_until_there_is_news_it_says_how_long_it_has_taken() -> None:
    clock, lines, shown = FakeClock(), [], threading.Event()

    def show(line: str) -> None:
        lines.append(line)
        shown.set()

    progress = Progress([ProgressLine(show, clock, "first call")], clock, wait=0.001)
    clock.advance(2_400 * MS)  # before its thread reads the clock
    with progress as told:
        assert shown.wait(60)
        assert lines[0].endswith(": 2.4 s so far")
        told(0.01, 0)
        lines.clear()
        shown.clear()
        assert not shown.wait(0.02)  # the news stopped it
    told(0.02, 0)
    assert lines == []


def test_what_is_over_soon_says_nothing_and_leaves_no_thread() -> None:
    lines: list[str] = []
    before = threading.active_count()
    clock = FakeClock()
    with Progress([ProgressLine(lines.append, clock, "first call")], clock):
        assert threading.active_count() == before + 1
    assert (lines, threading.active_count()) == ([], before)
    with Progress([], clock) as progress:  # for nobody
        assert threading.active_count() == before
        progress(0.5, 3)


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


class Publisher:
    """Writes down what is displayed: text, whether it replaces something, and what."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, bool, str]] = []
        self.fails = False

    def publish(self, data: dict[str, str], transient: dict[str, str], update: bool) -> None:
        if self.fails:
            raise RuntimeError("there is no display")
        self.shown.append((data["text/plain"], update, transient["display_id"]))


class InKernel:
    """A kernel that runs a cell, and what magics display of results meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, request: dict[str, Any]) -> None:
        self.publisher, self.results = Publisher(), list[tuple[object, dict[str, Any]]]()
        self.shell: Any = SimpleNamespace(
            display_pub=self.publisher, kernel=object(), get_parent=lambda: request
        )
        monkeypatch.setattr(module, "display", lambda it, **how: self.results.append((it, how)))


PAGE = {"content": {"allow_stdin": True}, "metadata": {"cellId": "a"}}


def test_in_a_kernel_the_result_takes_the_place_of_the_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = InKernel(monkeypatch, PAGE)
    with Screen(kernel.shell, active=True) as screen:
        with screen.progress("looking") as progress:
            assert progress._thread is not None
        screen.show("one")
        screen.show("two")
        screen.replace("result", raw=True)
    (_, first, handle), (_, second, same) = kernel.publisher.shown
    assert [text for text, *_ in kernel.publisher.shown] == ["one", "two"]
    assert (first, second, same) == (False, True, handle)
    assert kernel.results == [("result", {"raw": True, "display_id": handle, "update": True})]
    other = InKernel(monkeypatch, PAGE)
    with Screen(other.shell, active=True) as screen:  # without a line
        screen.replace("result")
    assert (other.results, other.publisher.shown) == ([("result", {})], [])


def test_after_an_error_the_line_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = InKernel(monkeypatch, PAGE)

    def fail(line: str = "", result: str = "") -> None:
        with Screen(kernel.shell, active=True) as screen:
            if line:
                screen.show(line)
            if result:
                screen.replace(result)
            raise ZeroDivisionError

    for shown in (("one",), (), ("two", "result")):
        with pytest.raises(ZeroDivisionError):
            fail(*shown)
    assert [text for text, *_ in kernel.publisher.shown] == ["one", "", "two"]


@pytest.mark.parametrize(
    ("request_", "active", "shows"),
    [
        (PAGE, True, True),
        (PAGE, False, False),
        ({"content": {"allow_stdin": True}, "metadata": {}}, True, False),  # as a console asks
        ({"content": {"allow_stdin": False}}, True, True),  # as what runs notebooks does
        ({}, True, True),
    ],
)
def test_a_line_is_shown_where_it_can_be_replaced(
    monkeypatch: pytest.MonkeyPatch, request_: dict[str, Any], active: bool, shows: bool
) -> None:
    kernel = InKernel(monkeypatch, request_)
    monkeypatch.setattr(sys, "stdout", Terminal())
    with Screen(kernel.shell, active=active) as screen:
        screen.show("one")
        with screen.progress("looking") as progress:
            assert (progress._thread is not None) is shows
    assert bool(kernel.publisher.shown) is shows
    assert sys.stdout.getvalue() == ""  # type: ignore[attr-defined]


def test_a_display_that_fails_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = InKernel(monkeypatch, PAGE)
    kernel.publisher.fails = True
    with Screen(kernel.shell, active=True) as screen:
        screen.show("one")

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("there is no display")

    monkeypatch.setattr(module, "display", fail)
    show("a result")
    show({"text/plain": "a line", "text/html": "<p>"}, raw=True)
    assert capsys.readouterr().out == "a result\na line\n"


def test_the_thread_that_waits_does_not_count_as_the_users() -> None:
    """All that its context leads to was looked at in each measurement."""
    with Progress([ProgressLine(print, FakeClock())], FakeClock(), wait=1000):
        assert OtherWriters(loaded()[0], {}).found == []
