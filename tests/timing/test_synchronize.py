"""Waiting for asynchronous work, and looks for work that calls leave running."""

import math
import random
from collections.abc import Iterable

import pytest

from ipyjaxbench.adapters.python import Python
from ipyjaxbench.errors import DeviceError
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.testing import FakeClock, FakeDevice
from ipyjaxbench.timing.hidden_work import FEWEST_LOOKS, HiddenWork
from ipyjaxbench.timing.measure import measure_snippet
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.options import TimeOptions
from ipyjaxbench.timing.synchronize import Drain
from ipyjaxbench.usercode.snippet import Snippet, Source
from tests import noisy_gpu
from tests.bench import notes_by_code
from tests.fake_framework import FakeFramework
from tests.noisy_gpu import DRIVER, TINY_PROGRAM, Look, NoisyGpu


class Slow(FakeFramework):
    """A framework that takes a while to be asked, and counts what it is asked."""

    asked = prepared = 0
    cost = 700  # nanoseconds
    is_cold = False  # then it takes 60 µs, once

    def prepare(self) -> None:
        self.prepared += 1

    def drain(self) -> None:
        self.asked += 1
        self.device.clock.advance(60_000 if self.is_cold else self.cost)
        self.is_cold = False
        super().drain()


class Untold(Slow):
    """One that does not tell whether something runs: only a clock can ask it."""

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
    assert (drain.idle, slow.prepared) == (700, 1)
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
    clock = device.clock  # whose wall tells, nevertheless
    still = Clock(lambda: 0, clock.wall, clock.sleep, delayed=clock.delayed)
    device.start(dispatch=0, work=100)
    assert Drain([FakeFramework(device)], still).waited == 100


def test_what_runs_on_is_told_and_whose_it_is(device: FakeDevice) -> None:
    other, first = FakeFramework(FakeDevice(device.clock)), FakeFramework(device)
    drain = drained(device, [other, first])
    assert (drain.wait_for_rest(), [*drain.found_running]) == (0, [])
    device.start(dispatch=10, work=300)
    assert (drain.wait_for_rest(), drain.is_certain) == (300, True)
    assert (drain.wait_for_rest(), [*drain.found_running]) == (0, [first])


def test_nothing_runs_in_a_framework_that_does_not_run_ahead(device: FakeDevice) -> None:
    slow = Slow(device)
    slow.runs_ahead = lambda: False  # type: ignore[method-assign]
    drain = drained(device, [slow])
    before = slow.asked
    assert (drain.wait_for_rest(), drain.may_wait, slow.asked) == (0, False, before)


@pytest.mark.parametrize(
    ("cost", "work", "left"),
    [(700, 0, 0), (700, 1_300, 0), (700, 15_700, 0), (700, 15_701, 15_001),
     (700, 90_000_700, 90_000_000),
     (40_000, 80_000, 0), (40_000, 80_001, 40_001)],  # what takes twice as long as asking is work
)  # fmt: skip
def test_a_clock_compares_two_waits(device: FakeDevice, cost: int, work: int, left: int) -> None:
    untold = Untold(device)
    untold.cost = cost
    drain = drained(device, [untold])
    device.start(dispatch=0, work=work)
    assert (drain.wait_for_rest(), drain.is_certain) == (left, False)
    assert ([*drain.found_running] == [untold]) == bool(left)


def test_what_asking_an_idle_device_takes_is_a_lower_quartile(device: FakeDevice) -> None:
    class Rising(Slow):
        def drain(self) -> None:
            self.cost = 100 * (self.asked + 1)
            super().drain()

    assert drained(device, [Rising(device)]).idle == 650  # of 400, 500, … 1400


@pytest.mark.parametrize(("kind", "told"), [(Slow, 0), (Untold, 59_300)])
def test_where_it_is_certain_that_nothing_runs_a_slow_first_look_is_no_wait(
    device: FakeDevice, kind: type[Slow], told: int
) -> None:
    slow = kind(device)
    slow.is_cold = True
    assert drained(device, [slow]).waited == told


@pytest.mark.parametrize(("on_host", "share", "told"), [
    (True, 0.0, 0), (True, 1.0, 59_300), (True, 0.1, 5_930), (False, 0.0, 59_300),
])  # fmt: skip
def test_where_the_host_computes_a_wait_in_which_it_does_not_is_no_work(
    device: FakeDevice, share: float, told: int, *, on_host: bool
) -> None:
    untold, clock = Untold(device), device.clock
    untold.is_cold = True
    untold.computes_on_host = lambda: on_host  # type: ignore[method-assign]
    # What other threads of the process compute is so much of the time that passes.
    timed = Clock(clock.now, clock.wall, clock.sleep, lambda: round(clock.wall() * share),
                  lambda: 0, clock.delayed)  # fmt: skip
    assert Drain([untold], timed).waited == told


@pytest.mark.parametrize("runs_ahead", [True, False])
@pytest.mark.parametrize("kind", [Slow, Untold])
@pytest.mark.parametrize("work", [0, 2_000_000])
@pytest.mark.parametrize("turn", range(20))
def test_time_that_other_programs_had_the_cpu_is_no_wait_for_earlier_work(
    device: FakeDevice, kind: type[Slow], work: int, turn: int, *, runs_ahead: bool
) -> None:
    class Disturbed(kind):  # type: ignore[misc,valid-type]
        def drain(self) -> None:
            super().drain()
            if self.asked == turn:
                device.clock.disturb(4_000_000)

        def runs_ahead(self) -> bool:
            return runs_ahead

    device.start(dispatch=0, work=work)
    drain = drained(device, [Disturbed(device)])
    assert drain.waited == pytest.approx(work * runs_ahead, abs=2_000)
    assert drain.idle == 700


def test_a_device_that_fails_is_named_in_one_line(device: FakeDevice) -> None:
    class Broken(FakeFramework):
        def drain(self) -> None:
            raise RuntimeError("CUDA error: an illegal memory access\nCompile with TORCH_USE_CUDA")

    with pytest.raises(DeviceError) as found:
        drained(device, [Broken(device)])
    assert str(found.value) == (
        "fake cannot wait for its devices: RuntimeError: CUDA error: an illegal memory access."
        " Restart the kernel if that stays."
    )


# Looks for hidden work


def hidden_work(framework: FakeFramework) -> HiddenWork:
    return HiddenWork(Drain([framework], framework.device.clock))


@pytest.mark.parametrize(
    ("kind", "left", "decided"),
    [
        *((FakeFramework, *each) for each in [([0], 0), ([700], 700), ([0, 0, 700], 700), ([], 0)]),
        (FakeFramework, [0, 0, 0, 700], 0),  # one "yes" of many may be a mistake
        (FakeFramework, [0] * 48 + [700, 900], 800),
        (FakeFramework, [40, 40, 40], 0),  # 4 % of a call
        (FakeFramework, [60, 60, 60], 60),
        # Where only a clock answers, most looks have to show it.
        (Untold, [40, 900, 40, 900, 40], 0),
        (Untold, [60, 900, 40, 900, 40], 900),
        (Untold, [900, None, 900, None, 40, None, 900, 40], 900),  # None: it was a control
        (Untold, [900] * 4 + [0] * 5, 0),
        # Of fewer than five looks all have to show it, and the more: five times as much of one.
        *((Untold, *each) for each in [([249], 0), ([251], 251), ([900, 40], 0), ([None], 0)]),
        (Untold, [130, 130], 130),
    ],
)
def test_several_looks_decide(
    device: FakeDevice, kind: type[FakeFramework], left: list[int | None], decided: int
) -> None:
    hidden, is_certain = hidden_work(kind(device)), kind is FakeFramework
    looks = 3 if is_certain else 2 * FEWEST_LOOKS
    assert (hidden.is_certain, hidden.looks) == (is_certain, looks)
    assert HiddenWork(Drain([], device.clock)).looks == 0
    assert hidden.decide([(1000, each) for each in left]) == decided


@pytest.mark.parametrize("work", [0, 200_000])
def test_what_asking_takes_longer_after_a_call_is_no_work(device: FakeDevice, work: int) -> None:
    untold = Untold(device)
    hidden = hidden_work(untold)
    answers = []
    for _ in range(5):
        untold.is_cold = True
        device.start(dispatch=0, work=60_000 + work)
        device.clock.advance(60_000)  # it was waited for: only the work goes on
        answers.append(hidden.look())
    first, control, *later = answers
    assert (first or 0) > 0
    assert control is None
    assert (later[0] or 0) > work // 2 if work else later == [0, 0, 0]


def test_a_control_that_finds_work_says_nothing_of_idle_devices(device: FakeDevice) -> None:
    hidden = hidden_work(Untold(device))
    answers = []
    for work in (200_000, 5_000_000, 5_000_000, 5_000_000):  # the second call is the control
        device.start(dispatch=0, work=work)
        answers.append(hidden.look())
    assert answers[1] is None
    assert (answers[2] or 0) > 4_900_000


def test_beside_a_busy_program_work_that_goes_on_for_longer_is_found(device: FakeDevice) -> None:
    hidden, ms = hidden_work(Untold(device)), 1_000_000
    answers = []
    for work in (60, 130, 60, 130, 60, 60):  # the pauses for controls are of 80 and 140 ms
        device.start(dispatch=0, work=work * ms)
        answers.append(hidden.look())
    assert [None if each is None else round(each / ms) for each in answers] == [
        60, None, 60, None, 60, None,
    ]  # fmt: skip
    assert hidden.decide([(50 * ms, each) for each in answers]) == pytest.approx(60 * ms, rel=0.01)


def test_two_samples_without_a_clock_tell_that_work_is_left_now(device: FakeDevice) -> None:
    hidden = hidden_work(FakeFramework(device))
    answers = []
    for work in (0, 500, 0, 501, 501, 501):
        device.start(dispatch=0, work=work)
        answers.append(hidden.ask_after_sample(10_000))
    assert answers == [0, 0, 0, 0, 501, 0]  # a twentieth of a call does not matter
    hidden.forget_samples()
    device.start(dispatch=0, work=501)
    assert hidden.ask_after_sample(10_000) == 0


def test_after_three_false_doubts_a_clock_is_not_asked_any_more(device: FakeDevice) -> None:
    hidden = hidden_work(Untold(device))
    answers = []
    for _ in range(8):
        device.start(dispatch=0, work=90_000)
        answers.append(hidden.ask_after_sample(1_000))
    assert [bool(each) for each in answers] == [True, False] * 3 + [False, False]
    asked_at = device.clock.now()
    assert hidden.ask_after_sample(1_000) == 0
    assert device.clock.now() == asked_at


# On a device whose answers are as noisy as an H100's

_FROM_NS, _TO_NS = 30_000, 10_000_000
_WAIT_NS = 10_000  # that waiting for all may cost each call


def measured(look: Look, work: int, hidden: int, seed: int) -> Measurement:
    """Code whose calls take so many nanoseconds, and hide so many."""
    gpu = NoisyGpu(look, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ipyjaxbench.timing.session.loaded", lambda: ([gpu], {}))
        snippet = Snippet(Source.plain("call()"), noisy_gpu.names(gpu, work, hidden))
        return measure_snippet(snippet, TimeOptions(budget=0.06), clock=gpu.device.clock)


def cases(number: int) -> list[tuple[int, float, int]]:
    """Nanoseconds of a call, shares from a tenth on, and seeds."""
    draw = random.Random(0)
    spread = math.log(_TO_NS / _FROM_NS)
    return [
        (round(_FROM_NS * math.exp(spread * draw.random())), draw.uniform(0.1, 2.0), seed)
        for seed in range(number)
    ]


@pytest.mark.parametrize("look", [DRIVER, TINY_PROGRAM])
def test_no_work_is_imagined_where_answers_are_noisy(look: Look) -> None:
    for work, _, seed in cases(6):
        m = measured(look, work, 0, seed)
        assert "elsewhere" not in notes_by_code(m), (work, seed)
        assert m.median * 1e9 == pytest.approx(work, rel=0.03), (work, seed)


def test_work_is_found_where_answers_are_noisy() -> None:
    missed = []
    for work, share, seed in cases(20):
        hidden = round(share * work)
        m = measured(DRIVER, work, hidden, seed)
        if "elsewhere" not in notes_by_code(m):
            missed.append(hidden)
        # Devices work in order: what is not found is in the time of the next call.
        truth = pytest.approx(work + hidden, rel=0.03, abs=_WAIT_NS)
        assert m.median * 1e9 == truth, (work, hidden, seed)
    assert len(missed) <= 4
    assert max(missed, default=0) <= 2 * 29_000
