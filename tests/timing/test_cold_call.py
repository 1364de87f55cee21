"""One more call, made cold, on a device whose time is told by hand."""

import itertools
from typing import Any

import pytest

from ipyjaxbench.frameworks.compilation import Compilation, Program
from ipyjaxbench.testing import FakeDevice
from ipyjaxbench.timing.compile_cost import ColdCallResult, Recompilation
from tests.bench import MS, Bench, notes_by_code, recorder

CODE = "jitted; call()"


@pytest.fixture
def cold(bench: Bench) -> list[Any]:
    """A function compiled before, a call that uses it, and what ``jitted`` stood for in each."""
    jitted = bench.device.compile
    note, seen = recorder()

    def each(_: int) -> None:
        note(bench.names["jitted"])
        if bench.device.cold:
            bench.device.compile(80 * MS, "step")

    bench.counted(each)
    bench.names["jitted"] = jitted
    return seen


def test_what_was_compiled_before_is_compiled_anew_in_one_more_call(
    bench: Bench, cold: list[Any]
) -> None:
    jitted = bench.names["jitted"]
    bench.names["x"] = 1
    m = bench.time(CODE, number=3, repeat=2, fresh=True)
    assert m.fresh == ColdCallResult(
        pytest.approx(0.081),
        {"compile": pytest.approx(0.08)},
        (Program("step", 0.08, "compiled", "fake"),),
    )
    # It is in no other figure, and names stand for something else in that call only.
    assert m.elapsed == pytest.approx(0.005)
    assert (m.compilations, m.programs, m.phases) == (0, (), {})
    assert m.samples == pytest.approx((0.001, 0.001))
    assert notes_by_code(m) == {}
    assert [value is jitted for value in cold] == [True] * 6 + [False]
    assert bench.names["jitted"] is jitted
    assert not bench.device.cold
    assert bench.time(CODE, number=3, repeat=2).fresh is None
    assert len(cold) == 7 + 6
    m = bench.time("jitted = jitted; call(); x = x + 1", number=3, repeat=2, fresh=True)
    assert m.fresh.cleared == ("kept",)  # what the code binds is not replaced
    assert bench.names["x"] == 2


@pytest.mark.parametrize(
    ("code", "setup", "seconds"),
    [("jitted; call(); device.start(dispatch=0, work=5_000_000); 1", None, 0.086),  # to its end
     ("ready.pop(); jitted; call()", "ready = [1]", 0.081)],
)  # fmt: skip
def test_it_is_made_as_other_calls_are(
    bench: Bench, cold: list[Any], code: str, setup: str | None, seconds: float
) -> None:
    bench.names["ready"] = []
    m = bench.time(code, setup, number=1, repeat=3, fresh=True)
    assert m.fresh is not None
    assert m.fresh.seconds == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("is_compiled", "reason"),
    [(False, "nothing here is compiled (python)"), (True, "nothing was recompiled")],
)
def test_why_there_is_none_is_told(bench: Bench, is_compiled: bool, reason: str) -> None:
    bench.counted()
    bench.names["jitted"] = bench.device.compile if is_compiled else 1
    m = bench.time(CODE, number=3, repeat=2, fresh=True)
    assert m.fresh == ColdCallResult(None, {}, (), (reason,))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("no\nway"), "the cold call raised ValueError: no"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_an_error_in_it_leaves_the_other_calls_and_all_names(
    bench: Bench, cold: list[Any], error: BaseException, reason: str
) -> None:
    jitted = bench.names["jitted"]

    def each(_: int) -> None:
        if bench.device.cold:
            raise error

    turns = bench.counted(each)
    ended = isinstance(error, KeyboardInterrupt)
    time = bench.interrupted if ended else bench.time
    m = time(CODE, number=3, repeat=2, fresh=True, profile=True)
    assert m.fresh == ColdCallResult(None, {}, (), (reason,))
    assert m.samples == pytest.approx((0.001, 0.001))
    assert bench.names["jitted"] is jitted
    assert not bench.device.cold
    if ended:  # it ends all calls
        assert len(turns) == 7
        assert m.device.reasons == {"fake": "the measurement ended early"}


def test_calls_that_ended_early_are_not_followed_by_another(bench: Bench) -> None:
    def each(count: int) -> None:
        if count == 4:
            raise KeyboardInterrupt

    turns = bench.counted(each)
    bench.names["jitted"] = bench.device.compile
    m = bench.interrupted(CODE, number=3, repeat=2, fresh=True)
    assert m.fresh == ColdCallResult(None, {}, (), ("the measurement ended early",))
    assert len(turns) == 4


def test_of_several_cold_calls_each_program_is_timed_beside_the_usual_one(
    bench: Bench, cold: list[Any]
) -> None:
    """The middle one is shown; all programs are timed in each of five rounds."""
    compile_ms = itertools.cycle([80, 90, 50])
    run_ms = itertools.cycle([2, 3, 2])
    usual = bench.names["jitted"]
    slower: dict[Any, int] = {}

    def each(_: int) -> None:
        program = bench.names["jitted"]
        if program == usual:
            return
        if program not in slower:
            slower[program] = next(run_ms) - 1
            bench.device.compile(next(compile_ms) * MS, "step")
        bench.clock.advance(slower[program] * MS)

    bench.counted(each)
    m = bench.time(CODE, budget=0.024, fresh=3)
    assert m.fresh is not None
    assert m.fresh.seconds == pytest.approx(0.082)
    assert [each.seconds for each in m.fresh.recompiled] == pytest.approx([0.082, 0.093, 0.052])
    assert [each.later for each in m.fresh.recompiled] == pytest.approx([0.002, 0.003, 0.002])
    assert {len(each.rounds) for each in m.fresh.recompiled} == {5}
    assert m.fresh.usual == pytest.approx(0.001)
    assert "median of 3: 52.0 ms to 93.0 ms; your caches are untouched" in m.fresh.words(3)
    assert "recompiled-apart" in notes_by_code(m)


@pytest.mark.parametrize(
    ("programs", "differ"),
    [
        (((2.0, 2.0, 2.1), (2.3, 2.4, 2.4)), True),
        (((2.0, 2.0, 2.1), (2.1, 2.1, 2.2)), False),  # what a layout in memory can do
        (((2.0, 2.0, 9.0), (2.3, 2.4, 2.4)), False),  # the machine did that in one round
        (((2.3, 2.4, 2.4), (2.1, 2.1, 2.1), (2.0, 2.0, 2.1)), True),  # the slowest and the fastest
        (((2.0, 2.0, 2.1),), False),
    ],
)
def test_programs_differ_where_one_is_slower_in_every_round(
    programs: tuple[tuple[float, ...], ...], differ: bool
) -> None:
    made = tuple(Recompilation(0.1, times) for times in programs)
    assert ColdCallResult(0.1, {}, recompiled=made, usual=0.002).programs_differ is differ


@pytest.mark.parametrize(
    ("error", "is_cold", "ended"),
    [
        (ValueError("no"), True, "1 of 3 made; the cold call raised ValueError: no"),
        (KeyboardInterrupt(), True, "1 of 3 made; interrupted"),
        (ValueError("no"), False, "a later call raised ValueError: no"),
    ],
)
def test_what_ends_several_cold_calls_leaves_those_that_were_made(
    bench: Bench, cold: list[Any], error: BaseException, is_cold: bool, ended: str
) -> None:
    compiled: list[Any] = []
    jitted = bench.names["jitted"]

    def each(_: int) -> None:
        program = bench.names["jitted"]
        if program is jitted:
            return
        if program in compiled or (is_cold and compiled):
            raise error
        compiled.append(program)
        bench.device.compile(80 * MS, "step")

    bench.counted(each)
    time = bench.interrupted if isinstance(error, KeyboardInterrupt) else bench.time
    m = time(CODE, budget=0.03, fresh=3)
    assert m.fresh.seconds == pytest.approx(0.081)
    assert m.fresh.cleared == (ended,)
    assert m.fresh.recompiled == ()
    assert bench.names["jitted"] is jitted


@pytest.mark.parametrize("is_timed", [True, False])
def test_what_is_compiled_may_be_known_by_its_program_or_by_its_time_alone(
    bench: Bench, is_timed: bool
) -> None:
    def each(_: int) -> None:
        if bench.device.cold:
            bench.device.compile(80 * MS * is_timed)
            if is_timed:
                bench.device.programs.clear()

    bench.counted(each)
    bench.names["jitted"] = bench.device.compile
    m = bench.time(CODE, number=3, repeat=2, fresh=True)
    assert m.fresh is not None
    assert m.fresh.seconds == pytest.approx(0.081 if is_timed else 0.001)
    assert m.fresh.phases == pytest.approx({"compile": 0.08} if is_timed else {})
    assert len(m.fresh.programs) == (not is_timed)


def test_other_functions_that_are_compiled_are_handed_over_without_a_name(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that a name stands for are not among them, nor what is not compiled."""
    handed: list[tuple[dict[str, object], list[object]]] = []
    other, plain = FakeDevice(bench.clock).compile, len
    compilation = bench.framework.capability(Compilation)
    cold = compilation.cold_call

    def cold_call(named: dict[str, object], unnamed: list[object]) -> Any:
        handed.append((named, unnamed))
        return cold(named, unnamed)

    monkeypatch.setattr(compilation, "cold_call", cold_call)
    jitted = bench.device.compile
    bench.names |= {"jitted": jitted, "use": lambda: (other, plain)}
    bench.time("jitted; use()", number=1, repeat=2, fresh=True)
    assert handed == [({"jitted": jitted}, [other])]
