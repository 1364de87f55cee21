"""The verdict on a loop follows from the parts of its steady steps."""

import dataclasses
from typing import Any

import pytest

from ipyjaxbench.steps import LineTime, LoopTimes, StepTime
from ipyjaxbench.steps.bottleneck import VERDICT_MEANINGS

MS = 1e-3


def loop(
    data: float = 0, host: float = 0, call: float = 0, device: float = 0, rest: float = 0,
    waits: int = 0, **facts: Any,
) -> LoopTimes:  # fmt: skip
    """Twenty steps alike, in milliseconds; a line waits in so many of them."""
    step = StepTime(data * MS, host * MS, call * MS, device * MS, rest * MS)
    lines = (
        LineTime(1, "for x in it:", "data", data * MS * 18),
        LineTime(
            2, "y = step(x)", "call" if call else "host", (call or host) * MS * 18, 0.0, 0, "jax"
        ),
        LineTime(3, "loss = float(y)", "rest", rest * MS * 18, device * MS * 18, waits),
    )
    return LoopTimes("for x in it: ...", 1, (step,) * 20, lines, **facts)


def waiting_first(data: float, device: float, rest: float) -> LoopTimes:
    """A copy above the step's work waits for the work of the step before."""
    times = loop(data=data, device=device, rest=rest)
    copy = LineTime(2, "x = x.to(device)", "host", 0, device * MS * 18, 20, "torch")
    work = LineTime(3, "y = step(x)", "host", 0, 0, 0, "torch")
    return dataclasses.replace(times, lines=(times.lines[0], copy, work, times.lines[2]))


@pytest.mark.parametrize(
    ("times", "verdict", "line"),
    [
        (loop(data=6, host=1, device=2, waits=20), "DATA-BOUND", 1),
        (loop(data=1, host=6, device=2, waits=20), "HOST-BOUND", 2),
        (loop(data=1, host=1, rest=6), "HOST-BOUND", 3),
        (loop(data=2, host=2, device=6, waits=20), "SYNC-BOUND", 3),
        (loop(data=3, host=3, device=3, waits=20), "SYNC-BOUND", 3),
        # Next to nothing would be saved if the value were read later.
        (loop(data=0.2, host=0.2, device=6, waits=20), "DEVICE-BOUND", 2),
        # It is read in few steps.
        (loop(data=2, host=2, device=6, waits=2), "DEVICE-BOUND", 2),
        # The device has work for two more steps when the loop is over.
        (loop(data=4, host=2, backlog=12 * MS), "DEVICE-BOUND", 2),
        (loop(data=4, host=2, backlog=3 * MS), "DATA-BOUND", 1),
        (waiting_first(data=1.2, device=0.7, rest=3.2), "DEVICE-BOUND", 3),
        # The device was done long before: asking it takes a moment.
        (waiting_first(data=1.2, device=0.01, rest=3.2), "HOST-BOUND", 3),
        (loop(data=1, call=6), "CALL-BOUND", 2),
        (loop(data=3, host=3), "BALANCED", None),
        (loop(data=3, call=3.2), "BALANCED", None),
        (loop(data=1, call=6, draws_inside=True), "?", None),
        (loop(rest=6, call=1, draws_inside=True), "HOST-BOUND", 3),
        (dataclasses.replace(loop(data=5), steps=loop(data=5).steps[:4]), "FEW", None),
        (dataclasses.replace(loop(data=5), steps=()), "FEW", None),
    ],
)
def test_the_verdict_names_the_largest_part_and_its_line(
    times: LoopTimes, verdict: str, line: int | None
) -> None:
    found = times.bottleneck
    assert (found.verdict, found.line and found.line.line) == (verdict, line)
    assert found.verdict in VERDICT_MEANINGS
    assert times.verdict == verdict


def test_the_first_and_the_last_step_are_apart_and_so_are_those_that_compile() -> None:
    times = loop(data=1, host=1)
    slow = StepTime(0, 9, 0, 0, 0)
    compiled = dataclasses.replace(slow, compiled=True)
    half = dataclasses.replace(slow, complete=False)
    mixed = dataclasses.replace(times, steps=(slow, compiled, *times.steps, half))
    assert mixed.parts == pytest.approx(times.parts)
    assert (mixed.count, times.count) == (22, 20)


def test_shares_add_up_and_the_backlog_is_the_devices() -> None:
    times = loop(data=1, host=1, backlog=20 * 2 * MS)
    assert times.shares == pytest.approx(
        {"data": 0.25, "host": 0.25, "call": 0, "device": 0.5, "rest": 0}
    )
    assert loop().shares == {}
