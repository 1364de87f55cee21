"""Waiting for asynchronous work."""

from collections.abc import Iterable
from typing import Any

import pytest

from ipyjaxbench.clock import Clock
from ipyjaxbench.frameworks.python import Python
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice, FakeFramework
from ipyjaxbench.waiting import Drain, each, waiter_of


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


class Slow(FakeFramework):
    """A framework that takes a while to be asked, and counts what it is asked."""

    asked = prepared = 0

    def prepare(self) -> None:
        self.prepared += 1

    def drain(self) -> None:
        self.asked += 1
        self.device.clock.advance(700)
        super().drain()


class Atomic(FakeFramework):
    """A framework whose arrays are computed when they exist."""

    def waiter(self, value: object, arrays: Any) -> None:
        """There is nothing to wait for."""


@pytest.fixture
def device() -> FakeDevice:
    """A device at moment 0."""
    return FakeDevice(FakeClock())


def drained(device: FakeDevice, frameworks: Iterable[FakeFramework] = ()) -> Drain:
    """A drain of the device."""
    return Drain([*frameworks] or [FakeFramework(device)], device.clock)


def test_work_that_was_running_before_is_waited_for_and_told(device: FakeDevice) -> None:
    device.start(dispatch=0, work=5_000)
    assert drained(device).waited == 5_000
    assert device.clock.now() == 5_000


def test_an_idle_device_costs_what_asking_costs(device: FakeDevice) -> None:
    assert (drained(device).waited, drained(device).idle) == (0, 0)
    slow = Slow(device)
    drain = Drain([slow], device.clock)
    assert drain.idle == 700
    assert slow.prepared == 1


def test_each_drain_returns_how_long_it_took(device: FakeDevice) -> None:
    drain = drained(device)
    assert drain() == 0
    device.start(dispatch=10, work=300)
    assert [drain(), drain()] == [300, 0]


def test_all_frameworks_are_waited_for() -> None:
    clock = FakeClock()
    devices = [FakeDevice(clock), FakeDevice(clock)]
    drain = Drain([FakeFramework(device) for device in devices], clock)
    devices[0].start(dispatch=0, work=100)
    devices[1].start(dispatch=0, work=900)
    assert drain() == 900


def test_plain_python_has_nothing_to_wait_for() -> None:
    clock = FakeClock()
    assert Drain([Python()], clock)() == 0
    assert Drain([], clock)() == 0


def test_waiting_is_measured_by_the_wall_whatever_the_clock_of_samples(device: FakeDevice) -> None:
    still = Clock(lambda: 0, device.clock.wall, device.clock.sleep)
    device.start(dispatch=0, work=100)
    assert Drain([FakeFramework(device)], still).waited == 100
    assert device.clock.now() == 100


@pytest.mark.parametrize(
    ("calls", "pending"),
    [
        ([(1000, 700)], 0),  # asking took as long as it always does
        ([(1000, 700 + 600)], 0),  # less than asking itself
        ([(1000, 700 + 5000)], 0),  # what cold caches make of asking
        ([(1000, 700 + 20_000)], 20_000),
        ([(1_000_000, 700 + 40_000)], 0),  # 4 % of a call
        ([(1_000_000, 700 + 60_000)], 60_000),  # 6 % of a call
        ([(1000, 20_700), (1000, 20_700), (1000, 9_999_999)], 20_000),  # one hiccup does not count
        ([(1000, 0)], 0),
    ],
)
def test_work_after_a_call_counts_where_it_matters(
    device: FakeDevice, calls: list[tuple[int, int]], pending: int
) -> None:
    assert drained(device, [Slow(device)]).pending(calls) == pending


def test_a_value_without_arrays_needs_no_waiting(device: FakeDevice) -> None:
    assert waiter_of({"a": [1, "b", None]}, [FakeFramework(device), Python()]) is None
    assert waiter_of(device.start(dispatch=0, work=1), []) is None


def test_an_array_that_is_computed_when_it_exists_needs_no_waiting(device: FakeDevice) -> None:
    assert waiter_of(device.start(dispatch=0, work=1), [Atomic(device)]) is None


def test_one_array_is_waited_for_by_itself(device: FakeDevice) -> None:
    array = device.start(dispatch=0, work=10)
    device.start(dispatch=0, work=1000)
    wait = waiter_of(array, [FakeFramework(device)])
    assert wait is not None
    wait(array)
    assert device.clock.now() == 10


def test_a_waiter_works_for_other_values_built_alike(device: FakeDevice) -> None:
    wait = waiter_of([device.start(dispatch=0, work=10)], [FakeFramework(device)])
    assert wait is not None
    device.clock.advance(10_000)
    wait([device.start(dispatch=0, work=30)])
    assert device.clock.now() == 10_030


def test_a_value_with_arrays_of_two_frameworks_waits_for_both() -> None:
    clock = FakeClock()
    first, second = FakeDevice(clock), FakeDevice(clock)
    value = [first.start(dispatch=0, work=10), OtherArray(second, 500)]
    second.busy_until = 500
    wait = waiter_of(value, [First(first), Other(second)])
    assert wait is not None
    wait(value)
    assert clock.now() == 500
    assert (first.waits, second.waits) == (1, 1)


def test_items_of_a_tuple_are_waited_for_each_in_its_own_way() -> None:
    seen: list[tuple[str, object]] = []
    wait = each([lambda v: seen.append(("a", v)), lambda v: seen.append(("b", v))])
    wait((1, 2))
    assert seen == [("a", 1), ("b", 2)]


def test_one_thing_to_wait_for_is_handed_over_as_it_is() -> None:
    seen: list[object] = []
    each([seen.append])((1, 2))
    assert seen == [(1, 2)]


def test_a_tuple_of_another_length_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="shorter"):
        each([print, print])((1,))
