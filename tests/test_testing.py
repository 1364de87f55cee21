"""The test doubles themselves: what they promise to authors of adapters."""

from ipyjaxbench.frameworks import Compilation, MutableState, find_arrays
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from tests.fake_framework import FakeFramework


def test_a_clock_moves_only_as_it_is_told() -> None:
    clock = FakeClock()
    assert [clock.now(), clock.now(), clock.wall()] == [0, 0, 0]
    clock.advance(7)
    clock.sleep(3600)
    clock.spin(5)
    assert clock.now() == clock.wall() == 12 + 3600 * 10**9
    clock.disturb(3)
    assert (clock.now(), clock.spent()) == (15 + 3600 * 10**9, 12 + 3600 * 10**9)
    assert FakeClock().now() == 0  # clocks do not share their time
    stepping = FakeClock(step=10)
    assert [stepping.now(), stepping.now()] == [10, 20]


def test_work_is_queued_and_the_caller_goes_on_until_it_waits() -> None:
    device = FakeDevice(FakeClock())
    first, second = (device.start(dispatch=10, work=100) for _ in range(2))
    assert device.clock.now() == 20
    assert (first.ready_at, second.ready_at) == (110, 210)
    first.wait()
    assert device.clock.now() == 110
    first.wait()
    assert (device.clock.now(), device.waits) == (110, 2)
    device.clock.advance(1000)
    assert device.start(dispatch=0, work=5).ready_at == 1115  # an idle device starts at once


def test_compiling_keeps_the_caller_waiting_and_is_watched() -> None:
    device = FakeDevice(FakeClock())
    device.compile(10)
    with FakeFramework(device).capability(Compilation).watch(()) as watch:
        assert (watch.compilations(), watch.phases()) == (0, {})
        device.compile(3_000_000)
        assert watch.compilations() == 1
        assert round(watch.phases()["compile"] or 0, 9) == 0.003
    assert device.clock.now() == 3_000_010


def test_a_framework_finds_its_arrays_waits_and_copies() -> None:
    framework = FakeFramework()
    device, states = framework.device, framework.capability(MutableState)
    arrays = [device.start(dispatch=0, work=5), device.start(dispatch=0, work=10)]
    assert [found.array for found in find_arrays({"a": arrays}, [framework])] == arrays
    assert find_arrays(device, [framework]) == []
    for value, moment in ((arrays[0], 5), (arrays, 15)):
        wait = framework.waiter(value, [value] if isinstance(value, FakeArray) else arrays)
        assert wait is not None
        wait(value)
        assert device.clock.now() == moment
    copy = states.copy(FakeArray(device, 0, deleted=True))
    assert framework.alive(copy)
    assert (states.copy([copy]), states.mutation_count(copy)) == (None, 0)
