"""Work that calls leave running: looks right after them, and what is decided from several."""

import math
import random
from typing import Any

import pytest

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


class Untold(FakeFramework):
    """What only a clock can ask; asking it takes longer after a call."""

    is_cold = False

    def is_running(self) -> None:
        """It is not told."""

    def drain(self) -> None:
        self.device.clock.advance(60_000 if self.is_cold else 700)
        self.is_cold = False
        super().drain()


@pytest.fixture
def device() -> FakeDevice:
    """A device at moment 0."""
    return FakeDevice(FakeClock())


def hidden_work(framework: FakeFramework) -> HiddenWork:
    return HiddenWork(Drain([framework], framework.device.clock))


@pytest.mark.parametrize(
    ("left", "decided"),
    [
        ([0], 0),
        ([700], 700),
        ([0, 0, 700], 700),
        ([0, 0, 0, 700], 0),  # one "yes" of many may be a mistake
        ([0] * 48 + [700, 900], 800),
        ([40, 40, 40], 0),  # 4 % of a call
        ([60, 60, 60], 60),
        ([], 0),
    ],
)
def test_answers_without_a_clock_decide(device: FakeDevice, left: list[int], decided: int) -> None:
    hidden = hidden_work(FakeFramework(device))
    assert (hidden.is_certain, hidden.looks) == (True, 3)
    assert hidden.decide([(1000, each) for each in left]) == decided


@pytest.mark.parametrize(
    ("left", "decided"),
    [
        ([40, 900, 40, 900, 40], 0),
        ([60, 900, 40, 900, 40], 900),
        ([900, None, 900, None, 40, None, 900, 40], 900),  # None: it was a control
        ([900] * 4 + [0] * 5, 0),
        # Of fewer than five looks all have to show it, and the more: five times as much of one.
        ([249], 0),
        ([251], 251),
        ([900, 40], 0),
        ([130, 130], 130),
        ([None], 0),
    ],
)
def test_where_only_a_clock_answers_most_looks_decide(
    device: FakeDevice, left: list[int | None], decided: int
) -> None:
    hidden = hidden_work(Untold(device))
    assert (hidden.is_certain, hidden.looks) == (False, 2 * FEWEST_LOOKS)
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
    assert first is not None
    assert first > 0
    assert control is None
    if work:
        assert (later[0] or 0) > work // 2
    else:
        assert later == [0, 0, 0]


def test_a_control_that_finds_work_running_says_nothing_of_an_idle_device(
    device: FakeDevice,
) -> None:
    hidden = hidden_work(Untold(device))
    answers = []
    for work in (200_000, 5_000_000, 5_000_000, 5_000_000):  # the second call is the control
        device.start(dispatch=0, work=work)
        answers.append(hidden.look())
    assert answers[1] is None
    assert (answers[2] or 0) > 4_900_000


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


def test_after_three_doubts_that_were_none_a_clock_is_not_asked_any_more(
    device: FakeDevice,
) -> None:
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
_BUDGET = 0.06


def measured(look: Look, work: int, hidden: int, seed: int, **options: Any) -> Measurement:
    """Code whose calls take so many nanoseconds, and hide so many."""
    gpu = NoisyGpu(look, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ipyjaxbench.timing.session.loaded", lambda: ([gpu], {}))
        snippet = Snippet(Source.plain("call()"), noisy_gpu.names(gpu, work, hidden))
        chosen = TimeOptions(**(options or {"budget": _BUDGET}))
        return measure_snippet(snippet, chosen, clock=gpu.device.clock)


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
    for work, _, seed in cases(12):
        m = measured(look, work, 0, seed)
        assert "elsewhere" not in notes_by_code(m), (work, seed)
        assert m.median * 1e9 == pytest.approx(work, rel=0.03), (work, seed)


def test_work_is_found_where_answers_are_noisy() -> None:
    missed = []
    for work, share, seed in cases(20):
        hidden = round(share * work)
        m = measured(DRIVER, work, hidden, seed)
        if "elsewhere" not in notes_by_code(m):
            missed.append((work, hidden))
        # Devices work in order: what is not found is in the time of the next call.
        truth = pytest.approx(work + hidden, rel=0.03, abs=_WAIT_NS)
        assert m.median * 1e9 == truth, (work, hidden, seed)
    assert [hidden for _, hidden in missed if hidden > 2 * 29_000] == []
    assert len(missed) <= 4


@pytest.mark.parametrize("options", [{"number": 1, "repeat": 30}, {"number": 20, "repeat": 5}])
def test_a_given_number_of_calls_is_enough_to_find_it(options: dict[str, int]) -> None:
    assert "elsewhere" in notes_by_code(measured(DRIVER, 300_000, 300_000, 1, **options))
    assert "elsewhere" not in notes_by_code(measured(DRIVER, 300_000, 0, 1, **options))
