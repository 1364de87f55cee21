"""What the report of a loop reads like."""

import dataclasses

from ipyjaxbench.reports import Note
from ipyjaxbench.steps import LineTime, LoopTimes, StepTime

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


def test_a_table_has_a_row_for_each_step() -> None:
    table = LOOP.to_pandas()
    assert LoopTimes.from_dict(LOOP.to_dict()) == LOOP
    assert len(table) == 12
    assert round(table["total_s"].iloc[1], 9) == 0.01
    assert repr(LOOP) == "<LoopTimes 12 steps, SYNC-BOUND>"
