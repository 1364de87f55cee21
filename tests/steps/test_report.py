"""The verdict on a loop follows from the parts of its steady steps, and the report says so."""

import dataclasses
from typing import Any

import pytest

from ipyjaxbench.reports import Note
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


@pytest.mark.parametrize(("times", "verdict", "line"), [
    (loop(data=6, host=1, device=2, waits=20), "DATA-BOUND", 1),
    (loop(data=1, host=6, device=2, waits=20), "HOST-BOUND", 2),
    (loop(data=1, host=1, rest=6), "HOST-BOUND", 3),
    (loop(data=2, host=2, device=6, waits=20), "SYNC-BOUND", 3),
    (loop(data=3, host=3, device=3, waits=20), "SYNC-BOUND", 3),
    # Next to nothing would be saved if the value were read later, or it is read in few steps.
    (loop(data=0.2, host=0.2, device=6, waits=20), "DEVICE-BOUND", 2),
    (loop(data=2, host=2, device=6, waits=2), "DEVICE-BOUND", 2),
    # The device has work for two more steps when the loop is over.
    (loop(data=4, host=2, backlog=12 * MS), "DEVICE-BOUND", 2),
    (loop(data=4, host=2, backlog=3 * MS), "DATA-BOUND", 1),
    (waiting_first(data=1.2, device=0.7, rest=3.2), "DEVICE-BOUND", 3),
    # The device was done long before: asking it takes a moment.
    (waiting_first(data=1.2, device=0.01, rest=3.2), "HOST-BOUND", 3),
    (loop(data=1, call=6), "CALL-BOUND", 2), (loop(data=3, host=3), "BALANCED", None),
    (loop(data=3, call=3.2), "BALANCED", None),
    (loop(data=1, call=6, draws_inside=True), "?", None),
    (loop(rest=6, call=1, draws_inside=True), "HOST-BOUND", 3),
    # It was stopped, and devices may have been behind; after many steps that would show.
    (loop(data=5, was_stopped=True), "?", None),
    (loop(data=2, host=2, device=6, waits=20, was_stopped=True), "SYNC-BOUND", 3),
    (dataclasses.replace(loop(data=5), steps=loop(data=5).steps * 2, was_stopped=True),
     "DATA-BOUND", 1),
    (dataclasses.replace(loop(data=5), steps=loop(data=5).steps[:4]), "FEW", None),
    (dataclasses.replace(loop(data=5), steps=()), "FEW", None),
])  # fmt: skip
def test_the_verdict_names_a_line(times: LoopTimes, verdict: str, line: int | None) -> None:
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


STEP = StepTime(0.002, 0.001, 0.0, 0.006, 0.001)
LOOP = LoopTimes(
    "for x in data:\n    y = step(x)\n    print(y)",
    2,
    (StepTime(0.01, 0.9, 0.0, 0.0, 0.0, compiled=True), *[STEP] * 10, STEP),
    (
        LineTime(2, "for x in data:", "data", 0.02),
        LineTime(3, "y = step(x)", "host", 0.01, 0.0, 0, "jax"),
        LineTime(4, "print(y)", "rest", 0.01, 0.06, 11),
    ),
    frameworks={"jax": "0.10.2"},
    notes=(Note("loop-stopped", "Interrupted after 12 whole steps: these are measured."),),
)
SHOWN = (
    "            10.0 ms   per step, mean of 10 steady steps             ▲ SYNC-BOUND",
    "            ▓ data 2.0 ms · ▒ host 1.0 ms · ░ device 6.0 ms · ▚ rest 1.0 ms",
    "3     host    1.00 ms   10.0 %  y = step(x)",
    "4     device  6.00 ms   60.0 %  print(y)",
    "device      60.0 %, 6.00 ms: waiting for the device",
    "            40.0 % of a step.",  # that can be saved
    "first step  910 ms (host 900 ms), compiled something",
    "last step   10.0 ms (data 2.0 ms, host 1.0 ms, device 6.0 ms, rest 1.0 ms)",
    "·  Interrupted after 12 whole steps: these are measured.",
)


def test_the_report_says_where_a_step_spends_its_time() -> None:
    lines = [line.rstrip() for line in str(LOOP).splitlines()]
    assert [line for line in lines if line in SHOWN] == [*SHOWN]


def test_only_some_steps_that_wait_for_data_are_told() -> None:
    slow = dataclasses.replace(STEP, data=0.02)
    times = dataclasses.replace(LOOP, steps=(STEP, *[STEP, STEP, STEP, slow] * 6, STEP))
    assert "uneven      6 steps of 24 wait 20.0 ms for data, the others 2.00 ms" in str(times)
    assert "uneven" not in str(LOOP)


@pytest.mark.parametrize(("text", "said"), [
    ("y = step(x)", "line 3 takes the most. See inside:  %fwtime --ops y = step(x)"),
    ("y = step(", "line 3 takes the most: y = step("),
    ("for y in step(x):", "line 3 takes the most: for y in step(x):"),
])  # fmt: skip
def test_what_looks_inside_can_be_typed(text: str, said: str) -> None:
    held = LineTime(3, text, "host", 0.0)  # as what an `if` of one line holds
    times = dataclasses.replace(
        LOOP,
        steps=(StepTime(0, 0, 0.01, 0.001, 0),) * 9,
        lines=(LineTime(3, text, "call", 0.01), held),
    )
    assert f"change      {said}" in str(times)
    assert str(times).count("3     ") == 1


def test_a_table_has_a_row_for_each_step() -> None:
    table = LOOP.to_pandas()
    assert LoopTimes.from_dict(LOOP.to_dict()) == LOOP
    assert len(table) == 12
    assert round(table["total_s"].iloc[1], 9) == 0.01
    assert repr(LOOP) == "<LoopTimes 12 steps, SYNC-BOUND>"
