"""Adapters: how they are found, what one that says nothing answers, and what waits for arrays."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ipyjaxbench
from ipyjaxbench.adapters.python import Python
from ipyjaxbench.frameworks import Capability, Compilation, Framework, find_compiler, registry
from ipyjaxbench.frameworks.waiters import find_waiter, wait_for_each, wait_for_results
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from tests.fake_framework import FakeCompilation, FakeFramework


class Refusing(Compilation):
    def compiles(self, value: object) -> bool:
        raise RuntimeError("it cannot be asked")


class Broken(FakeFramework):
    """Fails when it is asked whether it compiles something."""

    def capability(self, kind: Any) -> Any:
        return Refusing(self)


def test_the_framework_that_compiles_a_value_is_found() -> None:
    fake = FakeFramework()
    frameworks = [Python(), Broken(), fake]
    found = find_compiler(fake.device.compile, frameworks)
    assert type(found) is FakeCompilation
    assert found is fake.capability(Compilation)
    assert found.framework is fake
    assert find_compiler(fake.device.start, frameworks) is find_compiler(len, []) is None


def test_one_that_compiles_nothing_knows_nothing() -> None:
    offer = Compilation(Python())
    assert offer.compiles(len) is offer.donates(len) is offer.reads_code is False
    assert offer.builders == ()
    assert offer.original(partial(len)) is offer.cold_call({"f": len}, [len]) is None
    assert offer.work(len, [[1]], {}) is None
    with offer.watch([len]) as watch:
        assert (watch.compilations(), watch.phases()) == (0, {})
        assert (watch.programs(), watch.inspected()) == ((), ())


def test_what_is_offered_is_made_once_and_only_when_it_is_asked_for() -> None:
    class Other(Capability):
        """Something that nobody offers."""

    fake = FakeFramework()
    first = fake.capability(Compilation)
    assert fake.capability(Compilation) is first
    assert type(fake.capability(Other)) is Other
    assert FakeFramework().capability(Compilation) is not first


def test_a_framework_that_says_no_more_runs_ahead_and_keeps_its_arrays() -> None:
    fake = FakeFramework()
    array = FakeArray(fake.device, 0)
    assert Framework.runs_ahead(fake) is Framework.alive(fake, array) is True
    assert Framework.is_running(fake) is Framework.parts(fake, [1]) is fake.named_parts([1]) is None
    assert (fake.immutable, fake.keeps_copies, fake.spins) == (False, False, False)


# What waits for the arrays in a value


class OtherArray(FakeArray):
    """An array of a second framework."""


class Other(FakeFramework):
    """A second framework with a device of its own, on the same clock."""

    name = "other"

    def owns(self, kind: type) -> bool:
        return issubclass(kind, OtherArray)


class First(FakeFramework):
    """The first framework, which leaves the other one's arrays alone."""

    def owns(self, kind: type) -> bool:
        return kind is FakeArray


class Atomic(FakeFramework):
    """A framework whose arrays are computed when they exist."""

    def waiter(self, value: object, arrays: Any) -> None:
        """There is nothing to wait for."""


@pytest.fixture
def device() -> FakeDevice:
    """A device at moment 0."""
    return FakeDevice(FakeClock())


def test_results_of_two_frameworks_are_waited_for_in_all_that_code_gave(device: FakeDevice) -> None:
    other = FakeDevice(device.clock)
    other.busy_until = 500
    frameworks = [First(device), Other(other)]
    value = [1, [device.start(dispatch=0, work=10)], OtherArray(other, 500)]
    wait = find_waiter(value, frameworks)
    assert wait is not None
    wait(value)
    assert (device.clock.now(), device.waits, other.waits) == (500, 1, 1)
    other.busy_until = 900
    wait_for_results([2, value], frameworks)
    assert device.clock.now() == 900


def test_what_is_there_needs_no_waiting(device: FakeDevice) -> None:
    array = device.start(dispatch=0, work=1)
    assert find_waiter({"a": [1, "b", None]}, [FakeFramework(device), Python()]) is None
    assert find_waiter(array, []) is find_waiter(array, [Atomic(device)]) is None


def test_an_array_is_waited_for_by_itself_and_so_are_others_built_alike(device: FakeDevice) -> None:
    array = device.start(dispatch=0, work=10)
    device.start(dispatch=0, work=1000)
    wait, wait_in_list = (find_waiter(each, [FakeFramework(device)]) for each in (array, [array]))
    assert wait is not None
    assert wait_in_list is not None
    wait(array)
    assert device.clock.now() == 10
    device.clock.advance(9_990)
    wait_in_list([device.start(dispatch=0, work=30)])
    assert device.clock.now() == 10_030


def test_items_of_a_tuple_are_waited_for_each_in_its_own_way() -> None:
    seen: list[tuple[str, object]] = []
    waits = [lambda v: seen.append(("a", v)), lambda v: seen.append(("b", v))]
    wait_for_each(waits)((1, 2))
    assert seen == [("a", 1), ("b", 2)]
    wait_for_each(waits[:1])((1, 2))  # one thing to wait for is handed over as it is
    assert seen[2:] == [("a", (1, 2))]
    with pytest.raises(ValueError, match="shorter"):
        wait_for_each(waits)((1,))


ADAPTER = """
from ipyjaxbench.frameworks import Synchronous
from ipyjaxbench.frameworks.placement import Placement

class Toy(Synchronous):
    name = "toy"
    module = "toylib"
    def version(self): return "0.1"
    def owns(self, kind): return kind.__name__ == "ToyArray"
    def placement(self, array): return Placement("", "toy", 1, "float32", (3,), ("toy:0",), 12)
"""


@pytest.fixture
def third_party(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package that names an adapter in its metadata, as pip leaves it."""
    (tmp_path / "toy_adapter.py").write_text(ADAPTER)
    (tmp_path / "toylib.py").write_text("class ToyArray: pass")
    info = tmp_path / "toy_adapter-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-adapter\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[ipyjaxbench.frameworks]\ntoylib = toy_adapter:Toy\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._entry_points.cache_clear()
    yield
    registry._entry_points.cache_clear()
    registry._made.pop("toylib", None)
    for name in ("toylib", "toy_adapter"):
        sys.modules.pop(name, None)


def test_a_third_party_adds_a_framework_by_an_entry_point(third_party: None) -> None:
    ipyjaxbench.measure_code("1 + 1", {}, number=1, repeat=1)
    assert "toy_adapter" not in sys.modules  # it is not loaded before its framework
    import toylib

    result = ipyjaxbench.measure_code("y = x", {"x": toylib.ToyArray()}, number=2, repeat=2)
    assert result.frameworks == {"toy": "0.1"}
    assert [p.words() for p in result.inputs] == ["x f32[3] toy:0"]
    (first,), (second,) = (
        [each for each in registry.loaded()[0] if each.name == "toy"] for _ in range(2)
    )
    assert first is second  # it is made once
    assert registry.loaded()[0][0].name == "python"


def test_a_broken_framework_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry._made, "torch", raising=False)
    adapter = "ipyjaxbench.adapters.torch"
    for name in [name for name in sys.modules if name.startswith(adapter)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    result = ipyjaxbench.measure_code("sum(range(99_999))", {}, number=2, repeat=2)
    for name in [name for name in sys.modules if name.startswith(adapter)]:
        del sys.modules[name]  # what saw the broken one
    (note,) = result.notes
    assert note.code == "not-usable"
    assert note.text.startswith("torch is imported but cannot be used (")
    assert result.median > 0


@pytest.mark.parametrize(
    ("said", "told"), [("no\nbecause", "RuntimeError: no"), ("x" * 90, f"RuntimeError: {'x' * 86}")]
)
def test_why_a_framework_cannot_be_used_is_said_in_one_short_line(
    third_party: None, monkeypatch: pytest.MonkeyPatch, said: str, told: str
) -> None:
    import toy_adapter
    import toylib  # noqa: F401

    def refuse(_: object) -> None:
        raise RuntimeError(said)

    monkeypatch.setattr(toy_adapter.Toy, "__init__", refuse)
    usable, broken = registry.loaded()
    assert broken["toylib"] == told
    assert "toy" not in {framework.name for framework in usable}
