"""What running code changes is put back, or told."""

from typing import Any

import pytest

from ipyjaxbench.frameworks import find_arrays, find_reach
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing.isolation import Snapshot, all_alive
from tests.fake_framework import FakeFramework


@pytest.fixture
def fake() -> FakeFramework:
    return FakeFramework(FakeDevice(FakeClock()))


def test_a_snapshot_puts_back_values_and_takes_away_new_names(fake: FakeFramework) -> None:
    names: dict[str, Any] = {"kept": 1, "other": 2}
    snapshot = Snapshot(names, ["kept", "new", "gone"], [fake], later=False)
    names.update(kept=5, new=6, other=7)
    fake.random = 9
    assert snapshot.restore([fake]) == []
    assert names == {"kept": 1, "other": 7}
    assert fake.random == 0


def test_a_snapshot_brings_back_a_deleted_name(fake: FakeFramework) -> None:
    names: dict[str, Any] = {"x": 1}
    snapshot = Snapshot(names, ["x"], [fake], later=True)
    del names["x"]
    snapshot.restore([fake])
    assert names == {"x": 1}


def test_a_value_that_was_given_away_is_not_brought_back(fake: FakeFramework) -> None:
    old, new = (fake.device.start(dispatch=0, work=0) for _ in range(2))
    names: dict[str, Any] = {"params": [old], "opt": [1]}
    snapshot = Snapshot(names, ["params", "opt"], [fake], later=True)
    old.deleted = True
    names.update(params=[new], opt=[2])
    assert snapshot.restore([fake]) == ["params"]
    assert names == {"params": [new], "opt": [1]}
    assert not all_alive([old], [fake])


class Hostile:
    """A proxy that raises when it is looked at."""

    __slots__ = ("held",)

    @property
    def __class__(self) -> type:
        raise RuntimeError("no")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


def test_hostile_objects_are_walked_past(fake: FakeFramework) -> None:
    array = fake.device.start(dispatch=0, work=0)
    found = find_arrays([Hostile(), {"k": Hostile()}, array], [fake])
    assert [f.array for f in found] == [array]


def test_a_loop_of_references_ends(fake: FakeFramework) -> None:
    loop: list[Any] = [fake.device.start(dispatch=0, work=0)]
    loop.append({"again": loop})
    assert len(find_arrays(loop, [fake])) == 1


def test_functions_are_followed_through_globals_and_closures(fake: FakeFramework) -> None:
    def inner() -> int:
        return 1

    def outer() -> int:
        return inner()

    class Trainer:
        def __init__(self) -> None:
            self.step = outer

        def go(self) -> int:
            return self.step()

    assert inner in find_reach([outer], [fake]).functions
    assert inner in find_reach([Trainer()], [fake]).functions
    assert inner in find_reach([{"k": [Trainer().go]}], [fake]).functions
    assert find_reach([3, "x"], [fake]).functions == []


def test_values_that_a_function_uses_are_reached(fake: FakeFramework) -> None:
    counts = [0]

    def count() -> None:
        counts[0] += 1

    assert find_reach([count], [fake]).values == {"counts": counts}
