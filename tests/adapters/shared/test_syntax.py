"""Syntax trees that are copied, made and asked, and ``if`` as a function of arrays."""

import ast

import pytest

from ipyjaxbench.adapters.shared.diagnosis import syntax
from ipyjaxbench.adapters.shared.diagnosis.choice import Choice, Logic
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Rule
from tests.adapters.shared.code import applied, site_of


def body(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def test_new_nodes_take_old_lines() -> None:
    added = ast.parse("\n\nx + y", mode="eval").body
    around = ast.Expr(ast.BinOp(added, ast.Add(), ast.Constant(1)))
    syntax.set_lines(around, 2)
    assert (around.lineno, around.end_lineno, added.lineno) == (2, 3, 3)
    assert (around.value.right.lineno, around.col_offset) == (2, 0)
    (decorated,), (plain,) = body("\n@a\n@b\ndef f(): pass"), body("\ndef f(): pass")
    assert (syntax.first_line(decorated), syntax.first_line(plain)) == (2, 2)


@pytest.mark.parametrize(("text", "values"), [
    ("a = x\nb = y", {"a": "x", "b": "y"}),
    ("a: int = x", {"a": "x"}),
    ("a += x", {"a": "a + x"}),
    ("a, b = x, y", {"a": "x", "b": "y"}),
    ("a, b = x", None),
    ("a, a = x, y", None),
    ("a = x\nb = a", None),
    ("a = x\na = y", None),
    ("a = x\nf(y)", None),
    ("a.b = x", None),
    ("a: int", None),
])  # fmt: skip
def test_values_are_known_where_statements_only_assign(
    text: str, values: dict[str, str] | None
) -> None:
    known = syntax.values_assigned(body(text))
    assert values == (known and {name: ast.unparse(value) for name, value in known.items()})


def test_names_are_read_and_bound() -> None:
    statements = body("b = a\nc += d.e\nfor a in f(g): pass\nb = 1")
    assert syntax.names_bound(statements) == ["b", "c", "a"]
    assert {n for each in statements for n in syntax.names_read(each)} == {*"acdfg"}


@pytest.mark.parametrize(("text", "straight"), [
    ("a = x", True), ("if x:\n    a = y", True), ("for i in x:\n    break", False),
    ("return", False), ("if x:\n    raise y", False), ("def f(): pass", False),
])  # fmt: skip
def test_statements_that_leave_are_not_straight(text: str, *, straight: bool) -> None:
    assert syntax.is_straight(body(text)) is straight


def test_definitions_and_assignments_compile() -> None:
    made = [
        syntax.function("f", ["a", "b"], [ast.Return(syntax.names_or_tuple(["b", "a"]))]),
        syntax.assignment(["x", "y"], syntax.call("f", ast.Constant(1), b=ast.Constant(2))),
        syntax.assignment(["z"], syntax.names_or_tuple(["x"])),
    ]
    names: dict[str, object] = {}
    exec(compile(ast.fix_missing_locations(ast.Module(made, [])), "", "exec"), names)
    assert (names["x"], names["y"], names["z"]) == (2, 1, 2)


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


@pytest.mark.parametrize(("rule", "lines", "new"), [
    (IN_EXPRESSIONS, ["return y if x > 0 else (1 if n else 2)"],
     ["return where(x > 0, y, where(n, 1, 2))", "return y if x > 0 else where(n, 1, 2)",
      "return where(x > 0, y, 1 if n else 2)"]),
    (IN_EXPRESSIONS, ["return y"], []),
    (OF_RETURNS, ["if x:", "    return y", "return n"], ["return where(x, y, n)"]),
    (OF_RETURNS, ["if x:", "    return y", "else:", "    return n", "y = 1"],
     ["return where(x, y, n)"]),
    (OF_RETURNS, ["if x:", "    return y", "elif y:", "    return x", "return n"],
     ["return where(x, y, where(y, x, n))"]),
    # What is no plain value.
    (OF_RETURNS, ["if x:", "    return", "return n"], []),
    (OF_RETURNS, ["if x:", "    y = 1", "    return y", "return n"], []),
    (OF_RETURNS, ["if x:", "    return y"], []),
    (OF_RETURNS, ["return y"], []),
    (OF_ASSIGNMENTS, ["if x:", "    y = n"], ["y = where(x, n, y)"]),
    (OF_ASSIGNMENTS, ["if x:", "    y = 1", "else:", "    n = 2"],
     ["y, n = (where(x, 1, y), where(x, n, 2))"]),
    (OF_ASSIGNMENTS, ["if x:", "    y = 1", "elif n:", "    y = 2"],
     ["y = where(x, 1, where(n, 2, y))"]),
    # What does more than assign.
    (OF_ASSIGNMENTS, ["if x:", "    f(y)"], []),
    (OF_ASSIGNMENTS, ["if x:", "    y = 1", "else:", "    f(y)"], []),
    (OF_ASSIGNMENTS, ["y = n"], []),
])  # fmt: skip
def test_both_sides_are_computed_and_one_is_chosen(
    rule: Rule, lines: list[str], new: list[str]
) -> None:
    assert applied(rule, *lines) == new


@pytest.mark.parametrize(
    ("other", "count"),
    [("return n", 2), ("else:\n    return n\ny = 1", 1), ("elif y:\n    return x\nreturn n", 2)],
)
def test_what_follows_goes_where_it_was_the_other_side(other: str, count: int) -> None:
    site = site_of("if x:", "    return y", *other.split("\n"))
    assert [edit.count for edit in OF_RETURNS(site)] == [count]
