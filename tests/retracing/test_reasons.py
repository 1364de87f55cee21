"""Reasons of calls, grouped."""

from dataclasses import replace

import pytest

from ipyjaxbench.retracing import Change, TracedCall
from ipyjaxbench.retracing.reasons import Reason, group_reasons

CALL = TracedCall("f", "jax", 1, "f(x)", 1, 1, "TRACED", 1.0)
FIRST = Change("first", new="first call")


def of(*why: Change, name: str = "f", seconds: float = 1.0, state: str = "TRACED") -> TracedCall:
    return replace(CALL, why=why, name=name, seconds=seconds, state=state)


def shape(old: int, new: int, path: str = "x") -> Change:
    return Change("shape", path, f"f32[{old}]", f"f32[{new}]")


def words(*calls: TracedCall) -> list[str]:
    return [reason.words for reason in group_reasons(calls)]


def test_calls_share_a_reason_where_the_same_argument_changed() -> None:
    calls = of(FIRST), of(shape(3, 4)), of(shape(4, 5), state="RECOMPILED"), of(state="CACHED")
    assert group_reasons(calls) == [
        Reason("x: 3 shapes (f32[3], f32[4], f32[5])", "f", 2, 2.0),
        Reason("first call", "f", 1, 1.0),
    ]
    (reason,) = group_reasons(of(FIRST, name=name) for name in "fgfhi")
    assert reason == Reason("first call", "f, g, h and 1 more", 5, 5.0)
    assert len(words(of(shape(3, 4)), of(shape(4, 5), name="g"))) == 2
    assert len(words(of(shape(3, 4)), of(shape(4, 5), shape(4, 5, "y")))) == 2
    # The most expensive reason is the first.
    assert words(of(FIRST), of(shape(3, 4), seconds=2.0))[1] == "first call"


FORMS = ("omitted", "passed positionally", "passed by keyword")
NUMBERS = [Change("number", "n", str(n), str(n + 1)) for n in range(4)]


@pytest.mark.parametrize(
    ("calls", "shown"),
    [
        ([of(shape(3, 4)), of(shape(3, 4, "y"))],
         ["x: f32[3] → f32[4] (shape)", "y: f32[3] → f32[4] (shape)"]),
        # Two values stand as the first call has them.
        ([of(shape(3, 4)), of(shape(4, 3))], ["x: f32[3] → f32[4] (shape)"]),
        ([of(Change("form", "n", *FORMS[:2])), of(Change("form", "n", *FORMS[1:]))],
         ["n was omitted, is now passed positionally"]),
        # Of many values the first are named, and of many arguments.
        ([*map(of, NUMBERS)], ["n: 5 static values (0, 1, 2, …)"]),
        ([of(shape(n, n + 1), shape(n, n + 1, "y")) for n in (1, 2)],
         ["x: 3 shapes (f32[1], f32[2], f32[3]); y: 3 shapes (f32[1], f32[2], f32[3])"]),
        ([of(*(shape(3, 4, path) for path in "abcde"))],
         ["; ".join(f"{path}: f32[3] → f32[4] (shape)" for path in "abc") + "; 2 more"]),
        # Where ours is not known the framework's reason stands.
        ([replace(CALL, says="x changed")], ["jax: x changed"]),
        ([CALL, CALL], ["unknown"]),
    ],
)  # fmt: skip
def test_a_reason_in_words(calls: list[TracedCall], shown: list[str]) -> None:
    assert words(*calls) == shown
