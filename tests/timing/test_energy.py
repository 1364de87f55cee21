"""``--energy``: joules per call, from a counter that a driver brings up to date now and then."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import greenlet
import pytest

from ipyjaxbench.errors import OptionError
from ipyjaxbench.host import nvml
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


class Turns:
    """In place of `threading`: the thread that reads goes on in each turn that it is given."""

    def __init__(self) -> None:
        self._reader: Any = None
        self._ended = False

    def Event(self) -> "Turns":
        return self

    def Thread(self, target: Callable[..., None], args: tuple[object, ...], **_: Any) -> "Turns":
        self._ended, self._reader = False, greenlet.greenlet(lambda: target(*args))
        return self

    def turn(self) -> None:
        if self._reader is not None and not self._reader.dead:
            self._reader.parent = greenlet.getcurrent()
            self._reader.switch()

    start = join = turn

    def wait(self, seconds: float) -> bool:
        self._reader.parent.switch()
        return self._ended

    def set(self) -> None:
        self._ended = True


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    found = Turns()
    monkeypatch.setattr(energy, "threading", found)
    return found


def counter(bench: Bench, watts: float = WATTS) -> Callable[[], int]:
    """A counter of millijoules, as a driver has it: it rises now and then only."""
    wall = bench.clock.wall
    return lambda: 36_394_527 + round(wall() // EVERY * EVERY * watts * 1e-6)


def install(monkeypatch: pytest.MonkeyPatch, *gpus: dict[str, Any]) -> None:
    monkeypatch.setattr(nvml, "_ready", None)
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(*gpus))


def taken(bench: Bench, turns: Turns, milliseconds: int = 1) -> Energy:
    """The energy of a call that takes so long, after which the counter is read."""

    def each(_: int) -> None:
        bench.clock.advance((milliseconds - 1) * MS)
        turns.turn()

    bench.counted(each)
    found = bench.time("call()", number=2, repeat=2, energy=True).energy
    assert found is not None
    return found


@pytest.mark.parametrize("milliseconds", [1, 10])
def test_the_energy_of_a_call_is_power_times_its_time(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, turns: Turns, milliseconds: int
) -> None:
    install(monkeypatch, full(energy=counter(bench)))
    found = taken(bench, turns, milliseconds)
    assert found.watts == pytest.approx(WATTS)
    assert found.per_call == pytest.approx(WATTS * milliseconds * 1e-3)
    assert (found.calls, found.elapsed) == (500 // milliseconds, pytest.approx(0.5))
    assert 22 <= found.rises <= 24


def test_the_samples_are_those_without_it_and_no_driver_is_asked_without_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    install(monkeypatch, full(energy=lambda: asked.append(1) or len(asked)))
    bench.counted()
    plain = bench.time("call()", number=2, repeat=3)
    assert (plain.energy, asked) == (None, [])
    assert bench.time("call()", number=2, repeat=3, energy=True).batches == plain.batches
    assert asked


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


@pytest.mark.parametrize(
    ("pids", "watts"),
    [
        ([[1], [ME]], WATTS),  # not that of others
        ([[ME], [ME]], 2 * WATTS),
        ([[1]], WATTS),  # in a container: the host's number of this process
    ],
)
def test_all_gpus_of_this_process_are_counted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, turns: Turns, pids: list[list[int]], watts: float
) -> None:
    install(monkeypatch, *(full(pids=each, energy=counter(bench)) for each in pids))
    assert taken(bench, turns).watts == pytest.approx(watts)


def test_a_counter_that_stops_to_answer_is_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, turns: Turns
) -> None:
    install(monkeypatch, gpu := full(energy=counter(bench)))
    bench.counted(lambda turn: (turns.turn(), turn > 40 and gpu.pop("energy", None)))
    found = bench.time("call()", number=10, repeat=2, energy=True).energy
    assert found == Energy(reason="the driver's counter did not rise twice in 0.5 s of calls")


@pytest.mark.parametrize(
    ("setup", "error", "reason"),
    [
        (None, ValueError("used up"), "a call raised ValueError: used up"),
        (None, KeyboardInterrupt(), "interrupted"),
        ("xs = [1]", None, "what runs before each call would be counted too"),
    ],
)
def test_what_ends_these_calls_leaves_the_samples(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    setup: str | None,
    error: BaseException | None,
    reason: str,
) -> None:
    install(monkeypatch, full(energy=counter(bench)))
    bench.counted(failing(40, error) if error else lambda turn: None)
    if isinstance(error, KeyboardInterrupt):
        m = bench.interrupted("call()", number=10, repeat=2, energy=True)
    else:
        m = bench.time("call()", setup, number=10, repeat=2, energy=True)
    assert m.energy == Energy(reason=reason)
    assert m.repeat == 2


def test_calls_longer_than_the_budget_are_not_made_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, full(energy=counter(bench)))
    calls = bench.counted(lambda _: bench.clock.advance(3_000 * MS))
    found = bench.time("call()", energy=True).energy
    assert found == Energy(reason="another call would exceed the time budget of 2.0 s")
    assert calls[-1] == 2


FOUND = Energy(1400, 2.0, 1254.0, 1.9, 19)


@pytest.mark.parametrize("wrong", [Energy(), Energy(2, 1.0), replace(FOUND, reason="?")])
def test_a_record_that_contradicts_itself_is_refused(wrong: Energy) -> None:
    assert measured(STEADY, energy=wrong).check() == "energy without a time, or for no call"
    m = measured(STEADY, energy=FOUND)
    assert Measurement.from_dict(m.to_dict()) == m
    assert rows(m)["energy"] == FOUND.words()


def test_jobs_refuse_it() -> None:
    from ipyjaxbench.cluster.time_on_engines import refuse_options
    from ipyjaxbench.timing import TimeOptions

    with pytest.raises(OptionError, match="--energy works in one process alone"):
        refuse_options(TimeOptions(energy=True))
