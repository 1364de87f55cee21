"""``--energy``: joules per call, from a counter that a driver brings up to date now and then."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import greenlet
import pytest

from ipyjaxbench.host import nvml
from ipyjaxbench.timing import Measurement, energy
from ipyjaxbench.timing.energy import Energy
from tests.bench import MS, Bench, failing
from tests.host.test_nvml import ME, FakeNvml, full
from tests.results import STEADY, measured, rows

WATTS = 500
EVERY = 20 * MS  # nanoseconds between two rises


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


@pytest.fixture(autouse=True)
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    found = Turns()
    monkeypatch.setattr(energy, "_SECONDS", 0.5)
    monkeypatch.setattr(energy, "threading", found)
    return found


@pytest.fixture
def install(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., list[dict[str, Any]]]:
    """Has GPUs with a counter of millijoules that rises now and then, of so many watts."""

    def counter() -> int:
        return 36_394_527 + round(bench.clock.wall() // EVERY * EVERY * WATTS * 1e-6)

    loaded = tmp_path / "maps"
    loaded.write_text("7f00-7f01 r-xp 0 fe:00 1 /usr/lib/x86_64-linux-gnu/libcuda.so.580.65\n")
    monkeypatch.setattr(nvml, "_MAPS", loaded)

    def install(*facts: dict[str, Any]) -> list[dict[str, Any]]:
        gpus = [full(**{"energy": counter, **each}) for each in facts]
        monkeypatch.setattr(nvml, "_ready", None)
        monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(*gpus))
        return gpus

    return install


@pytest.mark.parametrize(
    ("pids", "milliseconds", "watts"),
    [([[ME]], 1, WATTS), ([[ME]], 10, WATTS),
     ([[1], [ME]], 1, WATTS),  # not that of others
     ([[ME], [ME]], 1, 2 * WATTS),
     ([[1]], 1, WATTS)],  # in a container: the host's number of this process
)  # fmt: skip
def test_the_energy_of_a_call_is_power_times_its_time_over_all_gpus_of_this_process(
    bench: Bench, turns: Turns, install: Any, pids: list[list[int]], milliseconds: int, watts: int
) -> None:
    install(*({"pids": each} for each in pids))
    bench.counted(lambda _: (bench.clock.advance((milliseconds - 1) * MS), turns.turn()))
    found = bench.time("call()", number=2, repeat=2, energy=True).energy
    assert found.watts == pytest.approx(watts)
    assert found.per_call == pytest.approx(watts * milliseconds * 1e-3)
    assert (found.calls, found.elapsed) == (500 // milliseconds, pytest.approx(0.5))
    assert 22 <= found.rises <= 24


def test_samples_are_the_same_and_no_driver_is_asked_unless(bench: Bench, install: Any) -> None:
    asked: list[int] = []
    install({"energy": lambda: asked.append(1) or len(asked)})
    bench.counted()
    plain = bench.time("call()", number=2, repeat=3)
    assert (plain.energy, asked) == (None, [])
    assert bench.time("call()", number=2, repeat=3, energy=True).batches == plain.batches
    assert asked


NO_RISE = "the driver's counter did not rise twice in 0.5 s of calls"


@pytest.mark.parametrize(
    ("gpus", "setup", "fails", "reason"),
    [
        ([], None, None,
         "NVIDIA's driver gives no answer (it takes `pip install nvidia-ml-py`, and a GPU)"),
        ([{"energy": None}], None, None, "this GPU does not count it"),
        ([{"mig": [1, 1]}], None, None,
         "MIG cuts the GPU into slices, which the driver counts together"),
        ([{"pids": [ME, 1]}], None, None, "another process uses the GPU too"),
        ([{"pids": [ME, 1, 2]}], None, None, "2 other processes use the GPU too"),
        ([{"pids": [1]}] * 2, None, None,
         "the driver does not say which of 2 GPUs this process uses"),
        ([{"energy": lambda: 5}], None, None, NO_RISE),
        ([{}], None, ValueError("used up"), "a call raised ValueError: used up"),
        ([{}], None, KeyboardInterrupt(), "interrupted"),
        ([{}], "xs = [1]", None, "what runs before each call would be counted too"),
    ],
)  # fmt: skip
def test_why_it_is_unknown_is_one_line_and_leaves_the_samples(
    bench: Bench, install: Any, gpus: list, setup: str | None, fails: Any, reason: str
) -> None:
    install(*gpus)
    bench.counted(failing(40 if fails else 0, fails))
    if reason == "interrupted":
        m = bench.interrupted("call()", number=10, repeat=2, energy=True)
    else:
        m = bench.time("call()", setup, number=10, repeat=2, energy=True)
    assert (m.energy, m.repeat) == (Energy(reason=reason), 2)
    assert rows(m)["energy"] == f"unknown: {reason}"


@pytest.mark.parametrize(("pids", "loaded", "reason"), [
    ([], "/usr/lib/libc.so.6", "this process uses no GPU"),
    ([1], "/usr/lib/libcudart.so.12", "this process uses no GPU"),
    ([1, ME], "", "another process uses the GPU too"),  # the driver knows better
    ([1], None, ""),  # not told
])  # fmt: skip
def test_what_others_use_of_a_gpu_is_not_that_of_a_process_without_cuda(
    bench: Bench, turns: Turns, install: Any, tmp_path: Path,
    pids: list[int], loaded: str | None, reason: str,
) -> None:  # fmt: skip
    """An empty list of processes may be one that a container does not show."""
    install({"pids": pids})
    (tmp_path / "maps").unlink()
    if loaded is not None:
        (tmp_path / "maps").write_text(loaded)
    bench.counted(lambda _: turns.turn())
    assert bench.time("call()", number=2, repeat=2, energy=True).energy.reason == reason


def test_a_counter_that_stops_to_answer_is_said(bench: Bench, turns: Turns, install: Any) -> None:
    (gpu,) = install({})
    bench.counted(lambda turn: (turns.turn(), turn > 40 and gpu.pop("energy", None)))
    found = bench.time("call()", number=10, repeat=2, energy=True).energy
    assert found == Energy(reason=NO_RISE)


def test_calls_longer_than_the_budget_are_not_made_again(bench: Bench, install: Any) -> None:
    install({})
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
