"""What running code changes is put back, or told."""

from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation, MutableState
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from ipyjaxbench.timing.isolation import Donated, Snapshot, all_alive, find_rebound_names
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework


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
    assert names == {"kept": 1, "other": 7, "deleted": 3}
    assert fake.random == 0


def test_a_value_that_was_given_away_is_not_brought_back(fake: FakeFramework) -> None:
    old, new = (fake.device.start(dispatch=0, work=0) for _ in range(2))
    names: dict[str, Any] = {"params": [old], "opt": [1]}
    snapshot = Snapshot(names, ["params", "opt"], [fake], later=True)
    old.deleted = True
    names.update(params=[new], opt=[2])
    assert snapshot.restore([fake]) == ["params"]
    assert names == {"params": [new], "opt": [1]}
    assert not all_alive([old], [fake])


def test_random_state_that_cannot_be_put_back_is_told(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("the device is lost")

    monkeypatch.setattr(fake.capability(MutableState), "random_state", lambda values, later: fail)
    names = {"x": 1}
    snapshot = Snapshot(names, ["x"], [fake], later=True)
    names["x"] = 2
    assert snapshot.restore([fake]) == ["random state"]
    assert names == {"x": 1}


def test_names_that_functions_of_the_user_bind_are_found() -> None:
    names: dict[str, Any] = {}
    exec("def count():\n    global n\n    n = 1\ndef forget():\n    global old\n    del old", names)
    exec("def read():\n    return n", names)
    elsewhere: dict[str, Any] = {}
    exec("def count():\n    global other\n    other = 1", elsewhere)
    functions = [names["count"], names["forget"], names["read"], elsewhere["count"], len]
    assert find_rebound_names(functions, names) == ["n", "old"]


class Layer(FakeArray):
    """An array that can be called, as a module of a framework."""

    def __call__(self) -> None: ...


class Away:
    """Code that gives away ``x``, and the names that it uses."""

    def __init__(self, fake: FakeFramework, monkeypatch: pytest.MonkeyPatch) -> None:
        donates = fake.capability(Compilation)
        monkeypatch.setattr(donates, "donates", lambda function: function is len)
        self.own = fake.device.start(dispatch=0, work=0)
        self.names: dict[str, Any] = {
            "x": self.own,
            "y": fake.device.start(dispatch=0, work=0),
            "layer": Layer(fake.device, 0),
            "several": [fake.device.start(dispatch=0, work=0)],  # which this adapter cannot copy
            "number": 1,
        }
        self.before = {**self.names}
        snippet = Snippet(Source.plain("y = f(x, y, layer, several, number)"), self.names)
        self.donated = Donated(snippet, self.names, [max, len], [fake])

    @property
    def renewed(self) -> list[str]:
        """Names that stand for something else now."""
        return [name for name, value in self.before.items() if self.names[name] is not value]


def test_arguments_that_calls_may_give_away_are_copied(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Away(fake, monkeypatch)
    assert away.donated.is_possible
    assert away.renewed == []
    away.own.deleted = True
    assert away.donated.forget_unused() == ["x"]
    away.own.deleted = False
    away.donated.refresh()
    assert away.renewed == ["x"]  # what the code binds or calls, and what has no copy, stays
    first = away.names["x"]
    away.donated.refresh()
    assert away.names["x"] is not first
    away.donated.restore()
    assert away.renewed == []
    assert away.donated.forget_unused() == []  # the user's own was not given away
    never = Donated(Snippet(Source.plain("f(x)"), {**away.names}), away.names, [max], [fake])
    assert not never.is_possible


@pytest.mark.parametrize("gives_away", [True, False])
def test_the_first_call_can_give_away_copies(
    fake: FakeFramework, monkeypatch: pytest.MonkeyPatch, gives_away: bool
) -> None:
    away = Away(fake, monkeypatch)
    away.donated.donate_copies()
    assert away.renewed == ["x"]
    away.names["x"].deleted = gives_away
    assert away.donated.forget_unused() == (["x"] if gives_away else [])
    away.donated.restore()
    assert away.renewed == []
    assert not away.own.deleted


def test_names_that_got_copies_of_arrays_are_known(fake: FakeFramework) -> None:
    names: dict[str, Any] = {"x": 1, "y": 2, "new": 3}
    snapshot = Snapshot(names, ["x", "y", "gone"], [fake], later=True)
    assert snapshot.restore([fake], lambda value: 10 if value == 1 else value) == []
    assert (names, snapshot.revived) == ({"x": 10, "y": 2, "new": 3}, ["x"])
