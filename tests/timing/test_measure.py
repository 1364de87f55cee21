"""The whole flow from code to a measurement, on a device whose time is told by hand."""

import gc
import platform
import sys
from types import FrameType

import greenlet
import pytest

from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.usercode.origin import PACKAGE
from tests.bench import MS, START, Bench, failing, notes_by_code, recorder

# What is waited for


@pytest.mark.parametrize("code", [START, f"y = [{START}]", f"y = {START}; y"])
@pytest.mark.parametrize("options", [{}, {"number": 4, "repeat": 5}])
def test_an_asynchronous_value_is_waited_for(bench: Bench, code: str, options: dict) -> None:
    m = bench.time(code, **options)
    assert m.samples == pytest.approx([1.01e-3] * len(m.samples))
    assert m.first_call == pytest.approx(1.01e-3)
    assert m.waited


def test_work_that_the_warm_up_did_not_show_is_noticed_later(bench: Bench) -> None:
    turns = bench.counted(lambda turn: turn > 100 and bench.device.start(dispatch=0, work=5 * MS))
    m = bench.time("call(); None")
    assert "elsewhere" in notes_by_code(m)
    assert len(turns) > 200
    assert m.median == pytest.approx(5e-3)


def test_what_a_clock_that_does_not_wait_would_have_read_is_told(bench: Bench) -> None:
    text = "Without waiting for the result, a timer would show 10.0 µs: 101× too low."
    assert notes_by_code(bench.time(START)) == {"unsynchronised": text}
    assert notes_by_code(bench.time("device.start(dispatch=1_000_000, work=10_000)")) == {}
    assert "unsynchronised" in notes_by_code(bench.time(START, repeat=3))
    assert "unsynchronised" not in notes_by_code(bench.time(START, repeat=2))  # that is too few


@pytest.mark.parametrize(
    "code", [f"{START}; y = 1", f"({START}, 1)[1]", f"y = old; {START}; z = 1"]
)
@pytest.mark.parametrize("options", [{}, {"number": 4, "repeat": 5}])
def test_work_that_the_value_does_not_show_is_found_and_waited_for(
    bench: Bench, code: str, options: dict
) -> None:
    bench.names["old"] = FakeArray(bench.device, 0)  # waiting for it waits for nothing else
    m = bench.time(code, **options)
    assert m.median == pytest.approx(1.01e-3)
    assert notes_by_code(m)["elsewhere"].startswith("The code starts 1.00 ms of work that its")
    assert m.waited
    assert bench.clock.now() >= bench.device.busy_until  # nothing runs on afterwards


def test_the_frameworks_and_places_in_play_are_told(bench: Bench) -> None:
    bench.counted()
    m = bench.time("call()")
    assert (m.median, m.waited, m.verdict) == (pytest.approx(1e-3), False, "QUIET")
    assert m.frameworks == {"python": platform.python_version()}
    assert notes_by_code(m) == {}
    bench.names["x"] = FakeArray(bench.device, 0)
    bench.broken["torch"] = "ImportError: no"
    m = bench.time(f"x; y = {START}")
    assert m.frameworks == {"fake": "1.0"}
    assert [p.words() for p in (*m.inputs, *m.outputs)] == ["x f32[] fake:0", "y f32[] fake:0"]
    assert "torch is imported but cannot be used" in notes_by_code(m)["not-usable"]


# What is compiled


def test_the_first_call_is_kept_apart_with_what_it_compiled(bench: Bench) -> None:
    """Nor is the budget spent on it."""
    bench.counted(lambda count: bench.device.compile(80_000 * MS) if count == 1 else None)
    m = bench.time("call()")
    assert (m.first_call, m.median) == pytest.approx((80.001, 0.001))
    assert m.phases == pytest.approx({"compile": 80.0})
    assert (m.compilations, m.verdict) == (1, "QUIET")
    assert max(m.samples) == pytest.approx(0.001)
    assert notes_by_code(m) == {}
    bench.counted()
    assert bench.time("call()").compilations is None  # nothing here compiles
    bench.names["jitted"] = bench.device.compile
    assert bench.time("jitted; call()").compilations == 0


# What goes wrong


@pytest.mark.parametrize("options", [{}, {"repeat": 3}, {"number": 5}])
def test_code_that_runs_once_is_reported_by_its_first_call(bench: Bench, options: dict) -> None:
    turns = bench.counted(failing(2, ValueError("used up\nand more")))
    m = bench.time("call()", **options)
    assert (m.verdict, m.first_call, len(turns)) == ("ONCE", pytest.approx(1e-3), 2)
    assert m.best == pytest.approx(1e-3)
    text = "The code runs only once: the second call raised ValueError: used up."
    assert notes_by_code(m) == {"runs-once": f"{text} The time is of the first call."}


@pytest.mark.parametrize(("turn", "samples"), [(5, 3), (100, 40)])
def test_an_error_in_a_later_call_leaves_the_samples_before_it(
    bench: Bench, turn: int, samples: int
) -> None:
    bench.counted(failing(turn, OSError("gone")))
    m = bench.time("call()")
    assert len(m.batches) == sum(m.rounds) >= samples
    text = f"Call {turn} raised OSError: gone. The time is of the calls before it."
    assert notes_by_code(m) == {"stopped-by-error": text}


@pytest.mark.parametrize("options", [{}, {"number": 1, "repeat": 1000}])
def test_an_interrupt_keeps_what_was_measured(bench: Bench, options: dict) -> None:
    bench.counted(failing(90, KeyboardInterrupt()))
    m = bench.interrupted("call()", **options)
    assert m.median == pytest.approx(1e-3)
    assert len(m.batches) >= 30
    assert list(notes_by_code(m)) == ["interrupted"]


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (2, "1.00 ms first call only"),  # the first call is all there is
        (3, "samples 1 + first call in"),
        (100, "samples 1 of 83 calls + first call in"),  # parts of 20 calls, each of a millisecond
        (101, "samples 1 of 99 calls + first call in"),
        (250, "samples 1 of 99 calls + 1 of 100 calls + first call in"),
    ],
)
def test_an_interrupted_sample_has_the_calls_that_were_made(
    bench: Bench, turn: int, told: str
) -> None:
    bench.counted(failing(turn, KeyboardInterrupt()))
    m = bench.interrupted("call()", number=100, repeat=7)
    assert m.timings == pytest.approx([1e-3] * m.repeat)
    assert m.loops == 1 or turn > 2
    assert told in " ".join(str(m).split())


@pytest.mark.parametrize("error", [ZeroDivisionError(), KeyboardInterrupt(), SystemExit()])
def test_an_error_in_the_first_call_leaves_everything_as_before(
    bench: Bench, error: BaseException
) -> None:
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
def test_a_traceback_shows_no_frame_between_the_magic_and_the_code(
    bench: Bench, code: str, options: dict
) -> None:
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
def test_what_ends_the_call_that_shows_whether_a_value_was_kept_loses_no_sample(
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


# What is left behind


@pytest.mark.parametrize("fails", [10**9, 20, 2])
def test_names_and_random_numbers_are_left_as_by_one_call(bench: Bench, fails: int) -> None:
    see, seen = recorder()

    def each(count: int) -> int:
        bench.framework.random += 1
        return count if count < fails else 1 // 0

    turns = bench.counted(each)
    bench.names |= {"x": (), "see": see}
    bench.time("see(x); x = (*x, 1); y = call()")
    assert len(turns) > 1
    assert set(seen) == {()}  # each call finds the names as the first one did
    assert (bench.names["x"], bench.names["y"], bench.framework.random) == ((1,), 1, 1)


def test_arguments_that_are_given_away_are_replaced_and_the_users_own_are_left(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def each(_: int) -> None:
        array = bench.names["x"]
        assert not array.deleted
        array.deleted = True

    monkeypatch.setattr(bench.framework.capability(Compilation), "donates", lambda function: True)
    turns = bench.counted(each)
    bench.names["x"] = own = FakeArray(bench.device, 0)
    m = bench.time("call(); x")
    assert len(turns) > 10
    assert (bench.names["x"], own.deleted) == (own, True)
    text = "x: donated by the call. Each later call got a fresh copy (not timed)."
    assert notes_by_code(m) == {"fresh-copies": text}


@pytest.mark.parametrize(("enabled", "options"), [(True, {}), (False, {}), (True, {"number": 3})])
def test_garbage_collection_is_paused_in_later_calls_and_then_as_before(
    bench: Bench, enabled: bool, options: dict
) -> None:
    see, seen = recorder()
    bench.counted(lambda count: see(gc.isenabled()) if count < 15 else 1 / 0)
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        bench.time("call()", **options)
        after = gc.isenabled()
    finally:
        (gc.enable if was else gc.disable)()
    assert after is enabled
    assert seen == [enabled] + [False] * 13


def test_what_the_first_call_prints_is_shown_and_the_rest_counted(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.counted(lambda _: sys.stdout.write("hello"))
    m = bench.time("call()", number=2, repeat=3)
    assert capsys.readouterr().out == "hello"
    assert "(5 writes) is hidden" in notes_by_code(m)["output-hidden"]


def test_a_clock_that_goes_backwards_gives_no_negative_time(bench: Bench) -> None:
    turns = bench.counted(lambda count: bench.clock.advance(-3 * MS) if count % 3 == 0 else None)
    m = bench.time("call()", repeat=20, clock=bench.clock)
    assert len(turns) >= 20
    assert m.check() is None
    assert min(m.samples) >= 0
    assert "per call" in str(m)
