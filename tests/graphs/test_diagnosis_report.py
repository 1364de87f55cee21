"""A diagnosis as a reason, a diff, and details."""

from dataclasses import replace
from typing import Any

import pytest

from ipyjaxbench.graphs import Diagnosis, Fix
from ipyjaxbench.reports import Code, Details, Facts, Headline

PLAIN = Diagnosis("f(x)", "TracerBoolConversionError", "no bool of a tracer", 0, "", "It asks.")


def rows(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    """All labelled lines."""
    headline, *blocks = diagnosis.report().blocks
    assert isinstance(headline, Headline)
    assert (headline.title, headline.figure, headline.verdict) == (
        diagnosis.code, "does not trace", "FAILED",
    )  # fmt: skip
    shown = [inner for block in blocks for inner in getattr(block, "blocks", (block,))]
    return [row for block in shown if isinstance(block, Facts) for row in block.rows]


def diffs(*fixes: Fix) -> list[str]:
    blocks = replace(PLAIN, fixes=fixes).report().blocks
    shown = [inner for block in blocks for inner in getattr(block, "blocks", (block,))]
    codes = [block for block in shown if isinstance(block, Code)]
    assert all(code.language == "diff" for code in codes)
    return [code.text for code in codes]


def test_the_least_that_is_known_is_why() -> None:
    assert rows(PLAIN) == [
        ("why", "It asks."),
        ("error", "TracerBoolConversionError: no bool of a tracer"),
    ]
    assert rows(replace(PLAIN, message=""))[-1] == ("error", "TracerBoolConversionError")
    assert repr(PLAIN) == "<Diagnosis f(x): TracerBoolConversionError>"


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({"line": 7, "source": "if x > 0:"}, [("line", "7: if x > 0:")]),
        ({"line": 7, "source": "if x:", "inside": "g"}, [("line", "7 in g: if x:")]),
        ({"line": 7}, [("line", "7: (source not available)")]),
        ({"blamed": ("x", "n"), "static": ("k", "m")},
         [("arguments", "x, n"),
          ("static", "k, m must be static too: their values are needed before that line")]),
        ({"blamed": ("x",), "static": ("k",)},
         [("argument", "x"),
          ("static", "k must be static too: its value is needed before that line")]),
        ({"stopped": True, "tries": 12},
         [("traced", "12 times, then stopped: it took too long")]),
    ],
)  # fmt: skip
def test_what_is_known_has_a_line_each(facts: dict[str, Any], shown: list[tuple[str, str]]) -> None:
    assert rows(replace(PLAIN, **facts))[2:] == shown


def test_a_fix_is_a_diff_with_what_was_verified_behind_it() -> None:
    new = "return jnp.where(x < 0, x, 0)"
    assert diffs(Fix(new, replaces="return x[x < 0]"), Fix(new, same="without jit")) == [
        f"- return x[x < 0]\n+ {new}   ✓ traces",
        f"+ {new}   ✓ traces, same values",
    ]
    several = Fix("y = 1\nreturn y", replaces="if x:\n    return 1")
    assert diffs(several) == ["- if x:\n-     return 1\n+ y = 1\n+ return y   ✓ traces"]
    assert diffs(Fix("x" * 63)) == [f"+ {'x' * 63}   ✓ traces"]
    assert diffs(Fix("x" * 64)) == [f"+ {'x' * 64}\n  ✓ traces"]  # below a long line


def test_what_a_fix_changes_stands_below_it_and_advice_where_there_is_none() -> None:
    fixes = (Fix("a", "more memory", "without jit"), Fix("b", "", "without jit"))
    blocks = replace(PLAIN, fixes=fixes, advice="none").report().blocks
    kinds = [type(block).__name__ for block in blocks]
    assert kinds == ["Headline", "Facts", "Code", "Facts", "Details", "Details"]
    assert [block.summary for block in blocks if isinstance(block, Details)] == [
        "1 other fix",
        "error",
    ]
    assert rows(replace(PLAIN, fixes=fixes, advice="none"))[1:-1] == [("but", "more memory")]
    assert rows(replace(PLAIN, advice="Use jnp.where."))[1] == (
        "advice",
        "Use jnp.where. (not verified)",
    )


def test_the_error_is_folded_where_a_fix_or_advice_says_more() -> None:
    known = replace(PLAIN, line=7, blamed=("x",))
    last = replace(known, advice="Use jnp.where.").report().blocks[-1]
    assert isinstance(last, Details)
    assert last.summary == "line, argument and error"
    last = known.report().blocks[-1]
    assert isinstance(last, Details)
    assert last.summary == "line and argument"
    assert [type(block).__name__ for block in PLAIN.report().blocks] == ["Headline", "Facts"]


def test_what_the_code_raises_without_jit_is_compared() -> None:
    begin = "TracerBoolConversionError: no bool of a tracer, in sixty let"
    assert len(begin) == 60
    error = replace(PLAIN, message=begin.partition(": ")[2] + "ters")
    alike = rows(replace(error, eager=begin + "TERS"))
    assert alike[-1] == ("without jit", "fails the same way")
    other = begin[:-1] + "T"
    assert rows(replace(error, eager=other))[-1] == ("without jit", f"fails too: {other}")
