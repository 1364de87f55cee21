"""When the calls of code are worth a Note, on a clock that is told by hand."""

import ast
import inspect
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ipyjaxbench.frameworks import Checkpoint, Scope
from ipyjaxbench.reports import Note
from ipyjaxbench.testing import FakeClock
from ipyjaxbench.timing.call_times import Sample
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.samples import Samples
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.validity import checks
from ipyjaxbench.timing.validity.carryover_effects import CarryoverEffects
from ipyjaxbench.usercode.output import Muted
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, Bench, failing, notes_by_code


@pytest.mark.parametrize(("work", "shown"), [(490_000, False), (510_000, True)])
def test_a_clock_that_does_not_wait_is_half_as_fast(bench: Bench, work: int, shown: bool) -> None:
    m = bench.time(f"device.start(dispatch=1_000_000, work={work})", budget=0.1)
    assert ("unsynchronised" in notes_by_code(m)) is shown


@pytest.mark.parametrize(("nanoseconds", "short"), [(940, True), (960, False)])
def test_a_sample_holds_twenty_steps(bench: Bench, nanoseconds: int, short: bool) -> None:
    clock = FakeClock(step=50)  # and one more step passes while it is read
    bench.names |= {
        "tick": clock,
        "f": abs,
        "turns": iter(range(1, 9)),
        "fail": failing(4, OSError()),
    }
    m = bench.time(f"tick.advance({nanoseconds})", clock=clock, number=1)
    assert ("below-clock" in notes_by_code(m)) is short
    ended = notes_by_code(bench.time("fail(next(turns))", clock=clock, number=1))
    assert "stopped-by-error" in ended
    assert "below-clock" not in ended
    assert [*notes_by_code(bench.time("f", clock=clock, number=1))] == ["not-called"]


def too_short(
    step: int, *samples: Sample, code: str = "f(x)", one_by_one: bool = False
) -> list[Note]:
    """What is said of samples; a turn of an empty loop takes step / 1000 ns."""
    clock, snippet = FakeClock(step=step), Snippet(Source.plain(code), {})
    calls = Calls(snippet, None, clock, Drain([], clock))
    calls.fresh = one_by_one
    return list(checks._too_short(snippet, calls, Samples([*samples])))


@pytest.mark.parametrize(
    ("step", "per_call", "idle"),
    [(40_000, 49, True), (36_000, 45, True), (36_000, 46, False),  # a quarter longer than the loop
     (45_000, 49, True), (45_000, 50, False)],  # from 50 ns on nobody asks for the loop
)  # fmt: skip
def test_what_an_empty_loop_takes_is_no_work(step: int, per_call: int, idle: bool) -> None:
    notes = too_short(step, Sample(1_000_000, per_call * 1_000_000, 0))
    assert [note.code for note in notes] == ["no-work"] * idle
    assert all(f"an empty loop ({step // 1000} ns)" in note.text for note in notes)


@pytest.mark.parametrize(
    ("code", "is_work"),
    [("x", False), ("x; 3", False), ("pass; x", False), ("(1, 'a')", False), ("1 + 2", False),
     ("x.y", True), ("x + 1", True), ("y = x", True), ("x; f()", True), ("f(); x", True)],
)  # fmt: skip
def test_names_and_constants_are_no_work_however_long_they_take(code: str, is_work: bool) -> None:
    texts = [note.text for note in too_short(1, Sample(1_000_000, 10**9, 0), code=code)]
    told = "The code is only a name or a constant: there is nothing to time."
    assert texts == [told] * (not is_work)


@pytest.mark.parametrize(
    ("taken", "one_by_one", "advice"),
    [(40_000, False, "number=100"), (0, False, "number=1000000"),
     (40_000, True, "do more work per call")],
)  # fmt: skip
def test_calls_are_advised_to_fill_a_sample(taken: int, one_by_one: bool, advice: str) -> None:
    (note,) = too_short(100_000, Sample(1, taken, 0), one_by_one=one_by_one)
    assert (note.code, note.advice) == ("below-clock", advice)


# Samples in which something is compiled


@pytest.mark.parametrize(
    ("compiling", "number", "code"),
    [(320_000, 1, "compiles-too"), (345_000, 1, "recompiles"), (MS // 4, 2, "compiles-too")],
)
def test_code_that_compiles_for_a_quarter_of_each_call_has_no_steady_state(
    bench: Bench, compiling: int, number: int, code: str
) -> None:
    bench.counted(lambda _: bench.device.compile(compiling))  # and a millisecond of work
    m = bench.time("call()", number=number, repeat=20)
    ((told, text),) = notes_by_code(m).items()
    assert told == code
    assert (m.verdict == "RECOMPILES") is (code == "recompiles")
    took = f"which takes {compiling // 1000} µs of its {1 + compiling / MS:.2f} ms."
    assert text.endswith(took) is (code == "compiles-too")


@pytest.mark.parametrize(("late", "code"), [(10, "compiled-late"), (11, "recompiles")])
def test_up_to_half_of_the_samples_are_left_out(bench: Bench, late: int, code: str) -> None:
    # The first call of all is the first sample's; it is no sample by itself.
    bench.counted(lambda turn: bench.device.compile(9 * MS) if 1 < turn <= late + 1 else None)
    m = bench.time("call()", number=1, repeat=21)
    assert list(notes_by_code(m)) == [code]
    assert len(m.batches) == (20 - late if code == "compiled-late" else 20)
    assert (max(m.samples) < 0.002) is (code == "compiled-late")


# What calls changed


@pytest.mark.parametrize("calls", [1, 2])
def test_what_one_call_changes_is_as_it_is_to_be(bench: Bench, calls: int) -> None:
    bench.names |= {"numbers": iter(range(100)), "items": [1], "once": iter([1, 2])}
    advanced = notes_by_code(bench.time("next(numbers)", number=calls, repeat=1, restore=False))
    put_back = notes_by_code(bench.time("items.append(1)", number=calls, repeat=1))
    used_up = notes_by_code(bench.time("[*once]", number=calls, repeat=1))
    told_of = [code for notes, code in ((advanced, "state-advanced"), (put_back, "put-back"),
                                        (used_up, "used-up")) if code in notes]  # fmt: skip
    assert told_of == ([] if calls == 1 else ["state-advanced", "put-back", "used-up"])
    assert bench.names["items"] == [1, 1]


def state(
    advanced: tuple[str, ...] = (), calls: int = 2, writes: int = 0, **facts: Any
) -> dict[str, str]:
    """What is said of a checkpoint with these facts; the set-up makes ``made`` anew."""
    checkpoint = Checkpoint({}, [], {})
    vars(checkpoint).update(facts)
    scope = Scope(Snippet(Source.plain("f(x)"), {}), [])
    carryover = CarryoverEffects(scope, [], ["made"])
    muted = Muted()
    muted.writes = writes
    found = checks.check_state(scope, checkpoint, advanced, carryover, calls, muted)
    return {note.code: note.text for note in found}


def test_what_was_too_large_to_be_kept_is_told_where_calls_could_change_it() -> None:
    assert "Too large to copy completely: rows." in state(cut=["rows"])["not-all-kept"]
    assert state(cut=["rows"], calls=1) == {}
    assert (
        "Too large to look at completely: rows. Changes that later calls made deep inside are not"
        in state(cut=["rows"], restores=False)["not-all-kept"]
    )
    assert state() == {}


def test_each_name_is_told_once_and_none_that_the_set_up_makes() -> None:
    assert state(restored=["x", "made", "x"]) == {
        "put-back": "Restored to the state after the first call: x."
    }
    assert state(("y", "made", "y"))["state-advanced"].startswith("'y' advanced by 2 calls")
    assert state(("made",), restored=["made"]) == {}
    told = state(("log",), restored=["log", "x"])  # of one, only a part could be put back
    assert told["state-advanced"].startswith("'log' advanced by 2 calls")
    assert told["put-back"].endswith(": x.")
    assert state(("y",), calls=1, restored=["x"]) == {}
    meanwhile = {"hits": "thread 'adder'"}
    assert [*state(meanwhile=meanwhile)] == ["changed-meanwhile"]
    assert state(meanwhile=meanwhile, calls=1) == {}
    assert state(writes=3).keys() == {"output-hidden"}


# Values whose work is done later


def lazily(code: str, **results: object) -> list[str]:
    """What is advised instead of code that binds these values."""
    return [note.advice for note in checks.check_assigned_value(ast.parse(code).body, results)]


async def ticks() -> AsyncIterator[int]:
    yield 1


def test_an_assigned_value_whose_work_is_done_later_is_told() -> None:
    later = map(abs, [1])
    assert lazily("x = f(3)", x=later) == ["x = list(f(3))"]
    assert lazily("x = ticks()", x=ticks()) == ["consume it in an async function and time that"]
    assert lazily("x = f(3)", x=[1]) == []
    assert lazily("x = f(3)") == []  # the name is gone
    assert lazily("x = f(3); x", x=later) == lazily("x += f(3)", x=later) == []


def test_a_coroutine_is_closed_when_it_was_told() -> None:
    async def work() -> None: ...

    coroutine = work()
    (note,) = checks.check_value(coroutine, "work()")
    assert (note.code, note.advice) == ("lazy", "await work()")
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED
    assert list(checks.check_value([1], "f()")) == []
