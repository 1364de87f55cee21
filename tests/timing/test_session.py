"""One snippet that is timed: what is asked, waited for and remembered around its calls."""

import gc
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation, CompilationWatch, Framework, MutableState, Restore
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.session import LaterCalls, make_first_call, open_session, plan_calls
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, START, Bench, notes_by_code
from tests.fake_framework import FakeFramework


def planned(bench: Bench, code: str, setup: str | None = None) -> LaterCalls:
    """Code whose first call was made."""
    prepared = Snippet(Source.plain(setup), bench.names) if setup else None
    snippet = Snippet(Source.plain(code), bench.names)
    session = open_session(snippet, TimeOptions(), setup=prepared, clock=bench.clock)
    return plan_calls(session, make_first_call(session))


@pytest.mark.parametrize(("work", "is_told"), [(MS, False), (MS + 1, True)])
def test_a_wait_for_earlier_work_is_told_from_a_millisecond_on(
    bench: Bench, work: int, is_told: bool
) -> None:
    bench.device.start(dispatch=0, work=work)
    assert ("earlier-work" in notes_by_code(bench.time(START))) is is_told


def test_what_a_framework_does_not_report_is_told(bench: Bench) -> None:
    bench.framework.gaps = ("compilations are not counted",)
    assert [note.code for note in bench.time(START).notes][:1] == ["unknown-part"]


# How long a call will take


class Compiles(CompilationWatch):
    """It says what was compiled, whatever the calls do."""

    def __init__(self, **phases: float | None) -> None:
        self._phases = phases

    def __exit__(self, *_: object) -> None: ...

    def phases(self) -> dict[str, float | None]:
        return self._phases


@pytest.mark.parametrize(
    ("phases", "typical"),
    [
        ({}, 5_000_000_100 + MS),
        ({"compile": 2.0}, 3_000_000_100 + MS),
        ({"compile": 2.0, "trace": 1.0}, 2_000_000_100 + MS),
        ({"compile": None}, 5_000_000_100 + MS),  # it is not known how long
        ({"compile": 9.0}, MS),  # on several threads, longer than the call
    ],
)
def test_a_call_will_take_what_the_first_one_did_without_compiling(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, phases: dict[str, float], typical: int
) -> None:
    compilation = bench.framework.capability(Compilation)
    monkeypatch.setattr(compilation, "watch", lambda functions: Compiles(**phases))
    later = planned(bench, f"device.start(dispatch=5_000_000_100, work={MS})")
    assert later.typical == typical


# Whose devices are waited for


class Other(FakeFramework):
    """A second framework, which counts what it is asked."""

    name = "other"
    module = "another.module"
    asked = drained = 0

    def owns(self, kind: type) -> bool:
        return False

    def is_running(self) -> bool | None:
        self.asked += 1
        return super().is_running()

    def drain(self) -> None:
        self.drained += 1
        super().drain()


class Silent(Other):
    """A third one, which does not say whether something runs."""

    name = "silent"

    def is_running(self) -> bool | None:
        self.asked += 1
        return None


@pytest.fixture
def three(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Sequence[Any]:
    """The framework of the bench, and two that the code does not use."""
    found = [bench.framework, *(kind(FakeDevice(bench.clock)) for kind in (Other, Silent))]
    monkeypatch.setattr("ipyjaxbench.timing.session.loaded", lambda: (found, {}))
    return found


def test_a_framework_that_the_code_does_not_use_is_asked_only_where_that_takes_no_clock(
    bench: Bench, three: Sequence[Any]
) -> None:
    _, other, silent = three
    calls = planned(bench, START).session.calls
    other.asked = other.drained = silent.asked = silent.drained = 0
    bench.device.start(dispatch=0, work=100)
    assert calls.drain() == 100
    assert (other.drained, silent.drained) == (0, 0)
    bench.device.start(dispatch=0, work=100)
    assert calls.hidden.drain.wait_for_rest() == 100
    assert (other.asked, silent.asked) == (1, 0)


def test_one_that_the_code_uses_is_asked_though_that_takes_a_clock(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.framework, "is_running", lambda: None)
    calls = planned(bench, START).session.calls
    bench.device.start(dispatch=0, work=100_000)
    assert calls.hidden.drain.wait_for_rest() == 100_000


def test_all_are_waited_for_after_a_set_up_which_may_use_others(
    bench: Bench, three: Sequence[Any]
) -> None:
    _, other, silent = three
    calls = planned(bench, START, setup="pass").session.calls
    other.drained = silent.drained = 0
    calls.drain()
    assert (other.drained, silent.drained) == (1, 1)


def test_what_the_last_call_left_running_is_waited_for(bench: Bench) -> None:
    bench.counted(lambda turn: turn == 7 and bench.device.start(dispatch=0, work=5 * MS))
    bench.names["array"] = FakeArray(bench.device, 0)
    assert "elsewhere" not in notes_by_code(bench.time("call(); array", number=1, repeat=7))
    (begun, ended), *_ = bench.device.worked
    assert (ended - begun, bench.device.busy_until) == (5 * MS, ended)
    assert bench.clock.now() >= ended


# What is put back


def test_random_state_is_kept_before_the_first_call_and_for_later_ones_after_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    states = bench.framework.capability(MutableState)
    keep = states.random_state

    def random_state(values: Sequence[object], *, later: bool = False) -> Restore | None:
        asked.append(later)
        return keep(values, later=later)

    monkeypatch.setattr(states, "random_state", random_state)
    bench.names["begin"] = lambda: asked.append(None)  # type: ignore[arg-type]
    bench.time("begin()", number=1, repeat=1)
    assert asked == [False, None, True]


def test_the_first_call_gives_away_copies_where_that_is_asked_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    compilation = bench.framework.capability(Compilation)
    monkeypatch.setattr(compilation, "donates", lambda function: True)

    def give_away(array: FakeArray) -> None:
        array.deleted = True

    own = FakeArray(bench.device, 0)
    bench.names |= {"x": own, "give_away": give_away}
    snippet = Snippet(Source.plain("give_away(x)"), bench.names)
    session = open_session(snippet, TimeOptions(), clock=bench.clock)
    later = plan_calls(session, make_first_call(session, donate_copies=True))
    assert not own.deleted
    assert [note.code for note in later.notes] == ["fresh-copies"]


class Memo:
    """An object of the user's that the first call changes."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}


@pytest.mark.parametrize("options", [{}, {"number": 2, "repeat": 2}, {"restore": False}])
def test_nothing_is_held_of_the_users_when_the_measurement_is_over(
    bench: Bench, options: dict[str, Any]
) -> None:
    bench.names["memo"] = memo = Memo()
    bench.names["clock"] = bench.clock
    gone = weakref.ref(memo)
    was = gc.isenabled()
    gc.disable()
    try:
        found = bench.time("memo.known['a'] = 1; clock.advance(100_000)", **options)
        del memo, bench.names["memo"]
        assert gone() is None
    finally:
        if was:
            gc.enable()
    assert found.samples


def test_frameworks_that_a_first_call_imports_are_known_to_later_ones(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Framework] = []
    monkeypatch.setattr("ipyjaxbench.timing.session.loaded", lambda: ([*found], {}))
    bench.names["load"] = lambda: found.append(bench.framework)
    later = planned(bench, f"load(); {START}")
    assert (later.session.frameworks, later.frameworks) == ([], [bench.framework])
    assert [placement.framework for placement in later.outputs] == ["fake"]


@pytest.mark.usefixtures("real_clock")
def test_a_clock_and_where_output_goes_are_chosen_where_none_is_given(bench: Bench) -> None:
    snippet = Snippet(Source.plain("1 + 1"), bench.names)
    session = open_session(snippet, TimeOptions(clock="cpu"))
    assert not isinstance(session.calls.clock, FakeClock)
    assert session.muted.writes == 0
