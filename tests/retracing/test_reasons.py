"""Reasons of calls, grouped."""

from dataclasses import replace

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
    assert words(of(shape(3, 4)), of(shape(3, 4, "y"))) == [
        "x: f32[3] → f32[4] (shape)", "y: f32[3] → f32[4] (shape)",
    ]  # fmt: skip
    assert len(words(of(shape(3, 4)), of(shape(4, 5), name="g"))) == 2
    assert len(words(of(shape(3, 4)), of(shape(4, 5), shape(4, 5, "y")))) == 2


def test_two_values_stand_as_the_first_call_has_them() -> None:
    assert words(of(shape(3, 4)), of(shape(4, 3))) == ["x: f32[3] → f32[4] (shape)"]
    omitted = Change("form", "n", "omitted", "passed positionally")
    named = Change("form", "n", "passed positionally", "passed by keyword")
    assert words(of(omitted), of(named)) == ["n was omitted, is now passed positionally"]


def test_of_many_values_the_first_are_named() -> None:
    values = [of(Change("number", "n", str(n), str(n + 1))) for n in range(4)]
    assert words(*values) == ["n: 5 static values (0, 1, 2, …)"]
    both = [of(shape(n, n + 1), shape(n, n + 1, "y")) for n in (1, 2)]
    assert words(*both) == [
        "x: 3 shapes (f32[1], f32[2], f32[3]); y: 3 shapes (f32[1], f32[2], f32[3])"
    ]


def test_of_many_arguments_the_first_are_named() -> None:
    many = of(*(shape(3, 4, path) for path in "abcde"))
    assert words(many)[0].endswith("c: f32[3] → f32[4] (shape); 2 more")


def test_first_calls_of_functions_are_one_reason() -> None:
    (reason,) = group_reasons(of(FIRST, name=name) for name in "fgfhi")
    assert reason == Reason("first call", "f, g, h and 1 more", 5, 5.0)


def test_the_most_expensive_reason_is_the_first() -> None:
    assert words(of(FIRST), of(shape(3, 4), seconds=2.0))[1] == "first call"


def test_where_ours_is_not_known_the_frameworks_reason_stands() -> None:
    assert words(replace(CALL, says="x changed")) == ["jax: x changed"]
    assert words(CALL, CALL) == ["unknown"]
