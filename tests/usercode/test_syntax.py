"""Syntax trees of the user's code are asked what they are."""

import ast
from typing import Any

import pytest

from ipyjaxbench.usercode import syntax


def body(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def test_a_copy_is_a_tree_of_its_own_in_the_same_places() -> None:
    old = ast.parse("if x:\n    y = f(a, b)")
    vars(old)["parent"] = old  # as libraries leave it on nodes
    new = syntax.copy_tree(old)
    assert ast.dump(new, include_attributes=True) == ast.dump(old, include_attributes=True)
    assert not {id(n) for n in ast.walk(new)} & {id(n) for n in ast.walk(old)}
    assert "parent" not in vars(new)


@pytest.mark.parametrize(
    ("text", "value"),
    [("f(x)", "f(x)"), ("y = f(x)", "f(x)"), ("f(x); y", None), ("pass", None), ("", None)],
)
def test_the_only_value_is_that_of_one_statement(text: str, value: str | None) -> None:
    found = syntax.only_value(body(text))
    assert (found and ast.unparse(found)) == value


@pytest.mark.parametrize(
    ("text", "root", "plain"),
    [("x", "x", True), ("x.y.z", "x", True), ("x[0].y", "x", False), ("f(x).y", "", False),
     ("3", "", True), ("x[0]", "x", False), ("-x", "", False)],
)  # fmt: skip
def test_what_runs_no_code_is_plain(text: str, root: str, plain: bool) -> None:
    assert syntax.root_name(expression(text)) == root
    assert syntax.is_plain(expression(text)) is plain


def test_arguments_are_those_by_position_and_by_name() -> None:
    call: Any = expression("f(a, *b, c=d, **e)")
    assert [ast.unparse(each) for each in syntax.arguments(call)] == ["a", "*b", "d", "e"]


def test_nodes_of_a_scope_are_not_those_of_its_functions() -> None:
    statements = body("a\ndef f(): b\nclass C: c\nlambda: d\n[e for e in x]\nasync def g(): h")
    names = {n.id for n in syntax.nodes_in_scope(statements) if isinstance(n, ast.Name)}
    assert names == {"a", "e", "x"}
    names = {n.id for n in syntax.nodes_of(statements) if isinstance(n, ast.Name)}
    assert names == {*"abcdehx"}


@pytest.mark.parametrize(("text", "line"), [
    ("", ""),
    ("  f(x)\n", "f(x)"),
    ("import a\nfrom b import c\ndef f(): pass\nclass D: pass\nf(3)", "… f(3)"),
    ("def f():\n    return 1\ny = 2\nf(\n    y)", "… f( …"),
    ("def f():\n    return 1", "def f(): …"),
    ("y = 1\ndef f(): pass\nf(3)", "y = 1 …"),
    ("%time x\ny", "%time x …"),
    ("import a\n%time a.f()", "… %time a.f()"),
    ("# mine\n@jit\ndef f(\n    x,\n):\n    if x:\n        f(1)\ny = [\n    1,\n]  # all",
     "… y = [ …"),
    ("def f():\n" + 100_000 * "    g()\n" + "f()", "… f()"),
    ("x" * 1_000_000, "x" * 20_000 + " …"),
])  # fmt: skip
def test_code_is_shown_by_the_line_that_it_ends_with(text: str, line: str) -> None:
    assert syntax.first_line(text) == line
