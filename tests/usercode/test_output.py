"""Output that is kept from the notebook and counted."""

import asyncio
import gc
import io
import logging
import logging.handlers
import os
import sys
import threading
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

from ipyjaxbench.host import Clock
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.usercode.exclusive_section import ExclusiveSection
from ipyjaxbench.usercode.output import Muted, OutputRecorder, StandIn


def test_what_is_written_is_counted_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    streams = sys.stdout, sys.stderr
    print("before")
    with Muted() as muted:
        sys.stdout.flush()
        print(end="")
        assert sys.stdout.write("") == 0
        sys.stderr.writelines([""])
        assert muted.writes == 0  # nothing is no output
        assert sys.stdout.write("four") == 4
        assert sys.stdout.writable()
        sys.stderr.write("two")
        sys.stdout.writelines(["a", "b"])
        kept = sys.stdout
        with Muted() as inner:
            print("seen by the inner one only")
        assert inner.writes > 0
    assert muted.writes == 4
    with pytest.raises(ZeroDivisionError), muted:
        _ = sys.stdout.write("x") / 0
    assert (muted.writes, sys.stdout, sys.stderr) == (5, *streams)
    with Muted():  # what another thread prints
        thread = threading.Thread(target=print, args=("unseen",))
        thread.start()
        thread.join()
    kept.write("after")  # who keeps the stream writes to the real one
    kept.flush()
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("before\nafter", "")


def test_pythons_warning_of_a_coroutine_is_none_of_the_codes_output() -> None:
    async def work() -> None: ...

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
        gc.collect()
    (text,) = [str(each.message) for each in caught]
    with Muted() as muted:
        sys.stderr.write(warnings.formatwarning(text, RuntimeWarning, "a.py", 1, "work()"))
        assert muted.writes == 0
        sys.stderr.write(warnings.formatwarning("another", RuntimeWarning, "a.py", 1, "work()"))
    assert muted.writes == 1


def test_what_is_logged_to_a_stream_is_no_more_shown_than_what_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown, other = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    log = logging.Logger("apart")
    handler, inner, elsewhere = (logging.StreamHandler(each) for each in (shown, shown, other))
    memory = logging.handlers.MemoryHandler(capacity=1, target=inner)  # as absl has one inside
    for each in (handler, memory, elsewhere):
        log.addHandler(each)
    monkeypatch.setitem(logging.root.manager.loggerDict, "apart", log)
    with Muted() as muted:
        with Muted():
            log.error("unseen")
        log.error("counted")
        late = logging.StreamHandler()
        log.addHandler(late)
    assert muted.writes == 2
    assert (handler.stream, inner.stream, elsewhere.stream) == (shown, shown, other)
    assert (shown.getvalue(), other.getvalue()) == ("", "unseen\ncounted\n")
    log.error("shown")
    assert shown.getvalue() == "shown\n" * 3


def test_handlers_that_keep_records_to_show_them_later_get_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Own(logging.StreamHandler[io.StringIO]):
        """The user's: what it keeps is the code's."""

        def __init__(self) -> None:
            super().__init__(io.StringIO())
            self.records: list[logging.LogRecord] = []

        def emit(self, record: logging.LogRecord) -> None:
            self.records.append(record)

    own = Own()
    log = logging.getLogger("kept")
    log.addHandler(own)
    kept = caplog.handler.records
    try:
        log.error("first")
        with Muted() as muted:
            with Muted():
                log.error("later")
            log.error("later")
            assert caplog.messages == ["first"]
        log.error("last")
    finally:
        log.removeHandler(own)
    assert muted.writes > 0
    assert caplog.handler.records is kept
    assert caplog.messages == ["first", "last"]
    assert "later" not in caplog.text
    assert len(own.records) == 4


def test_those_of_two_threads_may_end_in_any_order(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout, sys.stderr
    first, second = Muted(), Muted()
    first.__enter__()
    second.__enter__()
    first.__exit__()
    sys.stdout.write("unseen")
    second.__exit__()
    assert (sys.stdout, sys.stderr) == before
    assert capsys.readouterr().out == ""


def test_bytes_go_nowhere_too(capfd: pytest.CaptureFixture[str]) -> None:
    real = sys.stdout
    with Muted() as muted:
        kept: Any = sys.stdout
        assert (kept.encoding, kept.errors) == (real.encoding, real.errors)
        assert kept.buffer is not real.buffer
        assert kept.fileno() != real.fileno()
        kept.buffer.write(b"unseen")
        os.write(kept.fileno(), b"unseen")
    assert (kept.buffer, kept.fileno()) == (real.buffer, real.fileno())
    assert muted.writes == 0
    assert capfd.readouterr().out == ""


def test_a_stream_without_an_encoding_has_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    with Muted():
        assert (sys.stdout.encoding, sys.stdout.errors) == ("utf-8", None)
        assert sys.stdout.getvalue() == ""  # type: ignore[attr-defined]
        print("unseen")
    assert stream.getvalue() == ""


class Blank(StandIn):
    """Shows values only when nothing is muted."""

    def append(self, value: int) -> None:
        if not self.muted.active:
            self.real.append(value)


def test_other_ways_to_show_something_are_muted_too() -> None:
    session = SimpleNamespace(screen=[])
    screen, muted = session.screen, Muted((session, "screen", Blank))
    with muted:
        assert muted.is_on
        session.screen.append(1)
        assert screen == []
        kept = session.screen
    kept.append(2)
    assert kept.count(2) == 1  # it has all else that the real one has
    assert (session.screen is screen, screen, muted.is_on) == (True, [2], False)


def test_what_the_main_thread_prints_beside_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    entered, leave = threading.Event(), threading.Event()

    def measure() -> None:
        with Muted():
            print("unseen")
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=measure)
    thread.start()
    entered.wait(10)
    print("shown")
    leave.set()
    thread.join()
    assert capsys.readouterr().out == "shown\n"


def test_what_tasks_beside_a_measurement_print_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def task() -> None:
        entered = asyncio.Event()

        async def beside() -> None:
            await entered.wait()
            print("shown")

        async def inside() -> None:
            print("unseen")

        other = asyncio.create_task(beside())
        async with ExclusiveSection():
            with Muted():
                entered.set()
                await asyncio.create_task(inside())
                await other
        print("shown after it")

    asyncio.run(task())
    assert capsys.readouterr().out == "shown\nshown after it\n"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock()
    monkeypatch.setattr(Clock, "elapsed", lambda: clock)
    return clock


def test_what_a_thread_writes_is_recorded(
    clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    with OutputRecorder() as recorder:
        print("before")
        begun = recorder.begin()
        clock.advance(2_000_000_000)
        sys.stdout.write("outer")
        inner = recorder.begin()
        clock.advance(500_000_000)
        sys.stdout.write("inner")
        thread = threading.Thread(target=sys.stdout.write, args=("of another thread",))
        thread.start()
        thread.join()
        assert recorder.end(inner) == [(2.5, "inner")]
        assert sys.stdout.write("four") == 4
        assert recorder.end(begun) == [(2.0, "outer"), (2.5, "four")]
        sys.stdout.write("after")
        assert "write" in vars(sys.stdout)
    assert "write" not in vars(sys.stdout)
    assert capsys.readouterr().out == "before\nouterinnerof another threadfourafter"


def test_a_stream_of_others_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fixed:
        __slots__ = ()

        def write(self, text: str) -> int:
            return len(text)

    monkeypatch.setattr(sys, "stdout", Fixed())
    with OutputRecorder() as recorder:
        begun = recorder.begin()
        sys.stdout.write("a")
        assert recorder.end(begun) == []
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    with OutputRecorder() as recorder:
        recorder.begin()
        del vars(stream)["write"]
        sys.stdout.write("a")
    assert stream.getvalue() == "a"
