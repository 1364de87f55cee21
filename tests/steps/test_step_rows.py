"""Moments become rows of steps: each nanosecond belongs to one place."""

import pytest

from ipyjaxbench.steps.step_rows import (
    AWAKE,
    BODY,
    COMPILED,
    DRAW,
    DRAWN,
    MARGIN,
    MOST_ROWS,
    NEXT,
    OVER,
    WAIT,
    Row,
    StepRows,
    pack,
)
from ipyjaxbench.steps.step_times import queue_waits

HEADER = 9


def noted(*moments: tuple[int, int]) -> StepRows:
    """Rows of places and nanoseconds; the loop's own line is site 9."""
    rows = StepRows(HEADER)
    rows.add([pack(place, at) for place, at in moments])
    return rows


def test_each_nanosecond_of_a_step_belongs_to_one_place() -> None:
    found = noted((NEXT, 0), (BODY, 5), (0, 7), (1, 10), (NEXT, 11), (BODY, 21), (0, 22),
                  (NEXT, 22), (OVER, 30))  # fmt: skip
    first, second = found.rows
    assert (first.data, first.busy) == (5, {0: 2, 1: 3, HEADER: 1})
    assert (second.data, second.busy) == (10, {0: 1, HEADER: 0})
    assert first.complete
    assert second.complete
    assert found.runs == 1
    both = (NEXT, 31), (BODY, 32), (NEXT, 33), (OVER, 34), (OVER, 35)  # with an `else`
    found.add([pack(place, at) for place, at in both])
    assert found.runs == 2


@pytest.mark.parametrize(("moments", "data", "busy", "waits"), [
    ([(BODY, 0), (WAIT, 3), (AWAKE, 8), (0, 10), (NEXT, 10)], 0, 5, {0: 5}),
    # A batch that is drawn in a statement is data, and so are the waits in it.
    ([(BODY, 1), (DRAW, 2), (WAIT, 3), (AWAKE, 6), (DRAWN, 7), (0, 10), (NEXT, 10)], 6, 4, {}),
    ([(WAIT, 2), (AWAKE, 4), (BODY, 5), (0, 6), (NEXT, 6)], 5, 1, {}),  # the loader's own
])  # fmt: skip
def test_a_wait_is_no_part_of_what_its_statement_is_busy_for(
    moments: list[tuple[int, int]], data: int, busy: int, waits: dict[int, int]
) -> None:
    (row,) = noted((NEXT, 0), *moments).rows
    assert (row.data, row.busy[0], row.waits) == (data, busy, waits)
    # What is looked at between two statements belongs to none.
    (row,) = noted((NEXT, 0), (BODY, 1), (0, 3), (MARGIN, 100), (1, 104), (NEXT, 104)).rows
    assert row.total == 1 + 2 + 4


def test_a_step_that_does_not_come_to_its_end_is_told_apart() -> None:
    whole, half = noted((NEXT, 0), (BODY, 1), (0, 2), (NEXT, 2), (BODY, 3), (OVER, 7)).rows
    assert whole.complete
    assert not half.complete
    assert half.busy == {HEADER: 4}


def test_compilations_and_waits_belong_to_the_step_that_is_just_over() -> None:
    step = [(BODY, 0), (WAIT, 0), (AWAKE, 2), (0, 2), (NEXT, 2)]
    found = noted((NEXT, 0), *step, (COMPILED, 2), *step, *step[:-1], (OVER, 2))
    assert [row.compiled for row in found.rows] == [True, False, False]
    assert found.waiting_steps == {0: 2}  # of complete steps


@pytest.mark.parametrize(
    ("took", "is_behind", "usual"),
    [
        ([90, *[2] * 30, *[50] * 9], None, {0: 2}),  # the queue is full from there on
        ([90, *[2] * 30, *[50] * 9], False, {}),
        ([90, *[2] * 30, *[5] * 9], None, {}),
        ([90, *[2] * 30, *[5] * 9], True, {0: 2}),
        ([90, 2, 50, *[2] * 9], None, {}),
        ([90], None, {}),
    ],
)
def test_a_statement_that_takes_longer_when_the_queue_is_full_waits_for_room(
    took: list[int], is_behind: bool | None, usual: dict[int, float]
) -> None:
    assert queue_waits([0], [Row(busy={0: n}) for n in took], is_behind=is_behind) == usual


def test_very_many_steps_share_rows_and_lose_nothing() -> None:
    steps = 5 * MOST_ROWS
    moments = [(NEXT, 0)]
    for number in range(steps):
        at = 10 * number
        moments += [(BODY, at + 3), (0, at + 10), (NEXT, at + 10)]
    rows = noted(*moments).rows
    assert len(rows) <= MOST_ROWS
    assert sum(row.steps for row in rows) == steps
    assert sum(row.data for row in rows) == 3 * steps
    assert sum(row.busy[0] for row in rows) == 7 * steps
    assert {row.steps for row in rows[:64]} == {1}
