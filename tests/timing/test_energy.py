"""``--energy``: joules per call, from a counter that a driver brings up to date now and then."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.host import Clock, nvml
from ipyjaxbench.timing import Measurement, energy
from ipyjaxbench.timing.energy import Energy
from tests.bench import MS, Bench, failing
from tests.host.test_nvml import ME, FakeNvml, full
from tests.results import STEADY, measured, rows

WATTS = 500
EVERY = 20 * MS  # nanoseconds between two rises


@pytest.fixture(autouse=True)
def _less_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "_SECONDS", 0.5)


def counter(watts: float = WATTS) -> Callable[[], int]:
    """A counter of millijoules, as a driver has it: it rises now and then only."""
    wall = Clock.elapsed().wall
    begun = wall()
    return lambda: 36_394_527 + round((wall() - begun) // EVERY * EVERY * watts * 1e-6)


def slow(read: Callable[[], int], seconds: float) -> Callable[[], int]:
    """A driver that takes its time to answer."""

    def answer() -> int:
        Clock.elapsed().sleep(seconds)
        return read()

    return answer


def install(monkeypatch: pytest.MonkeyPatch, *gpus: dict[str, Any]) -> None:
    monkeypatch.setattr(nvml, "_ready", None)
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(*gpus))


def taken(bench: Bench, seconds: float = 1e-3, **options: Any) -> Energy:
    """The energy of a call that takes so long."""
    clock = Clock.elapsed()
    bench.names |= {"clock": clock, "seconds": seconds}
    found = bench.time(
        "clock.sleep(seconds)", number=2, repeat=2, energy=True, clock=clock, **options
    ).energy
    assert found is not None
    return found


def nearest(bench: Bench, watts: float, seconds: float = 1e-3) -> Energy:
    """The reading within a tenth, or the nearest of three: a busy machine sees rises late."""
    found: list[Energy] = []
    while len(found) < 3 and not (found and abs((found[-1].watts or 0) - watts) < 0.1 * watts):
        found.append(taken(bench, seconds))
    return min(found, key=lambda each: abs((each.watts or 0) - watts))


@pytest.mark.parametrize("seconds", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("answering", [0.0, 0.004])
def test_the_energy_of_a_call_is_power_times_its_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, seconds: float, answering: float
) -> None:
    install(monkeypatch, full(energy=slow(counter(), answering)))
    found = nearest(bench, WATTS, seconds)
    assert found.watts == pytest.approx(WATTS, rel=0.1)
    assert found.per_call == pytest.approx(found.watts * found.elapsed / found.calls)
    assert found.elapsed / found.calls >= seconds
    assert found.rises > 5


def test_the_samples_are_those_without_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, full(energy=counter()))
    bench.counted()
    plain = bench.time("call()", number=2, repeat=3)
    assert plain.energy is None
    assert bench.time("call()", number=2, repeat=3, energy=True).batches == plain.batches


def test_no_driver_is_asked_without_the_option(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise AssertionError("asked")

    install(monkeypatch, full(energy=refuse))
    bench.counted()
    bench.time("call()", number=2, repeat=3)


@pytest.mark.parametrize(
    ("gpus", "reason"),
    [
        ([], "NVIDIA's driver gives no answer (it takes `pip install nvidia-ml-py`, and a GPU)"),
        ([{}], "this GPU does not count it"),
        ([{"pids": [ME, 1]}], "another process uses the GPU too"),
        ([{"pids": [ME, 1, 2]}], "2 other processes use the GPU too"),
        ([{"pids": [1]}] * 2, "the driver does not say which of 2 GPUs this process uses"),
        ([{"energy": lambda: 5}], "the driver's counter did not rise twice in 0.5 s of calls"),
    ],
)  # fmt: skip
def test_why_it_is_unknown_is_one_line(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, gpus: list[dict[str, Any]], reason: str
) -> None:
    install(monkeypatch, *(full(**gpu) for gpu in gpus))
    bench.counted()
    m = bench.time("call()", energy=True)
    assert m.energy == Energy(reason=reason)
    assert rows(m)["energy"] == f"unknown: {reason}"


def test_a_gpu_of_others_is_not_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = full(pids=[1], energy=counter(10 * WATTS))
    install(monkeypatch, theirs, full(energy=counter()))
    assert nearest(bench, WATTS).watts == pytest.approx(WATTS, rel=0.1)


def test_all_gpus_of_this_process_are_counted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, full(energy=counter()), full(energy=counter()))
    assert nearest(bench, 2 * WATTS).watts == pytest.approx(2 * WATTS, rel=0.1)


def test_in_a_container_the_only_gpu_is_counted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, full(pids=[1], energy=counter()))  # the host's number of this process
    assert nearest(bench, WATTS).watts == pytest.approx(WATTS, rel=0.1)


def test_a_counter_that_stops_to_answer_is_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, gpu := full(energy=counter()))
    bench.counted(lambda turn: gpu.pop("energy", None) if turn > 25 else None)
    found = bench.time("call()", number=10, repeat=2, energy=True).energy
    assert found == Energy(reason="the driver's counter did not rise twice in 0.5 s of calls")


def test_an_answer_that_fails_is_no_rise(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(range(1000))

    def every_second() -> int:
        if next(answers) % 2:
            raise OSError
        return 5

    install(monkeypatch, full(energy=every_second))
    assert taken(bench).reason == "the driver's counter did not rise twice in 0.5 s of calls"


def test_calls_longer_than_the_budget_are_not_made_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, full(energy=counter()))
    calls = bench.counted(lambda _: bench.clock.advance(3_000 * MS))
    found = bench.time("call()", energy=True).energy
    assert found == Energy(reason="another call would exceed the time budget of 2.0 s")
    assert calls[-1] == 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ValueError("used up"), "a call raised ValueError: used up"),
     (KeyboardInterrupt(), "interrupted")],
)  # fmt: skip
def test_what_ends_these_calls_leaves_the_samples(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: BaseException, reason: str
) -> None:
    install(monkeypatch, full(energy=counter()))
    bench.counted(failing(40, error))
    time = bench.interrupted if isinstance(error, KeyboardInterrupt) else bench.time
    m: Measurement = time("call()", number=10, repeat=2, energy=True)
    assert m.energy == Energy(reason=reason)
    assert m.repeat == 2


def test_what_prepares_calls_is_not_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, full(energy=counter()))
    bench.counted()
    found = bench.time("call()", setup="xs = [1]", energy=True).energy
    assert found == Energy(reason="what runs before each call would be counted too")


FOUND = Energy(1400, 2.0, 1254.0, 1.9, 19)


def test_it_is_read_back_from_a_record() -> None:
    m = measured(STEADY, energy=FOUND)
    again = Measurement.from_dict(m.to_dict())
    assert again.energy == FOUND
    assert rows(again)["energy"] == FOUND.words()


@pytest.mark.parametrize("wrong", [Energy(), Energy(2, 1.0), replace(FOUND, reason="?")])
def test_a_record_that_contradicts_itself_is_refused(wrong: Energy) -> None:
    assert measured(STEADY, energy=wrong).check() == "energy without a time, or for no call"


def test_jobs_refuse_it() -> None:
    from ipyjaxbench.cluster.time_on_engines import refuse_options
    from ipyjaxbench.timing import TimeOptions

    with pytest.raises(OptionError, match="--energy works in one process alone"):
        refuse_options(TimeOptions(energy=True))
