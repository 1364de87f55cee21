"""What ends the calls of a measurement: errors and interrupts, and what is left of it then."""

import asyncio
import selectors
import sys
from types import FrameType
from typing import Any

import greenlet
import pytest

from ipyjaxbench.testing import FakeDevice
from ipyjaxbench.usercode import run_in_loop
from ipyjaxbench.usercode.origin import PACKAGE
from tests.bench import MS, START, Bench, failing, notes_by_code, recorder
from tests.fake_framework import FakeFramework


@pytest.mark.parametrize("options", [{}, {"repeat": 3}, {"number": 5}])
def test_code_that_runs_once_is_reported_by_its_first_call(bench: Bench, options: dict) -> None:
    turns = bench.counted(failing(2, ValueError("used up\nand more")))
    m = bench.time("call()", **options)
    assert (m.verdict, m.first_call, len(turns)) == ("ONCE", pytest.approx(1e-3), 2)
    assert m.best == pytest.approx(1e-3)
    text = "The code runs only once: the second call raised ValueError: used up."
    assert notes_by_code(m) == {"runs-once": f"{text} The time is of the first call."}


@pytest.mark.parametrize(("turn", "samples"), [(5, 3), (100, 40)])
def test_an_error_later_leaves_the_samples_then(bench: Bench, turn: int, samples: int) -> None:
    turns = bench.counted(failing(turn, OSError("gone")))
    m = bench.time("call()")
    assert len(turns) == turn
    assert len(m.batches) == sum(m.rounds) >= samples
    text = f"Call {turn} raised OSError: gone. The time is of the calls before it."
    assert notes_by_code(m) == {"stopped-by-error": text}


@pytest.mark.parametrize(
    ("options", "turn"), [({}, 90), ({}, 70), ({"number": 1, "repeat": 1000}, 90)]
)
def test_an_interrupt_keeps_what_was_measured(bench: Bench, options: dict, turn: int) -> None:
    for each in range(turn, turn + 5):  # no round without samples is left
        bench.counted(failing(each, KeyboardInterrupt()))
        m = bench.interrupted("call()", **options)
        assert m.median == pytest.approx(1e-3)
        assert len(m.batches) == sum(m.rounds) >= 10
        assert 0 not in m.rounds
        assert list(notes_by_code(m)) == ["interrupted"]


@pytest.mark.parametrize(
    ("turn", "told"),
    [(2, "1.00 ms first call only"),  # the first call is all there is
     (3, "samples 1 + first call in"),
     (100, "samples 1 of 83 calls + first call in"),  # parts of 20 calls, each of a millisecond
     (101, "samples 1 of 99 calls + first call in"),
     (250, "samples 1 of 99 calls + 1 of 100 calls + first call in")],
)  # fmt: skip
def test_an_interrupted_sample_has_calls_that_ended(bench: Bench, turn: int, told: str) -> None:
    bench.counted(failing(turn, KeyboardInterrupt()))
    m = bench.interrupted("call()", number=100, repeat=7)
    assert m.timings == pytest.approx([1e-3] * m.repeat)
    assert m.loops == 1 or turn > 2
    assert told in " ".join(str(m).split())


@pytest.mark.parametrize("error", [ZeroDivisionError(), KeyboardInterrupt(), SystemExit()])
def test_an_error_in_the_first_call_leaves_nothing(bench: Bench, error: BaseException) -> None:
    def each(count: int) -> None:
        bench.framework.random += 1
        raise error

    turns = bench.counted(each)
    bench.names["x"] = before = object()
    keys = set(bench.names)
    with pytest.raises(type(error)):
        bench.time("x = 1; new = 2; call()", setup="made = 3")
    assert bench.names["x"] is before
    assert set(bench.names) - {"__builtins__"} == keys
    assert (bench.framework.random, turns) == (0, [1])


@pytest.mark.parametrize(
    "options",
    [{}, {"number": 4, "repeat": 2}, {"number": 1, "repeat": 4}, {"repeat": 3}, {"setup": "pass"}],
)
@pytest.mark.parametrize("code", ["call()", f"call(); {START}"])
def test_a_traceback_shows_only_the_users_frames(bench: Bench, code: str, options: dict) -> None:
    """Of all calls: in each an error or an interrupt may end them."""
    keep, frames = recorder()

    def look() -> None:
        frame: FrameType | None = sys._getframe(1)
        above = greenlet.getcurrent().parent  # calls have a stack of their own
        while frame is not None and frame.f_code is not test_code:
            if frame.f_code.co_filename.startswith(PACKAGE):
                is_hidden = frame.f_locals.get("__tracebackhide__") is True
                keep((frame.f_code.co_qualname, is_hidden))
            if frame.f_back is None and above is not None:
                frame, above = above.gr_frame, None
            else:
                frame = frame.f_back

    test_code = sys._getframe().f_code
    memo: dict[str, list[int]] = {}  # in which the first call keeps its value

    def call() -> list[int]:
        look()
        bench.clock.advance(20_000 if memo else MS)
        return memo.setdefault("value", [1])

    bench.names |= {"call": call, "jitted": bench.device.compile}
    budget = {} if "number" in options or "repeat" in options else {"budget": 0.05}
    bench.time(f"jitted; {code}", fresh=True, profile=True, **budget, **options)
    functions = dict.fromkeys(frames)
    assert len(functions) >= 10
    assert [name for name, is_hidden in functions if not is_hidden] == []


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_what_ends_a_look_at_a_kept_value_loses_no_sample(
    bench: Bench, error: BaseException
) -> None:
    memo: dict[str, list[int]] = {}

    def each(turn: int) -> list[int]:
        if turn == last:
            raise error
        bench.clock.advance(9 * MS * (turn == 1))
        return memo.setdefault("value", [1])

    last = 0
    turns = bench.counted(each)
    whole = bench.time("call()", budget=0.2, restore=False)
    last = len(turns)
    memo.clear()
    turns = bench.counted(each)
    ended = isinstance(error, KeyboardInterrupt)
    m = (bench.interrupted if ended else bench.time)("call()", budget=0.2, restore=False)
    assert len(turns) == last
    assert m.samples == whole.samples
    assert "stopped-by-error" not in notes_by_code(m)


class Jump(selectors.DefaultSelector):
    """Lets no time pass, but says how much would have."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "it waits for ever"
        self.passed += max(timeout, 0.0)
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock goes on where there is nothing to do."""

    def __init__(self) -> None:
        self.selector = Jump()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.passed


@pytest.mark.parametrize(
    ("code", "options", "told"),
    [
        ("await lock.acquire()", {},
         "The code runs only once: the second call did not return within 10 s."),
        ("await lock.acquire()", {"budget": 30.0},
         "The code runs only once: the second call did not return within 30 s."),
        ("await third()", {"number": 1, "repeat": 9},
         "Call 3 did not return within 10 s."),
        ("await third()", {"number": 9, "repeat": 1},
         "Call 3 did not return within 10 s."),
        ("from math import *; await third()", {"number": 9, "repeat": 1},
         "Call 3 did not return within 10 s."),
        ("await asyncio.sleep(9)", {"number": 3, "repeat": 3}, ""),
    ],
)  # fmt: skip
def test_a_call_that_waits_for_ever_is_given_up(
    bench: Bench, code: str, options: dict, told: str
) -> None:
    turns = bench.counted()
    call = bench.names["call"]

    async def third() -> None:
        call()
        if len(turns) == 3:
            await asyncio.Event().wait()

    async def task() -> Any:
        bench.names.update(lock=asyncio.Lock(), third=third, asyncio=asyncio)
        return await run_in_loop(lambda: bench.time(code, **options))

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        m = runner.run(task())
    found = [n for n in m.notes if n.code in ("runs-once", "stopped-by-error")]
    assert [n.text.partition(" The time")[0] for n in found] == ([told] if told else [])
    assert [n.advice.partition(" waits")[1] for n in found] == [" waits"] * len(found)


# What of these calls fails later


class Failing(FakeFramework):
    """A framework whose work fails when it is waited for."""

    def __init__(self, device: FakeDevice, name: str = "fake") -> None:
        super().__init__(device)
        self.name = name  # type: ignore[misc]
        self.started: list[Exception] = []

    def drain(self) -> None:
        super().drain()
        if self.started:
            self.keep_failure(self.started[0])
            self.started.clear()


@pytest.mark.parametrize(
    ("error", "told"),
    [(None, "stopped-by-error"), (OSError("gone"), "stopped-by-error"),
     (KeyboardInterrupt(), "interrupted")],
)  # fmt: skip
def test_what_of_our_calls_fails_is_told_once_and_not_to_a_later_cell(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: BaseException | None, told: str
) -> None:
    both = [Failing(bench.device), Failing(bench.device, "other")]
    monkeypatch.setattr("ipyjaxbench.timing.session.loaded", lambda: (both, {}))

    def fail(count: int) -> None:
        if count >= 5:
            for framework in both:
                framework.started.append(ValueError("disk is full"))
            if error is not None:
                raise error

    bench.counted(fail)
    code = f"call(); {START}"
    run = bench.interrupted if isinstance(error, KeyboardInterrupt) else bench.time
    assert told in notes_by_code(run(code))
    assert "earlier-failed" not in notes_by_code(bench.time("1 + 1", number=1, repeat=1))
    for framework in both:
        framework.started.append(ValueError("of the user's own"))
    assert (
        "of the user's own"
        in notes_by_code(bench.time("1 + 1", number=1, repeat=1))["earlier-failed"]
    )
