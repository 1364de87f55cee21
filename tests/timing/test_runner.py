"""Calls of a snippet under one clock."""

from typing import Any

import pytest

from ipyjaxbench.frameworks import Compilation, CompilationWatch
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.testing import FakeArray, FakeClock, FakeDevice
from ipyjaxbench.timing.call_times import QueuedTime, Sample, TimedCall
from ipyjaxbench.timing.hidden_work import HiddenWork
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.waiting import Waiting
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


@pytest.mark.parametrize(
    ("code", "taken", "left", "kind"),
    [(WORK, 10, 100, FakeArray), ("y = 1; clock.advance(5)", 5, 0, type(None)),
     (f"{WORK}; y = 1", 10, 100, type(None))],
)  # fmt: skip
def test_the_first_call_lasts_until_all_that_it_started_is_done(
    code: str, taken: int, left: int, kind: type
) -> None:
    bench = Bench(code)
    first = bench.calls.first()
    assert (first.taken, first.left, type(first.value)) == (taken, left, kind)
    assert bench.clock.now() == taken + left


@pytest.mark.parametrize(
    ("code", "waiting", "one", "sample"),
    [
        (WORK, Waiting(wait, takes_value=True), (10, 110, 0), 770),
        (f"y = {WORK}", Waiting(wait, names=("y",)), (10, 110, 0), 770),
        (WORK, Waiting(), (10, 10, 100), 70),  # only dispatch is read
    ],
)
def test_a_call_is_timed_by_itself_or_among_several(
    code: str, waiting: Waiting, one: tuple[int, int, int], sample: int
) -> None:
    bench = Bench(code)
    bench.calls.arrange(waiting, kept={})
    assert bench.calls.time_one()[:3] == one
    assert bench.calls.sample(7)[1::2] == (sample, False)
    assert bench.calls.made == 8


def test_samples_of_calls_that_are_not_waited_for_tell_what_they_left_running() -> None:
    left: list[int] = []
    bench = Bench("device.start(dispatch=10, work=100_000)")
    bench.calls.arrange(Waiting(), kept={})
    bench.calls.on_work_left = left.append
    assert bench.calls.sample(5).ns == 50
    assert left == []
    assert bench.calls.sample(5).ns == 50
    assert left == [499_960]


def test_the_cpu_time_of_a_call_goes_on_until_what_it_left_is_done() -> None:
    bench = Bench("clock.advance(7); clock.disturb(1000); device.start(dispatch=10, work=100)")
    bench.calls.arrange(Waiting(), kept={})
    assert bench.calls.time_one() == TimedCall(
        returned=1017, waited=1017, left=100, spent=7 + 10 + 100, compiled=False
    )


def test_the_cpu_time_of_a_sample_is_without_that_of_other_programs() -> None:
    bench = Bench("clock.advance(7); clock.disturb(1000)")
    bench.clock.advance(5000)
    assert bench.calls.sample(3) == Sample(calls=3, ns=3021, spent=21, compiled=False)


def test_untimed_calls_come_before_a_sample_where_nothing_has_to_be_set_up() -> None:
    bench = Bench("log.append('call'); clock.advance(10)")
    assert bench.calls.sample(20, ahead=2).ns == 200
    assert bench.log == ["call"] * 22
    bench = Bench("log.append('call'); clock.advance(10)", "log.append('set')")
    assert bench.calls.sample(20, ahead=2).ns == 200
    assert bench.log == ["set", *["call"] * 20]


@pytest.mark.parametrize(("work", "matters"), [(500, False), (501, True)])
def test_work_that_a_sample_left_is_held_against_one_call(work: int, matters: bool) -> None:
    """It matters from a twentieth of a call on: of calls of 10 µs from 500 ns on."""
    told: list[int] = []
    bench = Bench("clock.advance(10_000)")
    bench.calls.arrange(Waiting(), kept={})
    bench.calls.on_work_left = told.append
    for _ in range(2):
        bench.calls.sample(5)
        assert told == []
        bench.device.start(dispatch=0, work=50_000 + work)  # of which 50 µs run in the sample
    bench.calls.sample(5)
    assert told == ([work] if matters else [])


def test_once_all_is_waited_for_a_call_lasts_until_its_value_and_other_work_are_there() -> None:
    bench = Bench("other.busy_until = clock.now() + 3000; device.start(dispatch=10, work=100)")
    other = bench.names["other"] = FakeDevice(bench.clock)
    on_other = FakeFramework(other)
    bench.calls.hidden = HiddenWork(Drain([on_other], bench.clock))
    bench.calls.arrange(Waiting(wait, takes_value=True), kept={})
    assert bench.calls.time_one()[:3] == (10, 110, 2890)
    assert not bench.calls.waiting.for_all
    bench.calls.wait_for_all()
    assert bench.calls.waiting.for_all
    bench.device.waits = 0
    assert bench.calls.time_one()[:3] == (10, 3000, 0)
    assert bench.device.waits == 1  # for the value
    assert bench.calls.sample(2).ns == 6000


@pytest.mark.parametrize("see", [wait, lambda value: None])  # the value need not show it
def test_queued_calls_are_waited_for_once_to_the_end_of_all_that_they_started(see: Any) -> None:
    bench = Bench(WORK)
    bench.calls.arrange(Waiting(see, takes_value=True), kept={})
    assert bench.calls.queue(3) == QueuedTime(30, 310)
    bench.calls.stretch(3)
    assert bench.calls.elapsed == (330 if see is wait else 310)
    assert Bench("clock.advance(5)").calls.queue(3) == QueuedTime(15, 15)


def test_one_more_call_is_set_up_and_gives_its_value_when_all_is_done() -> None:
    bench = Bench(f"log.append('call'); x = x + 1; {WORK}", "log.append('set')", x=0)
    bench.calls.arrange(Waiting(), kept={"x": 5})
    value = bench.calls.again()
    assert isinstance(value, FakeArray)
    assert value.ready_at <= bench.clock.now()
    assert (bench.log, bench.names["x"]) == (["set", "call"], 6)
    assert Bench("x = 1", x=0).calls.again() is None


def test_samples_of_calls_that_are_waited_for_ask_nothing() -> None:
    left: list[int] = []
    bench = Bench("device.start(dispatch=10, work=100_000); log")
    bench.calls.arrange(Waiting(lambda value: None, takes_value=True), kept={})
    bench.calls.on_work_left = left.append
    for _ in range(3):
        bench.calls.sample(5)
    bench.calls.check(per_call=10)
    assert left == []
    bench.device.start(dispatch=0, work=100_000)
    bench.calls.check(per_call=10)
    assert left == [100_000]


class Compiles(CompilationWatch):
    """It compiles for two seconds, and does something else whose time is not known."""

    def phases(self) -> dict[str, float | None]:
        return {"compile": 2.0, "trace": None}


def test_seconds_of_compiling_are_those_that_are_known() -> None:
    bench = Bench("pass")
    assert bench.calls.compile_seconds() == 0.0
    bench.calls.watches = [Compiles(), Compiles()]
    assert bench.calls.compile_seconds() == 4.0


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
    assert bench.calls.sample(1, begun=True).ns == 1  # which is not set up again
    assert bench.log == ["set", "call", "call", "set", "call", "call"]
    bench = Bench("a.wait()", "a = device.start(dispatch=3, work=5000)")
    assert bench.calls.sample(1).ns == 0  # work that it starts is done before
    failing = Bench("pass", "raise LookupError")
    with pytest.raises(LookupError):
        failing.calls.sample(1)
    assert failing.calls.made == 0


def test_work_that_renewing_arguments_starts_is_done_before_the_clock_is_read() -> None:
    bench = Bench("log.append(clock.now())")

    def renew() -> None:
        bench.device.start(dispatch=3, work=5000)

    bench.calls.before_each = renew
    bench.calls.sample(1)
    assert bench.log == [5003]


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
    bench.calls.arrange(Waiting(), kept=kept)
    bench.calls.sample(2)
    assert [seen[0] for seen in bench.log] == [5, 5]
    assert [seen[1] for seen in bench.log] == ([(1, 2)] * 2 if "y" in kept else [(), (6,)])


def on_clock(bench: Bench, *took: int) -> Calls:
    """Its calls on a clock of which each pair of readings lies so many nanoseconds apart."""
    readings = iter([reading for ns in took for reading in (0, ns)])
    clock = Clock(lambda: next(readings), bench.clock.wall, bench.clock.sleep)
    return Calls(Snippet(Source.plain("x = x"), bench.names), None, clock, bench.calls.drain)


def test_what_setting_names_back_costs_is_the_least_that_a_thousand_turns_show() -> None:
    """Of nine readings each: with the name, and of the empty loop."""
    with_name, without = [9999, 6000, *[7000] * 7], [5000, 1000, *[2000] * 7]
    calls = on_clock(Bench("pass", x=0), *with_name, *without, 100, 10)
    calls.arrange(Waiting(), kept={"x": 0})
    assert calls.sample(4).ns == 100 - 4 * 5
    assert calls.sample(4).ns == 0  # and no less
    calls = on_clock(Bench("pass", x=0), *[1000] * 9, *[6000] * 9, 100)
    calls.arrange(Waiting(), kept={"x": 0})
    assert calls.sample(4).ns == 100  # nor do they cost less than nothing


def test_a_call_that_fails_is_counted_and_those_after_it_are_not() -> None:
    bench = Bench("log.append(1)\nif len(log) == 3: raise ValueError('third')")
    with pytest.raises(ValueError, match="third"):
        bench.calls.sample(10)
    assert bench.calls.made == 3
