"""Calls of a snippet under one clock."""

import traceback
from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from ipyjaxbench.timing.runner import Calls, First
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework


class Bench:
    """A device, a namespace with it, and calls of some code."""

    def __init__(self, code: str, setup: str | None = None, **names: Any) -> None:
        self.device = FakeDevice(FakeClock())
        self.clock = self.device.clock
        self.names = {"device": self.device, "clock": self.clock, "log": [], **names}
        self.framework = FakeFramework(self.device)
        drain = Drain([self.framework], self.clock)
        prepared = Snippet(Source.plain(setup), self.names) if setup else None
        self.calls = Calls(Snippet(Source.plain(code), self.names), prepared, self.clock, drain)

    @property
    def log(self) -> list[Any]:
        """What the code noted down."""
        return self.names["log"]


WORK = "device.start(dispatch=10, work=100)"


def wait(value: FakeArray) -> None:
    """Wait for one array."""
    value.wait()


def test_the_first_call_lasts_until_all_that_it_started_is_done() -> None:
    bench = Bench(WORK)
    first = bench.calls.first()
    assert (first.taken, first.left) == (10, 100)
    assert isinstance(first.value, FakeArray)
    assert bench.clock.now() == 110


def test_the_first_call_of_code_without_a_value_gives_none() -> None:
    assert Bench("y = 1; clock.advance(5)").calls.first() == First(5, 0, None)


def test_work_that_the_code_did_not_hand_on_is_in_the_first_call_too() -> None:
    assert Bench(f"{WORK}; y = 1").calls.first() == First(10, 100, None)


def test_a_probe_tells_when_python_went_on_and_when_the_value_was_there() -> None:
    bench = Bench(WORK)
    bench.calls.arrange(wait, value=True, names=(), kept={})
    assert bench.calls.time_one()[:3] == (10, 110, 0)


def test_a_probe_tells_how_long_work_went_on_that_was_not_waited_for() -> None:
    bench = Bench(WORK)
    bench.calls.arrange(None, value=False, names=(), kept={})
    assert bench.calls.time_one()[:3] == (10, 10, 100)


def test_a_sample_is_the_time_of_all_its_calls_each_waited_for() -> None:
    bench = Bench(WORK)
    bench.calls.arrange(wait, value=True, names=(), kept={})
    assert bench.calls.sample(7)[1::2] == (7 * 110, False)


def test_names_are_waited_for_where_the_code_binds_them() -> None:
    bench = Bench(f"y = {WORK}")
    bench.calls.arrange(wait, value=False, names=("y",), kept={})
    assert bench.calls.sample(3)[1::2] == (330, False)


def test_without_waiting_work_overlaps_and_only_dispatch_is_read() -> None:
    bench = Bench(WORK)
    bench.calls.arrange(None, value=False, names=(), kept={})
    assert bench.calls.sample(5)[1::2] == (50, False)


def test_samples_of_calls_that_are_not_waited_for_tell_what_they_left_running() -> None:
    left: list[int] = []
    bench = Bench("device.start(dispatch=10, work=100_000)")
    bench.calls.arrange(None, value=False, names=(), kept={})
    bench.calls.on_work_left = left.append
    assert bench.calls.sample(5).ns == 50
    assert left == []
    assert bench.calls.sample(5).ns == 50
    assert left == [499_960]


def test_samples_of_calls_that_are_waited_for_ask_nothing() -> None:
    left: list[int] = []
    bench = Bench("device.start(dispatch=10, work=100_000); log")
    bench.calls.arrange(lambda value: None, value=True, names=(), kept={})
    bench.calls.on_work_left = left.append
    for _ in range(3):
        bench.calls.sample(5)
    assert left == []
    bench.calls.check(per_call=10)
    assert left == []
    bench.device.start(dispatch=0, work=100_000)
    bench.calls.check(per_call=10)
    assert left == [100_000]


def test_a_sample_knows_whether_something_was_compiled_in_it() -> None:
    bench = Bench("if log: device.compile(1000)\nclock.advance(1)")
    with bench.framework.capability(Compilation).watch(()) as watch:
        bench.calls.watches = [watch]
        assert bench.calls.sample(2)[1::2] == (2, False)
        bench.log.append("from now on")
        assert bench.calls.sample(2)[1::2] == (2002, True)
        assert bench.calls.compilations() == 2


def test_set_up_runs_before_each_stretch_and_its_time_is_not_counted() -> None:
    bench = Bench("log.append('call'); clock.advance(1)", "log.append('set'); clock.advance(500)")
    assert bench.calls.sample(2).ns == 2
    assert bench.calls.time_one().waited == 1
    assert bench.log == ["set", "call", "call", "set", "call"]


def test_work_that_the_set_up_starts_is_done_before_the_clock_is_read() -> None:
    bench = Bench("a.wait()", "a = device.start(dispatch=3, work=5000)")
    assert bench.calls.sample(1).ns == 0


def test_a_stretch_that_goes_on_is_not_set_up_again() -> None:
    bench = Bench("log.append('call')", "log.append('set')")
    bench.calls.set_up()
    bench.calls.sample(2, begun=True)
    assert bench.log == ["set", "call", "call"]


def test_arguments_are_renewed_before_each_stretch_untimed() -> None:
    bench = Bench("clock.advance(1)")
    assert not bench.calls.one_by_one
    bench.calls.before_each = lambda: bench.clock.advance(900)
    assert bench.calls.one_by_one
    assert [bench.calls.sample(1).ns, bench.calls.time_one().waited] == [1, 1]
    assert bench.calls.sample(1, begun=True).ns == 1
    assert bench.clock.now() == 3 * 901


@pytest.mark.parametrize("kept", [{"x": 5}, {"x": 5, "y": (1, 2)}])
def test_names_are_set_back_before_each_call(kept: dict[str, Any]) -> None:
    bench = Bench("log.append((x, y)); x = x + 1; y = (*y, x)", x=0, y=())
    bench.calls.arrange(None, value=False, names=(), kept=kept)
    bench.calls.sample(2)
    assert [seen[0] for seen in bench.log] == [5, 5]
    assert [seen[1] for seen in bench.log] == ([(1, 2)] * 2 if "y" in kept else [(), (6,)])


def test_the_cost_of_setting_names_back_is_taken_off() -> None:
    bench = Bench("x = x + 1; clock.advance(50)", x=0)
    bench.calls.arrange(None, value=False, names=(), kept={"x": 0})
    # On a clock that stands still setting back costs nothing, so nothing may be taken off.
    assert bench.calls.sample(4).ns == 200


@pytest.mark.parametrize("step", [0, 7, 1000])
def test_a_sample_is_never_negative(step: int) -> None:
    device = FakeDevice(FakeClock(step=step))
    drain = Drain([], device.clock)
    calls = Calls(Snippet(Source.plain("x = x"), {"x": 1}), None, device.clock, drain)
    calls.arrange(None, value=False, names=(), kept={"x": 1})
    assert calls.sample(3).ns >= 0


def test_calls_are_counted() -> None:
    bench = Bench("clock.advance(1)")
    bench.calls.first()
    bench.calls.time_one()
    bench.calls.sample(5)
    assert bench.calls.made == 7


def test_a_call_that_fails_is_counted_and_those_after_it_are_not() -> None:
    bench = Bench("log.append(1)\nif len(log) == 3: raise ValueError('third')")
    with pytest.raises(ValueError, match="third"):
        bench.calls.sample(10)
    assert bench.calls.made == 3


def test_a_failing_set_up_is_not_a_call() -> None:
    bench = Bench("pass", "raise LookupError")
    with pytest.raises(LookupError):
        bench.calls.sample(1)
    assert bench.calls.made == 0


def test_a_traceback_ends_in_the_line_of_the_user() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        Bench("y = 1\nz = y / 0").calls.first()
    assert traceback.extract_tb(raised.value.__traceback__)[-1].line == "z = y / 0"
