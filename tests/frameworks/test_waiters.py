"""What waits for the arrays in a value."""

from typing import Any

import pytest

from ipyjaxbench.adapters.python import Python
from ipyjaxbench.frameworks.waiters import find_waiter, wait_for_each, wait_for_results
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from tests.fake_framework import FakeFramework


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


def test_results_are_waited_for_in_all_that_code_gave(device: FakeDevice) -> None:
    other = FakeDevice(device.clock)
    values = [1, [device.start(dispatch=0, work=10)], OtherArray(other, 500)]
    wait_for_results(values, [First(device), Other(other)])
    assert device.clock.now() == 500


def test_what_is_there_needs_no_waiting(device: FakeDevice) -> None:
    array = device.start(dispatch=0, work=1)
    assert find_waiter({"a": [1, "b", None]}, [FakeFramework(device), Python()]) is None
    assert find_waiter(array, []) is find_waiter(array, [Atomic(device)]) is None


def test_one_array_is_waited_for_by_itself(device: FakeDevice) -> None:
    array = device.start(dispatch=0, work=10)
    device.start(dispatch=0, work=1000)
    wait = find_waiter(array, [FakeFramework(device)])
    assert wait is not None
    wait(array)
    assert device.clock.now() == 10


def test_a_waiter_works_for_other_values_built_alike(device: FakeDevice) -> None:
    wait = find_waiter([device.start(dispatch=0, work=10)], [FakeFramework(device)])
    assert wait is not None
    device.clock.advance(10_000)
    wait([device.start(dispatch=0, work=30)])
    assert device.clock.now() == 10_030


def test_a_value_with_arrays_of_two_frameworks_waits_for_both() -> None:
    clock = FakeClock()
    first, second = FakeDevice(clock), FakeDevice(clock)
    value = [first.start(dispatch=0, work=10), OtherArray(second, 500)]
    second.busy_until = 500
    wait = find_waiter(value, [First(first), Other(second)])
    assert wait is not None
    wait(value)
    assert clock.now() == 500
    assert (first.waits, second.waits) == (1, 1)


def test_items_of_a_tuple_are_waited_for_each_in_its_own_way() -> None:
    seen: list[tuple[str, object]] = []
    waits = [lambda v: seen.append(("a", v)), lambda v: seen.append(("b", v))]
    wait_for_each(waits)((1, 2))
    assert seen == [("a", 1), ("b", 2)]
    wait_for_each(waits[:1])((1, 2))  # one thing to wait for is handed over as it is
    assert seen[2:] == [("a", (1, 2))]
    with pytest.raises(ValueError, match="shorter"):
        wait_for_each(waits)((1,))
