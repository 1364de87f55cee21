"""The test doubles themselves: what they promise to authors of adapters."""

import pytest

from ipyjaxbench.frameworks import Compilation, MutableState, find_arrays
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from tests.fake_framework import FakeFramework


@pytest.fixture
def device() -> FakeDevice:
    """A device at moment 0."""
    return FakeDevice(FakeClock())


def test_a_clock_stands_still_until_it_is_told_to_move() -> None:
    clock = FakeClock()
    assert [clock.now(), clock.now(), clock.wall()] == [0, 0, 0]
    clock.advance(7)
    assert (clock.now(), clock.wall()) == (7, 7)


def test_a_clock_can_take_time_to_read() -> None:
    clock = FakeClock(step=10)
    assert [clock.now(), clock.now()] == [10, 20]


def test_a_pause_passes_on_the_clock_and_nowhere_else() -> None:
    clock = FakeClock()
    clock.sleep(3600)
    assert clock.now() == 3600 * 10**9


def test_clocks_do_not_share_their_time() -> None:
    FakeClock().advance(5)
    assert FakeClock().now() == 0


def test_work_is_queued_and_the_caller_goes_on(device: FakeDevice) -> None:
    first = device.start(dispatch=10, work=100)
    second = device.start(dispatch=10, work=100)
    assert device.clock.now() == 20
    assert (first.ready_at, second.ready_at) == (110, 210)


def test_an_idle_device_starts_at_once(device: FakeDevice) -> None:
    device.start(dispatch=0, work=5)
    device.clock.advance(1000)
    assert device.start(dispatch=0, work=5).ready_at == 1005


def test_waiting_passes_the_time_until_the_array_is_ready_and_no_more(device: FakeDevice) -> None:
    array = device.start(dispatch=10, work=100)
    array.wait()
    assert device.clock.now() == 110
    array.wait()
    assert (device.clock.now(), device.waits) == (110, 2)


def test_compiling_keeps_the_caller_waiting(device: FakeDevice) -> None:
    framework = FakeFramework(device)
    with framework.capability(Compilation).watch(()) as watch:
        assert (watch.compilations(), watch.phases()) == (0, {})
        device.compile(3_000_000)
        assert watch.compilations() == 1
        assert watch.phases() == pytest.approx({"compile": 0.003})
    assert device.clock.now() == 3_000_000


def test_a_watch_sees_only_what_is_compiled_while_it_is_open(device: FakeDevice) -> None:
    device.compile(10)
    with FakeFramework(device).capability(Compilation).watch(()) as watch:
        assert watch.compilations() == 0


def test_a_framework_finds_its_arrays_and_knows_its_compiler(device: FakeDevice) -> None:
    framework = FakeFramework(device)
    arrays = [device.start(dispatch=0, work=1) for _ in range(2)]
    assert [found.array for found in find_arrays({"a": arrays}, [framework])] == arrays
    assert find_arrays(device, [framework]) == []
    assert framework.capability(Compilation).compiles(device.compile)
    assert not framework.capability(Compilation).compiles(device.start)


def test_a_framework_waits_for_one_array_by_itself(device: FakeDevice) -> None:
    array = device.start(dispatch=0, work=5)
    device.start(dispatch=0, work=1000)
    wait = FakeFramework(device).waiter(array, [array])
    assert wait is not None
    wait(array)
    assert device.clock.now() == 5


def test_a_framework_waits_for_all_arrays_of_a_container(device: FakeDevice) -> None:
    arrays = [device.start(dispatch=0, work=5), device.start(dispatch=0, work=10)]
    wait = FakeFramework(device).waiter(arrays, arrays)
    assert wait is not None
    wait(arrays)
    assert device.clock.now() == 15


def test_draining_ends_when_the_device_has_nothing_left_to_do(device: FakeDevice) -> None:
    device.start(dispatch=1, work=50)
    FakeFramework(device).drain()
    assert device.clock.now() == device.busy_until == 51


def test_the_random_state_is_put_back() -> None:
    framework = FakeFramework()
    framework.random = 3
    restore = framework.capability(MutableState).random_state(())
    framework.random = 9
    assert restore is not None
    restore()
    assert framework.random == 3


def test_a_deleted_array_is_not_alive_and_a_copy_of_it_is(device: FakeDevice) -> None:
    framework = FakeFramework(device)
    array = FakeArray(device, 0, deleted=True)
    copy = framework.capability(MutableState).copy(array)
    assert not framework.alive(array)
    assert framework.alive(copy)
    assert framework.capability(MutableState).copy([array]) is None


def test_a_change_in_place_is_told(device: FakeDevice) -> None:
    framework, array = FakeFramework(device), FakeArray(device, 0)
    before = framework.capability(MutableState).mutation_count(array)
    array.version += 1
    assert before is not None
    assert framework.capability(MutableState).mutation_count(array) == before + 1
