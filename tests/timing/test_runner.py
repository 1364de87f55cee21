"""Calls of a snippet under one clock."""

from typing import Any

import pytest

from ipyjaxbench.host.clock import Clock
from ipyjaxbench.testing import FakeArray, FakeDevice
from ipyjaxbench.timing.call_times import Sample, TimedCall
from ipyjaxbench.timing.hidden_work import HiddenWork
from ipyjaxbench.timing.runner import Calls
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.timing.waiting import Waiting
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests.fake_framework import FakeFramework
from tests.timing.timed import Timed

WORK = "device.start(dispatch=10, work=100)"


def wait(value: FakeArray) -> None:
    """Wait for one array."""
    value.wait()


VALUE = Waiting(wait, takes_value=True)


@pytest.mark.parametrize(
    ("code", "waiting", "one", "sample"),
    [(WORK, VALUE, (10, 110, 0), 770),
     (f"y = {WORK}", Waiting(wait, names=("y",)), (10, 110, 0), 770),
     (WORK, Waiting(), (10, 10, 100), 70)],  # only dispatch is read
)  # fmt: skip
def test_a_call_is_timed_by_itself_or_among_several(
    code: str, waiting: Waiting, one: tuple[int, int, int], sample: int
) -> None:
    timed = Timed(code, waiting=waiting)
    assert timed.calls.time_one()[:3] == one
    assert timed.calls.sample(7)[1::2] == (sample, False)
    assert timed.calls.made == 8


def test_cpu_time_goes_on_until_all_is_done_and_is_without_that_of_other_programs() -> None:
    code = "clock.advance(7); clock.disturb(1000)"
    timed = Timed(f"{code}; {WORK}", waiting=Waiting())
    assert timed.calls.time_one() == TimedCall(
        returned=1017, waited=1017, left=100, spent=7 + 10 + 100, compiled=False
    )
    timed = Timed(code)
    timed.clock.advance(5000)
    assert timed.calls.sample(3) == Sample(calls=3, ns=3021, spent=21, compiled=False)


def test_untimed_calls_come_before_a_sample_where_nothing_has_to_be_set_up() -> None:
    for setup, log in ((None, ["call"] * 22), ("log.append('set')", ["set", *["call"] * 20])):
        timed = Timed("log.append('call'); clock.advance(10)", setup)
        assert timed.calls.sample(20, ahead=2).ns == 200
        assert timed.log == log


# What calls leave running


@pytest.mark.parametrize(("work", "matters"), [(500, False), (501, True)])
def test_work_that_a_sample_left_is_held_against_one_call(work: int, matters: bool) -> None:
    """It matters from a twentieth of a call on: of calls of 10 µs from 500 ns on."""
    timed = Timed("clock.advance(10_000)", waiting=Waiting())
    for _ in range(2):
        timed.calls.sample(5)
        assert timed.left == []
        timed.device.start(dispatch=0, work=50_000 + work)  # of which 50 µs run in the sample
    timed.calls.sample(5)
    assert timed.left == ([work] if matters else [])


def test_samples_of_calls_that_are_waited_for_ask_nothing() -> None:
    waiting = Waiting(lambda value: None, takes_value=True)
    timed = Timed("device.start(dispatch=10, work=100_000); log", waiting=waiting)
    for _ in range(3):
        timed.calls.sample(5)
    timed.calls.check(per_call=10)
    assert timed.left == []
    timed.device.start(dispatch=0, work=100_000)
    timed.calls.check(per_call=10)
    assert timed.left == [100_000]


def test_once_all_is_waited_for_a_call_lasts_until_its_value_and_other_work_are_there() -> None:
    timed = Timed(f"other.busy_until = clock.now() + 3000; {WORK}", waiting=VALUE)
    other = timed.names["other"] = FakeDevice(timed.clock)
    timed.calls.hidden = HiddenWork(Drain([FakeFramework(other)], timed.clock))
    assert timed.calls.time_one()[:3] == (10, 110, 2890)
    assert not timed.calls.waiting.for_all
    timed.calls.wait_for_all()
    assert timed.calls.waiting.for_all
    timed.device.waits = 0
    assert timed.calls.time_one()[:3] == (10, 3000, 0)
    assert timed.device.waits == 1  # for the value
    assert timed.calls.sample(2).ns == 6000


# What comes before calls


def test_set_up_runs_before_each_stretch_and_its_time_is_not_counted() -> None:
    timed = Timed("log.append('call'); clock.advance(1)", "log.append('set'); clock.advance(500)")
    assert timed.calls.sample(2).ns == 2
    assert timed.calls.time_one().waited == 1
    assert timed.calls.sample(1, begun=True).ns == 1  # which is not set up again
    assert timed.log == ["set", "call", "call", "set", "call", "call"]
    timed = Timed("a.wait()", "a = device.start(dispatch=3, work=5000)")
    assert timed.calls.sample(1).ns == 0  # work that it starts is done before
    failing = Timed("pass", "raise LookupError")
    with pytest.raises(LookupError):
        failing.calls.sample(1)
    assert failing.calls.made == 0


def test_arguments_are_renewed_before_each_stretch_untimed() -> None:
    timed = Timed("log.append(clock.now()); clock.advance(1)")
    assert not timed.calls.one_by_one
    timed.calls.before_each = lambda: timed.device.start(dispatch=400, work=500)
    assert timed.calls.one_by_one
    assert [timed.calls.sample(1).ns, timed.calls.time_one().waited] == [1, 1]
    assert timed.calls.sample(1, begun=True).ns == 1
    assert timed.log == [900, 1801, 2702]  # work that renewing starts is done before


@pytest.mark.parametrize("kept", [{"x": 5}, {"x": 5, "y": (1, 2)}])
def test_names_are_set_back_before_each_call(kept: dict[str, Any]) -> None:
    timed = Timed("log.append((x, y)); x = x + 1; y = (*y, x)", x=0, y=())
    timed.calls.arrange(Waiting(), kept=kept)
    timed.calls.sample(2)
    assert timed.log == [(5, (1, 2))] * 2 if "y" in kept else [(5, ()), (5, (6,))]


@pytest.mark.parametrize(
    ("with_name", "without", "taken"),
    [([9999, 6000, *[7000] * 7], [5000, 1000, *[2000] * 7], [(100, 100 - 4 * 5), (10, 0)]),
     ([1000] * 9, [6000] * 9, [(100, 100)])],  # nor do they cost less than nothing
)  # fmt: skip
def test_what_setting_names_back_costs_is_the_least_that_a_thousand_turns_show(
    with_name: list[int], without: list[int], taken: list[tuple[int, int]]
) -> None:
    """Of nine readings each: with the name, and of the empty loop."""
    timed = Timed("pass", x=0)
    spans = [*with_name, *without, *(read for read, _ in taken)]
    readings = iter([reading for ns in spans for reading in (0, ns)])
    clock = Clock(lambda: next(readings), timed.clock.wall, timed.clock.sleep)
    calls = Calls(Snippet(Source.plain("x = x"), timed.names), None, clock, timed.calls.drain)
    calls.arrange(Waiting(), kept={"x": 0})
    assert [calls.sample(4).ns for _ in taken] == [ns for _, ns in taken]


def test_cpu_time_of_looking_is_none_of_the_calls() -> None:
    """With 20,000 arrays a look takes longer than the call, also where it finds work."""
    hidden = Timed(WORK).calls.hidden
    for left, spent, of_work in ((0, 2_000, 0), (0, 2_100, 0), (50, 4_500, 500), (50, 3_000, 0)):
        assert hidden.spent_on_work(left, spent) == of_work
