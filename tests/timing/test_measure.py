"""The whole flow from code to a measurement, on a device whose time is told by hand."""

import gc
import platform
import sys
import warnings

import pytest

from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.testing import FakeArray
from ipyjaxbench.timing.measure import measure_snippet
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, START, Bench, notes_by_code, recorder

# What is waited for


@pytest.mark.parametrize("options", [{"budget": 0.1}, {"number": 4, "repeat": 5}])
@pytest.mark.parametrize(
    ("code", "shows"),
    [(START, True), (f"y = [{START}]", True), (f"y = {START}; y", True), (f"{START}; y = 1", False),
     (f"({START}, 1)[1]", False), (f"y = old; {START}; z = 1", False)],
)  # fmt: skip
def test_work_is_waited_for_whether_the_value_shows_it_or_not(
    bench: Bench, code: str, shows: bool, options: dict
) -> None:
    bench.names["old"] = FakeArray(bench.device, 0)  # waiting for it waits for nothing else
    m = bench.time(code, **options)
    assert (m.first_call, m.median, m.waited) == (*[pytest.approx(1.01e-3)] * 2, True)
    text = notes_by_code(m).get("elsewhere", "")
    assert text.startswith("The code starts 1.00 ms of work that its") is not shows
    assert not shows or m.samples == pytest.approx([1.01e-3] * len(m.samples))
    assert bench.clock.now() >= bench.device.busy_until  # nothing runs on afterwards


def test_work_that_the_warm_up_did_not_show_is_noticed_later(bench: Bench) -> None:
    turns = bench.counted(lambda turn: turn > 100 and bench.device.start(dispatch=0, work=5 * MS))
    m = bench.time("call(); None")
    assert "elsewhere" in notes_by_code(m)
    assert len(turns) > 200
    assert m.median == pytest.approx(5e-3)


def test_work_is_no_longer_than_the_whole_call(bench: Bench) -> None:
    """Calls are looked at one by one at first, and may be slower then."""
    turns = bench.counted(
        lambda turn: bench.device.start(dispatch=0, work=(5 if turn < 20 else 2) * MS)
    )
    m = bench.time("call(); None")
    assert len(turns) > 40
    assert m.median < 5e-3
    text = "Nearly all of the time is of work that its value does not depend on."
    assert notes_by_code(m)["elsewhere"] == text


def test_what_a_clock_that_does_not_wait_would_have_read_is_told(bench: Bench) -> None:
    text = "Without waiting for the result, a timer would show 10.0 µs: 101× too low."
    assert notes_by_code(bench.time(START)) == {"unsynchronised": text}
    assert notes_by_code(bench.time("device.start(dispatch=1_000_000, work=10_000)")) == {}
    assert "unsynchronised" in notes_by_code(bench.time(START, repeat=3))
    assert "unsynchronised" not in notes_by_code(bench.time(START, repeat=2))  # that is too few


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


def test_the_first_call_is_kept_apart_with_what_it_compiled(bench: Bench) -> None:
    """Nor is the budget spent on it."""
    bench.counted(lambda count: bench.device.compile(80_000 * MS) if count == 1 else None)
    m = bench.time("call()")
    assert (m.first_call, m.median, max(m.samples)) == pytest.approx((80.001, 0.001, 0.001))
    assert m.phases == pytest.approx({"compile": 80.0})
    assert (m.compilations, m.verdict, notes_by_code(m)) == (1, "QUIET", {})
    bench.counted()
    assert bench.time("call()").compilations is None  # nothing here compiles
    bench.names["jitted"] = bench.device.compile
    assert bench.time("jitted; call()").compilations == 0


# How often and how long


@pytest.mark.parametrize(("number", "repeat", "calls"), [(1, 7, 7), (10, 3, 30), (4, None, 28)])
def test_exact_numbers_of_calls(bench: Bench, number: int, repeat: int | None, calls: int) -> None:
    turns = bench.counted()
    m = bench.time("call()", number=number, repeat=repeat)
    assert len(turns) == calls
    assert (m.loops, m.repeat, m.exact) == (number, repeat or 7, True)
    assert m.all_runs == pytest.approx([number * 1e-3] * m.repeat)


@pytest.mark.parametrize("cost", [1000, MS, 10_000 * MS])
def test_a_number_of_samples_is_kept_and_their_size_chosen(bench: Bench, cost: int) -> None:
    m = bench.time(f"clock.advance({cost})", repeat=5)
    assert m.repeat == len(m.batches) == 5
    assert m.median == pytest.approx(cost * 1e-9)
    assert m.loops == 1 or 5e-4 <= m.loops * m.median <= 2e-3


def test_the_budget_is_kept_when_calls_sleep_and_cpu_time_is_measured(bench: Bench) -> None:
    busy = [0]

    def call() -> None:
        busy[0] += 20_000
        bench.clock.advance(500 * MS)

    bench.names["call"] = call
    m = bench.time("call()", clock=Clock(lambda: busy[0], bench.clock.wall, bench.clock.sleep))
    assert m.median == pytest.approx(20e-6)
    assert m.elapsed <= 2 * 2.0


def test_of_calls_longer_than_the_budget_one_warm_one_is_the_figure(bench: Bench) -> None:
    turns = bench.counted(lambda count: bench.clock.advance((4999 if count == 1 else 2999) * MS))
    m = bench.time("call()")
    assert (m.verdict, len(turns)) == ("ONCE", 2)
    assert (m.first_call, m.median) == pytest.approx((5.0, 3.0))
    (note,) = [n for n in m.notes if n.code == "over-budget"]
    assert note.text == "One warm call only: it took longer than the time budget."
    assert note.advice == "budget=12 for several calls"
    # A first call that alone is slow costs no other ones: it loads a library, say.
    bench.counted(lambda count: bench.clock.advance(2499 * MS if count == 1 else 0))
    m = bench.time("call()")
    assert (m.first_call, m.median) == pytest.approx((2.5, 1e-3))
    assert m.verdict != "ONCE"
    assert "over-budget" not in notes_by_code(m)


@pytest.mark.parametrize("code", [START, f"{START}; 1"])
def test_that_call_is_waited_for_to_its_end(bench: Bench, code: str) -> None:
    m = bench.time(code.replace("1_000_000", "5_000_000_000"))
    assert m.median == pytest.approx(5.00001)
    assert ("elsewhere" in notes_by_code(m)) == (code != START)


def test_a_measurement_knows_what_was_asked(bench: Bench) -> None:
    snippet = Snippet(Source.plain("y = 1 "), bench.names)
    options = TimeOptions(number=1, precision=5)
    m = measure_snippet(snippet, options, clock=bench.clock, compile_time=0.25)
    assert (m.code, m.precision, m.compile_time) == ("y = 1", 5, 0.25)


# Set-up


def test_a_sample_is_set_up_once_though_its_calls_are_made_one_by_one(bench: Bench) -> None:
    write, log = recorder()
    bench.names["write"] = write
    bench.time("x += [1]; write(len(x))", "x = []; write('set up')", number=3, repeat=2)
    assert log == ["set up", 1, 2, 3] * 2


@pytest.mark.parametrize("code", ["x.sort()", "x = [*x, 3]"])
def test_each_call_finds_what_the_set_up_made_if_it_changes(bench: Bench, code: str) -> None:
    keep, seen = recorder()
    bench.names["see"] = lambda x: keep(tuple(x))
    m = bench.time(f"see(x); {code}; clock.advance(1000)", "x = [2, 1]", budget=0.001)
    assert m.median == pytest.approx(1e-6)
    assert len(seen) > 100
    assert set(seen) == {(2, 1)}


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


def test_arguments_given_away_are_replaced(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def each(_: int) -> None:
        array = bench.names["x"]
        assert not array.deleted
        array.deleted = True

    monkeypatch.setattr(bench.framework.capability(Compilation), "donates", lambda function: True)
    turns = bench.counted(each)
    bench.names["x"] = own = FakeArray(bench.device, 0)
    m = bench.time("call(); x", budget=0.1)
    assert len(turns) > 10
    assert (bench.names["x"], own.deleted) == (own, True)
    text = "x: donated by the call. Each later call got a fresh copy (not timed)."
    assert notes_by_code(m) == {"fresh-copies": text}


@pytest.mark.parametrize(("enabled", "options"), [(True, {}), (False, {}), (True, {"number": 3})])
def test_garbage_is_collected_as_before_later(bench: Bench, enabled: bool, options: dict) -> None:
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


def test_what_later_calls_print_is_counted(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.counted(lambda _: sys.stdout.write("hello"))
    m = bench.time("call()", number=2, repeat=3)
    assert capsys.readouterr().out == "hello"
    assert "(5 writes) is hidden" in notes_by_code(m)["output-hidden"]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ([RuntimeWarning("overflow")], "! Later calls warned: RuntimeWarning: overflow."),
        ([UserWarning("a: b\nc."), FutureWarning("d")],
         "· Later calls warned: UserWarning: a: b and 1 other warning."),
    ],
)  # fmt: skip
def test_what_only_later_calls_warn_of_is_told(
    bench: Bench, texts: list[Warning], told: str
) -> None:
    def call(count: int) -> None:
        for each in texts * (count > 1):
            sys.stderr.write(warnings.formatwarning(each, type(each), "code.py", count))

    bench.counted(call)
    m = bench.time("call()", number=2, repeat=3)
    found = {note.code: f"{note.mark} {note.text}" for note in m.notes}
    assert found["warned"] == told
    assert f"({5 * len(texts)} writes) is hidden" in found["output-hidden"]


def test_a_clock_that_goes_backwards_gives_no_negative_time(bench: Bench) -> None:
    bench.counted(lambda count: bench.clock.advance(-3 * MS) if count % 3 == 0 else None)
    m = bench.time("call()", repeat=20, clock=bench.clock)
    assert m.check() is None
    assert min(m.samples) >= 0
    assert "per call" in str(m)
