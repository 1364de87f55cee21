"""A diagnosis as labelled lines."""

from dataclasses import replace

import pytest

from ipyjaxbench.graphs import Diagnosis, Fix
from ipyjaxbench.reports import Facts, Headline

PLAIN = Diagnosis("f(x)", "TracerBoolConversionError", "no bool of a tracer", 0, "", "it asks")


def rows(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    headline, facts = diagnosis.report().blocks
    assert isinstance(headline, Headline)
    assert isinstance(facts, Facts)
    assert (headline.title, headline.figure, headline.verdict) == (
        diagnosis.code, "does not trace", "FAILED",
    )  # fmt: skip
    return list(facts.rows)


def test_the_least_that_is_known_is_why() -> None:
    assert rows(PLAIN) == [
        ("because", "it asks"),
        ("error", "TracerBoolConversionError: no bool of a tracer"),
    ]
    assert rows(replace(PLAIN, message=""))[-1] == ("error", "TracerBoolConversionError")
    assert repr(PLAIN) == "<Diagnosis f(x): TracerBoolConversionError>"


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"source": "if x > 0:"}, "7: if x > 0:"),
        ({"source": "if x > 0:", "inside": "g"}, "7 in g: if x > 0:"),
        ({}, "7 (its source is gone)"),
    ],
)
def test_the_line_is_shown_where_it_is_known(facts: dict[str, str], line: str) -> None:
    assert rows(replace(PLAIN, line=7, **facts))[0] == ("line", line)


def test_arguments_that_are_asked_for_are_named() -> None:
    assert rows(replace(PLAIN, blamed=("x", "n"), static=("k", "m")))[1:3] == [
        ("argument", "x, n"),
        ("static", "k, m: asked for before that line; has to be static too"),
    ]


def test_what_was_tried_is_to_be_written_and_what_it_changes_stands_below() -> None:
    tried = (Fix("a", "more memory", "without jit"), Fix("b", "", "without jit"))
    assert rows(replace(PLAIN, fixes=tried, advice="none"))[1:-1] == [
        ("write", "a"),
        ("changes", "more memory"),
        ("write", "b"),
        ("tried", "so written it traces, and gives what the code gives without jit"),
    ]
    for others in ((Fix("a"),), (Fix("a", same="eagerly"), Fix("b"))):
        assert rows(replace(PLAIN, fixes=others))[-2] == ("tried", "so written it traces")
    assert rows(replace(PLAIN, advice="use jnp.where"))[1] == (
        "advice",
        "use jnp.where (not tried)",
    )


def test_what_the_code_raises_without_jit_is_compared() -> None:
    begin = "TracerBoolConversionError: no bool of a tracer, in sixty let"
    assert len(begin) == 60
    error = replace(PLAIN, message=begin.partition(": ")[2] + "ters")
    alike = rows(replace(error, eager=begin + "TERS"))
    assert alike[-1] == ("without jit", "it fails in the same way")
    other = begin[:-1] + "T"
    assert rows(replace(error, eager=other))[-1] == ("without jit", f"it fails too: {other}")


def test_that_not_all_was_tried_is_told() -> None:
    assert rows(replace(PLAIN, stopped=True, tries=12))[-1] == (
        "traced", "12 times, until that took too long",
    )  # fmt: skip
