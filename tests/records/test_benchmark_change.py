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


SLOW, INVALID = measured(1.5, None), Figure(9.0, 0.01, 50, "INVALID")


@pytest.mark.parametrize(
    ("before", "now", "verdicts", "threshold", "is_slower"),
    [
        (measured(1.0), measured(1.3, 1300), "SLOWER", 0.1, True),
        (measured(1.0), measured(1.3, 1300), "SLOWER", 0.3, False),
        # Two ratios that both say slower do not contradict each other.
        (measured(1.0), measured(6.0, 4000), "SLOWER", 0.1, True),
        (measured(1.0), measured(1.5, 1060), None, 0.1, False),  # one of them does not
        (measured(1.0), measured(1.01, 1005), "CAN'T TELL SAME", 0.0, False),
        # On a slower CPU the loop shows it; what waits is not slower where the CPU became faster.
        (measured(1.0), measured(1.5, 1000), "CAN'T TELL SAME", 0.1, False),
        (measured(1.0), measured(1.0, 1500), "CAN'T TELL SAME", 0.1, False),
        (measured(1.0), measured(1.0, 600), "CAN'T TELL SAME SLOWER", 0.1, False),
        # Beside noise the loop decides.
        (measured(1.0, sure=0.6), measured(1.3, 1300, sure=0.6), None, 0.1, True),
        # A loop that other programs slowed down before tells nothing of code that scatters.
        (measured(1.0, sure=1.5), measured(1.02, 4000, sure=1.5), "CAN'T TELL", 0.1, False),
        (measured(1.0), measured(9.0, None, figure=INVALID), "INVALID", 0.0, False),
        # Without a loop the fastest calls have to be slower, too.
        (measured(1.0, None), SLOW, "SLOWER", 0.1, True),
        (measured(1.0, None), dataclasses.replace(SLOW, floor=0.9), None, 0.1, False),
    ],
)  # fmt: skip
def test_it_is_slower_where_both_ratios_say_so(
    before: EntryHead, now: EntryHead, verdicts: str | None, threshold: float, is_slower: bool
) -> None:
    found = change(before, now)
    assert verdicts is None or found.verdict in verdicts
    assert found.is_slower_by(threshold) is is_slower


@pytest.mark.parametrize("other", [{"taken": 0.8}, {"environment": Environment(cpu="B", cpus=2)}])
def test_another_machine_or_busier_programs_leave_it_open(other: dict[str, Any]) -> None:
    found = change(measured(1.0), measured(1.5, 1500, **other))
    assert (found.seeming, found.verdict) == ("SLOWER", "CAN'T TELL")
    assert found.doubt
    assert not found.is_slower_by(0.1)


def test_another_python_runs_another_loop() -> None:
    before = measured(1.0, environment=Environment(python="3.11"))
    assert Baseline.of(before, measured(1.0)).relative is None
