"""A benchmark is called slower by both of its ratios, on the same machine, or not at all."""

import dataclasses
from typing import Any

import pytest

from ipyjaxbench.records.benchmark_change import Baseline, BenchmarkChange
from ipyjaxbench.records.entry import EntryHead, RelativeTime
from ipyjaxbench.records.environment import Environment
from ipyjaxbench.timing.figure_change import Figure


def measured(
    median: float, steps: float | None = 1000.0, *, sure: float = 0.02, **changes: Any
) -> EntryHead:
    relative = None if steps is None else RelativeTime(steps, steps * 0.99, steps * 1.01, 50)
    entry = EntryHead(
        1, 0.0, "fwbench", "t", "f(x)", Figure(median, sure, 50, "OK"), median * 0.95,
        environment=Environment(cpu="A", cpus=2, python="3.12"), taken=0.1, relative=relative,
    )  # fmt: skip
    return dataclasses.replace(entry, **changes)


def change(before: EntryHead, now: EntryHead) -> BenchmarkChange:
    return BenchmarkChange(now, Baseline.of(before, now))


def test_slower_code_is_slower_by_both() -> None:
    found = change(measured(1.0), measured(1.3, 1300))
    assert found.verdict == "SLOWER"
    assert found.is_slower_by(0.1)
    assert not found.is_slower_by(0.3)


def test_two_ratios_that_both_say_slower_do_not_contradict_each_other() -> None:
    found = change(measured(1.0), measured(6.0, 4000))
    assert (found.doubt, found.verdict) == ("", "SLOWER")
    assert found.is_slower_by(0.1)
    assert not change(measured(1.0), measured(1.5, 1060)).is_slower_by(0.1)  # one of them does not


def test_the_same_code_is_not() -> None:
    found = change(measured(1.0), measured(1.01, 1005))
    assert found.verdict not in ("SLOWER", "FASTER")
    assert not found.is_slower_by(0.0)


def test_on_a_slower_cpu_the_loop_shows_it() -> None:
    found = change(measured(1.0), measured(1.5, 1000))
    assert found.verdict != "SLOWER"
    assert not found.is_slower_by(0.1)


def test_what_waits_is_not_slower_where_the_cpu_became_faster() -> None:
    found = change(measured(1.0), measured(1.0, 1500))
    assert found.verdict != "SLOWER"
    assert not found.is_slower_by(0.1)
    assert change(measured(1.0), measured(1.0, 600)).verdict != "FASTER"


def test_beside_noise_the_loop_decides() -> None:
    noisy = measured(1.3, 1300, sure=0.6)
    assert change(measured(1.0, sure=0.6), noisy).is_slower_by(0.1)


@pytest.mark.parametrize("name", ["taken", "machine"])
def test_another_machine_or_busier_programs_leave_it_open(name: str) -> None:
    slow = measured(1.5, 1500)
    other = {
        "taken": dataclasses.replace(slow, taken=0.8),
        "machine": dataclasses.replace(slow, environment=Environment(cpu="B", cpus=2)),
    }[name]
    found = change(measured(1.0), other)
    assert (found.seeming, found.verdict) == ("SLOWER", "CAN'T TELL")
    assert found.doubt
    assert not found.is_slower_by(0.1)


def test_a_figure_that_is_invalid_is_not_slower() -> None:
    invalid = dataclasses.replace(measured(9.0, None), figure=Figure(9.0, 0.01, 50, "INVALID"))
    found = change(measured(1.0), invalid)
    assert found.verdict == "INVALID"
    assert not found.is_slower_by(0.0)


def test_without_a_loop_the_fastest_calls_have_to_be_slower_too() -> None:
    before = measured(1.0, None)
    slow = measured(1.5, None)
    assert change(before, slow).is_slower_by(0.1)
    assert not change(before, dataclasses.replace(slow, floor=0.9)).is_slower_by(0.1)


def test_another_python_runs_another_loop() -> None:
    before = dataclasses.replace(measured(1.0), environment=Environment(python="3.11"))
    assert Baseline.of(before, measured(1.0)).relative is None
