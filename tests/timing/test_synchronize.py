"""Waiting for asynchronous work."""

from collections.abc import Iterable

import pytest

from ipyjaxbench.adapters.python import Python
from ipyjaxbench.errors import DeviceError
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from ipyjaxbench.timing.synchronize import Drain
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


class Slow(FakeFramework):
    """A framework that takes a while to be asked, and counts what it is asked."""

    asked = prepared = 0
    cost = 700  # nanoseconds

    def prepare(self) -> None:
        self.prepared += 1

    def drain(self) -> None:
        self.asked += 1
        self.device.clock.advance(self.cost)
        super().drain()


class Untold(Slow):
    """One that does not tell whether something runs."""

    def is_running(self) -> None: ...


@pytest.fixture
def device() -> FakeDevice:
    """A device at moment 0."""
    return FakeDevice(FakeClock())


def drained(device: FakeDevice, frameworks: Iterable[FakeFramework] = ()) -> Drain:
    """A drain of the device."""
    return Drain([*frameworks] or [FakeFramework(device)], device.clock)


def test_an_idle_device_costs_what_asking_costs(device: FakeDevice) -> None:
    assert (drained(device).waited, drained(device).idle) == (0, 0)
    slow = Slow(device)
    drain = drained(device, [slow])
    assert drain.idle == 700
    assert slow.prepared == 1
    for work, left in ((100, 1), (1000, 300)):  # what ends while it is asked ran all the same
        device.start(dispatch=0, work=work)
        assert drain.wait_for_rest() == left


def test_each_drain_returns_how_long_it_took(device: FakeDevice) -> None:
    device.start(dispatch=0, work=5_000)  # from before
    other = FakeDevice(device.clock)
    drain = drained(device, [FakeFramework(device), FakeFramework(other), Python()])
    assert (drain.waited, device.clock.now(), [*drain.found_running]) == (5_000, 5_000, [])
    assert drain() == 0
    device.start(dispatch=10, work=300)
    other.start(dispatch=0, work=900)
    assert [drain(), drain()] == [900, 0]
    assert Drain([], device.clock)() == 0


def test_waiting_is_measured_by_the_wall_whatever_the_clock_of_samples(device: FakeDevice) -> None:
    still = Clock(lambda: 0, device.clock.wall, device.clock.sleep)
    device.start(dispatch=0, work=100)
    assert Drain([FakeFramework(device)], still).waited == 100
    assert device.clock.now() == 100


def test_what_runs_on_is_told_and_whose_it_is(device: FakeDevice) -> None:
    other = Other(FakeDevice(device.clock))
    drain = drained(device, [other, first := First(device)])
    assert (drain.wait_for_rest(), [*drain.found_running]) == (0, [])
    device.start(dispatch=10, work=300)
    assert (drain.wait_for_rest(), drain.is_certain) == (300, True)
    assert (drain.wait_for_rest(), [*drain.found_running]) == (0, [first])


def test_nothing_runs_in_a_framework_that_does_not_run_ahead(device: FakeDevice) -> None:
    class Synchronous(Slow):
        def runs_ahead(self) -> bool:
            return False

    slow = Synchronous(device)
    drain = drained(device, [slow])
    before = slow.asked
    assert (drain.wait_for_rest(), drain.may_wait, slow.asked) == (0, False, before)


@pytest.mark.parametrize(
    ("work", "left"), [(0, 0), (600, 0), (15_000, 0), (15_001, 15_001), (90_000_000, 90_000_000)]
)
def test_where_only_a_clock_tells_two_waits_are_compared(
    device: FakeDevice, work: int, left: int
) -> None:
    untold = Untold(device)
    drain = drained(device, [untold])
    device.start(dispatch=0, work=work + 700 if work else 0)  # asking takes 700 of it
    assert (drain.wait_for_rest(), drain.is_certain) == (left, False)
    assert ([*drain.found_running] == [untold]) == bool(left)


def test_where_asking_takes_long_only_what_takes_twice_as_long_is_work(device: FakeDevice) -> None:
    untold = Untold(device)
    untold.cost = 40_000
    drain = drained(device, [untold])
    device.start(dispatch=0, work=80_000)
    assert drain.wait_for_rest() == 0
    device.start(dispatch=0, work=80_001)
    assert drain.wait_for_rest() == 40_001


def test_what_asking_an_idle_device_takes_is_the_lower_quartile_of_eleven(
    device: FakeDevice,
) -> None:
    class Rising(Slow):
        def drain(self) -> None:
            self.cost = 100 * (self.asked + 1)
            super().drain()

    assert drained(device, [Rising(device)]).idle == 550  # of 300, 400, … 1300


def test_a_device_that_fails_is_named_in_one_line() -> None:
    class Broken(FakeFramework):
        def drain(self) -> None:
            raise RuntimeError(
                "CUDA error: an illegal memory access\nCompile with TORCH_USE_CUDA_DSA"
            )

    clock = FakeClock()
    with pytest.raises(DeviceError) as found:
        Drain([Broken(FakeDevice(clock))], clock)()
    assert str(found.value) == (
        "fake cannot wait for its devices: RuntimeError: CUDA error: an illegal memory access."
        " Restart the kernel if that stays."
    )
