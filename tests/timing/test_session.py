"""One snippet that is timed: what is asked, waited for, kept and put back around its calls."""

from collections.abc import Sequence
from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation, CompilationWatch, Framework, MutableState, Restore
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from ipyjaxbench.timing.isolation import Donated, Snapshot, all_alive, find_rebound_names
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.session import LaterCalls, make_first_call, open_session, plan_calls
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.bench import MS, START, Bench
from tests.fake_framework import FakeFramework


def planned(bench: Bench, code: str, setup: str | None = None, **options: Any) -> LaterCalls:
    """Code whose first call was made."""
    prepared = Snippet(Source.plain(setup), bench.names) if setup else None
    snippet = Snippet(Source.plain(code), bench.names)
    session = open_session(snippet, TimeOptions(), setup=prepared, clock=bench.clock)
    return plan_calls(session, make_first_call(session, **options))


@pytest.mark.parametrize(("work", "is_told"), [(MS, False), (MS + 1, True)])
def test_a_long_wait_for_earlier_work_is_told(bench: Bench, work: int, is_told: bool) -> None:
    bench.device.start(dispatch=0, work=work)
    bench.framework.gaps = ("compilations are not counted",)
    m = bench.time(START, budget=0.1)
    assert m.first_call == m.median == pytest.approx(1.01e-3)
    codes = [note.code for note in m.notes]
    assert ("earlier-work" in codes) is is_told
    assert codes[0] == "unknown-part"  # what a framework does not report


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
    """A framework that the code does not use, which counts what it is asked."""

    module = "another.module"
    asked = drained = 0

    def __init__(self, device: FakeDevice, name: str) -> None:
        super().__init__(device)
        self.name = name  # type: ignore[misc]

    def owns(self, kind: type) -> bool:
        return False

    def is_running(self) -> bool | None:
        self.asked += 1
        return None if self.name == "silent" else super().is_running()

    def drain(self) -> None:
        self.drained += 1
        super().drain()


def test_a_framework_that_the_code_does_not_use_is_asked_only_where_that_takes_no_clock(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, silent = (Other(FakeDevice(bench.clock), name) for name in ("other", "silent"))
    found = [bench.framework, other, silent]
    monkeypatch.setattr("ipyjaxbench.timing.session.loaded", lambda: (found, {}))
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


def test_frameworks_imported_later_are_known(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Framework] = []
    monkeypatch.setattr("ipyjaxbench.timing.session.loaded", lambda: ([*found], {}))
    bench.names["load"] = lambda: found.append(bench.framework)
    later = planned(bench, f"load(); {START}")
    assert (later.session.frameworks, later.frameworks) == ([], [bench.framework])
    assert [placement.framework for placement in later.outputs] == ["fake"]


# What is put back


def test_random_state_is_kept_before_the_first_call_and_for_later_ones_after_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool | None] = []
    states = bench.framework.capability(MutableState)
    keep = states.random_state

    def random_state(values: Sequence[object], *, later: bool = False) -> Restore | None:
        asked.append(later)
        return keep(values, later=later)

    monkeypatch.setattr(states, "random_state", random_state)
    bench.names["begin"] = lambda: asked.append(None)
    bench.time("begin()", number=1, repeat=1)
    assert asked == [False, None, True]


@pytest.fixture
def fake() -> FakeFramework:
    return FakeFramework(FakeDevice(FakeClock()))


def test_a_snapshot_puts_back_values_and_takes_away_new_names(fake: FakeFramework) -> None:
    names: dict[str, Any] = {"kept": 1, "other": 2, "deleted": 3}
    snapshot = Snapshot(names, ["kept", "new", "gone", "deleted"], [fake], later=False)
    names.update(kept=5, new=6, other=7)
    del names["deleted"]
    fake.random = 9
    assert snapshot.restore([fake]) == []
    assert (names, fake.random) == ({"kept": 1, "other": 7, "deleted": 3}, 0)
    assert snapshot.restore([fake], lambda value: 10 if value == 1 else value) == []
    assert (names, snapshot.revived) == ({"kept": 10, "other": 7, "deleted": 3}, ["kept"])


def test_what_cannot_be_put_back_is_told(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("the device is lost")

    monkeypatch.setattr(fake.capability(MutableState), "random_state", lambda values, later: fail)
    old, new = (fake.device.start(dispatch=0, work=0) for _ in range(2))
    names: dict[str, Any] = {"params": [old], "opt": [1]}
    snapshot = Snapshot(names, ["params", "opt"], [fake], later=True)
    old.deleted = True
    names.update(params=[new], opt=[2])
    assert snapshot.restore([fake]) == ["params", "random state"]
    assert names == {"params": [new], "opt": [1]}  # what was given away is not brought back
    assert not all_alive([old], [fake])


def test_names_that_functions_of_the_user_bind_are_found() -> None:
    names: dict[str, Any] = {}
    exec("def count():\n    global n\n    n = 1\ndef forget():\n    global old\n    del old", names)
    exec("def read():\n    return n", names)
    elsewhere: dict[str, Any] = {}
    exec("def count():\n    global other\n    other = 1", elsewhere)
    functions = [names["count"], names["forget"], names["read"], elsewhere["count"], len]
    assert find_rebound_names(functions, names) == ["n", "old"]


# Arguments that calls give away


class Layer(FakeArray):
    """An array that can be called, as a module of a framework."""

    def __call__(self) -> None: ...


@pytest.mark.parametrize("in_first_call", [False, True])
@pytest.mark.parametrize("gives_away", [False, True])
def test_arguments_that_calls_may_give_away_are_copied(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch, in_first_call: bool, gives_away: bool
) -> None:
    compilation = fake.capability(Compilation)
    monkeypatch.setattr(compilation, "donates", lambda function: function is len)
    x, y, in_list = (fake.device.start(dispatch=0, work=0) for _ in range(3))
    names: dict[str, Any] = {"x": x, "y": y, "layer": Layer(fake.device, 0), "number": 1}
    names["several"] = [in_list]  # which this adapter cannot copy
    before = {**names}

    def renewed() -> list[str]:
        return [name for name, value in before.items() if names[name] is not value]

    snippet = Snippet(Source.plain("y = f(x, y, layer, several, number)"), names)
    assert not Donated(snippet, names, [max], [fake]).is_possible
    donated = Donated(snippet, names, [max, len], [fake])
    assert (donated.is_possible, renewed()) == (True, [])
    if in_first_call:
        donated.donate_copies()
        assert renewed() == ["x"]
    names["x"].deleted = gives_away
    assert donated.forget_unused() == ["x"] * gives_away
    if gives_away:
        donated.refresh()
        first = names["x"]
        donated.refresh()
        assert renewed() == ["x"]  # what the code binds or calls, and what has no copy, stays
        assert names["x"] is not first
    donated.restore()
    assert renewed() == []
    assert x.deleted is (gives_away and not in_first_call)


def test_the_first_call_can_give_copies_away(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.framework.capability(Compilation), "donates", lambda function: True)
    bench.names["x"] = own = FakeArray(bench.device, 0)
    bench.names["give_away"] = lambda array: vars(array).update(deleted=True)
    later = planned(bench, "give_away(x)", donate_copies=True)
    assert not own.deleted
    assert [note.code for note in later.notes] == ["fresh-copies"]
