"""``if`` as a function of arrays."""

import ast

import pytest

from ipyjaxbench.adapters.shared.diagnosis.choice import Choice, Logic
from tests.adapters.shared.code import applied, site_of

IN_EXPRESSIONS, OF_RETURNS, OF_ASSIGNMENTS = Choice(
    "where", Logic("m", operators=True).condition
).rules


@pytest.mark.parametrize(("test", "new", "without_operators"), [
    ("a and b", "m.logical_and(a, b)", "m.logical_and(a, b)"),
    ("a or b or c", "m.logical_or(m.logical_or(a, b), c)", "m.logical_or(m.logical_or(a, b), c)"),
    ("a > 0 and b > 0", "(a > 0) & (b > 0)", "m.logical_and(a > 0, b > 0)"),
    ("a > 0 or b > 0", "(a > 0) | (b > 0)", "m.logical_or(a > 0, b > 0)"),
    ("a > 0 and b", "m.logical_and(a > 0, b)", "m.logical_and(a > 0, b)"),
    ("a in b and b > 0", "m.logical_and(a in b, b > 0)", "m.logical_and(a in b, b > 0)"),
    ("not a", "m.logical_not(a)", "m.logical_not(a)"),
    ("not a > 0", "~(a > 0)", "m.logical_not(a > 0)"),
    ("not a > 0 and b > 0", "~(a > 0) & (b > 0)", "m.logical_and(m.logical_not(a > 0), b > 0)"),
    ("0 < a < b", "(0 < a) & (a < b)", "m.logical_and(0 < a, a < b)"),
    ("a > 0 and b > 0 and c > 0", "(a > 0) & (b > 0) & (c > 0)",
     "m.logical_and(m.logical_and(a > 0, b > 0), c > 0)"),
    ("a", "a", "a"),
])  # fmt: skip
def test_a_test_becomes_one_expression_of_arrays(
    test: str, new: str, without_operators: str
) -> None:
    node = ast.parse(test, mode="eval").body
    assert ast.unparse(Logic("m", operators=True).condition(node)) == new
    assert ast.unparse(Logic("m", operators=False).condition(node)) == without_operators


def test_expressions_choose() -> None:
    new = ["return where(x > 0, y, where(n, 1, 2))",
           "return y if x > 0 else where(n, 1, 2)"]  # fmt: skip
    assert applied(IN_EXPRESSIONS, "return y if x > 0 else (1 if n else 2)")[:2] == new
    assert applied(IN_EXPRESSIONS, "return y") == []


@pytest.mark.parametrize(("lines", "new", "count"), [
    (["if x:", "    return y", "return n"], "return where(x, y, n)", 2),
    (["if x:", "    return y", "else:", "    return n", "y = 1"], "return where(x, y, n)", 1),
    (["if x:", "    return y", "elif y:", "    return x", "return n"],
     "return where(x, y, where(y, x, n))", 2),
])  # fmt: skip
def test_returns_choose(lines: list[str], new: str, count: int) -> None:
    assert applied(OF_RETURNS, *lines) == [new]
    assert [edit.count for edit in OF_RETURNS(site_of(*lines))] == [count]


def test_returns_that_are_no_plain_values_stay() -> None:
    assert applied(OF_RETURNS, "if x:", "    return", "return n") == []
    assert applied(OF_RETURNS, "if x:", "    y = 1", "    return y", "return n") == []
    assert applied(OF_RETURNS, "if x:", "    return y") == []
    assert applied(OF_RETURNS, "return y") == []


@pytest.mark.parametrize(("lines", "new"), [
    (["if x:", "    y = n"], "y = where(x, n, y)"),
    (["if x:", "    y = 1", "else:", "    n = 2"], "y, n = (where(x, 1, y), where(x, n, 2))"),
    (["if x:", "    y = 1", "elif n:", "    y = 2"], "y = where(x, 1, where(n, 2, y))"),
])  # fmt: skip
def test_assignments_choose(lines: list[str], new: str) -> None:
    assert applied(OF_ASSIGNMENTS, *lines) == [new]


def test_branches_that_do_more_than_assign_stay() -> None:
    assert applied(OF_ASSIGNMENTS, "if x:", "    f(y)") == []
    assert applied(OF_ASSIGNMENTS, "if x:", "    y = 1", "else:", "    f(y)") == []
    assert applied(OF_ASSIGNMENTS, "y = n") == []
