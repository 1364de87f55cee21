"""Calls made cold, of programs or of caches, on a device whose time is told by hand."""

import itertools
from typing import Any

import pytest

from ipyjaxbench.device import Run
from ipyjaxbench.frameworks.compilation import Compilation, Program
from ipyjaxbench.testing import FakeDevice
from ipyjaxbench.timing import cold_cache
from ipyjaxbench.timing.cold_cache import ColdCache
from ipyjaxbench.timing.compile_cost import ColdCallResult
from ipyjaxbench.timing.measurement import Measurement
from tests.bench import MS, START, Bench, failing, notes_by_code, recorder
from tests.fake_framework import FakeProbe
from tests.results import STEADY, measured

CODE = "jitted; call()"


@pytest.fixture
def cold(bench: Bench) -> list[Any]:
    """A function compiled before, a call that uses it, and what ``jitted`` stood for in each."""
    note, seen = recorder()

    def each(_: int) -> None:
        note(bench.names["jitted"])
        if bench.device.cold:
            bench.device.compile(80 * MS, "step")

    bench.counted(each)
    bench.names["jitted"] = bench.device.compile
    return seen


def test_what_was_compiled_is_compiled_once_more(bench: Bench, cold: list[Any]) -> None:
    jitted = bench.names["jitted"]
    bench.names["x"] = 1
    m = bench.time(CODE, number=3, repeat=2, fresh=True)
    programs = (Program("step", 0.08, "compiled", "fake"),)
    phases = {"compile": pytest.approx(0.08)}
    assert m.fresh == ColdCallResult(pytest.approx(0.081), phases, programs)
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
    assert m.fresh.seconds == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("is_compiled", "fails", "reason"),
    [(False, None, "nothing here is compiled (python)"), (True, None, "nothing was recompiled"),
     (True, 4, "the measurement ended early")],
)  # fmt: skip
def test_why_none_is_told(bench: Bench, is_compiled: bool, fails: int | None, reason: str) -> None:
    turns = bench.counted(failing(fails or 0, KeyboardInterrupt()))
    bench.names["jitted"] = bench.device.compile if is_compiled else 1
    m = (bench.interrupted if fails else bench.time)(CODE, number=3, repeat=2, fresh=True)
    assert m.fresh == ColdCallResult(None, {}, (), (reason,))
    assert len(turns) == (fails or 6 + is_compiled)


def test_of_several_each_program_is_timed_beside_the_usual(bench: Bench, cold: list[Any]) -> None:
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
    assert (m.fresh.seconds, m.fresh.usual) == pytest.approx((0.082, 0.001))
    assert [each.seconds for each in m.fresh.recompiled] == pytest.approx([0.082, 0.093, 0.052])
    assert [each.later for each in m.fresh.recompiled] == pytest.approx([0.002, 0.003, 0.002])
    assert {len(each.rounds) for each in m.fresh.recompiled} == {5}
    assert "median of 3: 52.0 ms to 93.0 ms; your caches are untouched" in m.fresh.words(3)
    assert "recompiled-apart" in notes_by_code(m)


@pytest.mark.parametrize(
    ("fresh", "error", "ended"),
    [(1, ValueError("no\nway"), "the cold call raised ValueError: no"),
     (1, KeyboardInterrupt(), "interrupted"),
     (3, ValueError("no"), "1 of 3 made; the cold call raised ValueError: no"),
     (3, KeyboardInterrupt(), "1 of 3 made; interrupted"),
     (3, ValueError("no"), "a later call raised ValueError: no")],
)  # fmt: skip
def test_what_ends_cold_calls_leaves_those_that_were_made_and_all_names(
    bench: Bench, cold: list[Any], fresh: int, error: BaseException, ended: str
) -> None:
    compiled: list[Any] = []
    jitted, is_later = bench.names["jitted"], ended.startswith("a later call")

    def each(_: int) -> None:
        program = bench.names["jitted"]
        if program is jitted:
            return
        if program in compiled or (not is_later and len(compiled) == fresh // 3):
            raise error
        compiled.append(program)
        bench.device.compile(80 * MS, "step")

    bench.counted(each)
    is_interrupt = isinstance(error, KeyboardInterrupt)
    time = bench.interrupted if is_interrupt else bench.time
    m = time(CODE, budget=0.03, fresh=fresh, profile=True)
    if fresh == 1:
        assert m.fresh == ColdCallResult(None, {}, (), (ended,))
    else:
        assert m.fresh.seconds == pytest.approx(0.081)
        assert (m.fresh.cleared, m.fresh.recompiled) == ((ended,), ())
    assert m.samples == pytest.approx([0.001] * len(m.samples))
    assert bench.names["jitted"] is jitted
    assert not bench.device.cold
    if is_interrupt:  # it ends all calls
        assert m.device.reasons == {"fake": "the measurement ended early"}


@pytest.mark.parametrize("is_timed", [True, False])
def test_what_is_compiled_is_known_by_program_or_by_time(bench: Bench, is_timed: bool) -> None:
    def each(_: int) -> None:
        if bench.device.cold:
            bench.device.compile(80 * MS * is_timed)
            if is_timed:
                bench.device.programs.clear()

    bench.counted(each)
    bench.names["jitted"] = bench.device.compile
    m = bench.time(CODE, number=3, repeat=2, fresh=True)
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


# ``--cold``: calls before each of which other data fills the caches

CACHE = 2**20


@pytest.fixture
def cache(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of a millisecond that takes thrice as long where its device's cache was filled."""
    is_cold = [False]

    def write(nbytes: int) -> Run:
        def run() -> None:
            bench.clock.advance(MS)
            is_cold[0] = nbytes > CACHE

        return run

    def call() -> object:
        work, is_cold[0] = 3 * MS if is_cold[0] else MS, False
        return bench.device.start(dispatch=10_000, work=work)

    probe = FakeProbe(bench.device, {})
    monkeypatch.setattr(probe, "streams", lambda nbytes: [(write(nbytes), nbytes)])
    bench.framework.probes["fake:0"] = probe
    monkeypatch.setattr(cold_cache, "largest_cache", lambda: CACHE)
    bench.names["call"] = call


def test_calls_with_cold_caches_are_timed_beside_warm_ones(bench: Bench, cache: None) -> None:
    m = bench.time("n.append(1); call()", "n = []", cold=True, budget=0.5)
    assert (m.median, m.cold.median) == pytest.approx((1.01e-3, 3.01e-3))
    assert bench.names["n"] == [1]  # the set-up still runs before each call
    ratio, calls = "3.0× the time with warm ones", len(m.cold.seconds)
    assert m.cold.words(m.median) == (
        f"3.01 ms per call, {ratio}; {calls} more calls, after writes of 2.00 MiB"
    )
    alike = ColdCache((1.05e-3,) * 5, CACHE).words(1e-3)
    assert alike.startswith("1.05 ms per call, as with warm ones; 5 more calls, ")
    plain = bench.time("call()", number=2, repeat=5)
    assert bench.time("call()", number=2, repeat=5, cold=True).batches == plain.batches
    bench.framework.probes.clear()
    m = bench.time("call()", cold=True, budget=0.1)
    assert m.cold == ColdCache(reason="no device can be filled")


@pytest.mark.parametrize(
    ("code", "options", "reason"),
    [("1 + 1", {"number": 2, "repeat": 2}, "the code uses no arrays"),
     (f"call(); {START}", {"number": 1, "repeat": 20}, "a call raised ValueError: gone"),
     ("start()", {"budget": 1e-4}, "another call would exceed the time budget of 100 µs")],
)  # fmt: skip
def test_why_caches_are_warm(
    bench: Bench, cache: None, code: str, options: dict, reason: str
) -> None:
    bench.names["start"] = bench.names["call"]
    bench.counted(failing(23, ValueError("gone")))
    m = bench.time(code, cold=True, **options)
    assert m.cold == ColdCache(reason=reason)
    assert m.cold.words(m.median) == f"unknown: {reason}"


def test_cold_caches_are_kept_in_records() -> None:
    cold = ColdCache((2e-3, 3e-3), CACHE)
    assert Measurement.from_dict(measured(STEADY, cold=cold).to_dict()).cold == cold
    wrong = ColdCache((2e-3,), CACHE, "and why not")
    assert measured(STEADY, cold=wrong).check() == "cold calls without a time"
