"""What is advised where arms cannot be told apart."""

import re
from typing import Any

import pytest

from ipyjaxbench.comparison.options import CompareOptions
from ipyjaxbench.comparison.undecided import note_undecided
from ipyjaxbench.reports import Note
from tests.comparison.made import MS, UNSURE, arm, compared, noted, sampled

UNSURE_B = sampled("b", UNSURE)


@pytest.mark.parametrize(("elapsed", "asked", "advice"), [
    (0.1, {}, r"budget=30 for an answer"),
    (12.0, {}, r"budget=3584 for an answer \(about 59 min 44 s\)"),
    (12.1, {}, r"run it again when the machine is quieter"),
    (0.1, {"repeat": len(UNSURE)}, r"repeat=\d+ for an answer \(about 30 s\)"),
])  # fmt: skip
def test_how_long_an_answer_would_take_is_told(
    elapsed: float, asked: dict[str, int], advice: str
) -> None:
    told = note_undecided(
        compared(arm("a", MS, step=0), UNSURE_B, elapsed=elapsed), CompareOptions(**asked)
    )
    assert told.verdict("b") == "CAN'T TELL"
    (note,) = noted(told)
    assert re.fullmatch(advice, note.advice)
    assert note.text.startswith("b: undecided after ")
    assert told.choose({"b": "x.b", "a": "x.a"}, "x.a").notes == ()
    decided = compared(arm("a", MS), arm("b", 2 * MS), elapsed=elapsed)
    assert note_undecided(decided, CompareOptions(**asked)) is decided
    few = compared(sampled("a", [MS] * 7), sampled("b", [2 * MS] * 7))
    (note,) = note_undecided(few, CompareOptions(repeat=7)).notes
    assert (note.code, note.advice) == ("few-samples", "repeat=20")


def test_more_time_is_no_advice_where_an_arm_is_not_the_time_of_the_work() -> None:
    invalid = {"notes": (Note("lazy", "The value is a generator."),)}
    base = compared(arm("a", MS, step=0, **invalid), UNSURE_B, elapsed=0.1)
    other = compared(arm("a", MS, step=0), sampled("b", UNSURE, **invalid), elapsed=0.1)
    assert (base.verdict("b"), other.verdict("b")) == ("CAN'T TELL", "INVALID")
    for each in (base, other):
        assert note_undecided(each, CompareOptions()) is each


@pytest.mark.parametrize(
    ("elapsed", "asked", "advice"),
    [(0.1, {"budget": 10.0}, "budget=30 for an answer"), (0.1, {"budget": 30.0}, ""),
     (0.1, {"repeat": 20_000}, "")],
)  # fmt: skip
def test_what_was_asked_for_is_no_advice(
    elapsed: float, asked: dict[str, Any], advice: str
) -> None:
    """A run may have been ended before its time."""
    one = compared(arm("a", MS, step=0), UNSURE_B, elapsed=elapsed)
    few = compared(sampled("a", [MS] * 7), sampled("b", [2 * MS] * 7), elapsed=elapsed)
    (note,) = note_undecided(one, CompareOptions(**asked)).notes
    assert note.advice == advice
    (note,) = note_undecided(few, CompareOptions(**asked)).notes
    assert note.advice == ""
