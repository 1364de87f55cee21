"""One snippet that is timed: what is asked, waited for and remembered around its calls."""

import gc
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation, CompilationWatch, Framework, MutableState, Restore
from ipyjaxbench.testing import FakeArray, FakeDevice
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.session import LaterCalls, make_first_call, open_session, plan_calls
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, START, Bench
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
    bench.framework.gaps = ("compilations are not counted",)
    m = bench.time(START)
    assert m.first_call == m.median == pytest.approx(1.01e-3)
    codes = [note.code for note in m.notes]
    assert ("earlier-work" in codes) is is_told
    assert codes[0] == "unknown-part"  # what a framework does not report


# How long a call will take


class Compiles(CompilationWatch):
    """It says what was compiled, whatever the calls do."""

    def __init__(self, phases: dict[str, float | None]) -> None:
        self.phases = lambda: phases  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize(
    ("phases", "compiling"),
    [({}, 0), ({"compile": 2.0, "trace": 1.0}, 3000 * MS), ({"compile": None}, 0),  # not known
     ({"compile": 9.0}, 5_000_000_100)],  # on several threads, longer than the call
)  # fmt: skip
def test_a_call_will_take_what_the_first_one_did_without_compiling(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, phases: dict[str, float | None], compiling: int
) -> None:
    compilation = bench.framework.capability(Compilation)
    monkeypatch.setattr(compilation, "watch", lambda functions: Compiles(phases))
    later = planned(bench, f"device.start(dispatch=5_000_000_100, work={MS})")
    assert later.typical == 5_000_000_100 + MS - compiling


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
    bench: Bench, monkeypatch: pytest.MonkeyPatch, three: Sequence[Any]
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
    calls = planned(bench, START, setup="pass").session.calls
    other.drained = silent.drained = 0
    calls.drain()
    assert (other.drained, silent.drained) == (1, 1)  # a set-up may use others
    # One that the code uses is asked, though that takes a clock.
    monkeypatch.setattr(bench.framework, "is_running", lambda: None)
    calls = planned(bench, START).session.calls
    bench.device.start(dispatch=0, work=100_000)
    assert calls.hidden.drain.wait_for_rest() == 100_000


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
