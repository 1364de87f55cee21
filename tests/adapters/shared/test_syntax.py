"""Syntax trees that are copied, made and asked."""

import ast

import pytest

from ipyjaxbench.adapters.shared.diagnosis import syntax


def body(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def test_a_copy_is_a_tree_of_its_own_in_the_same_places_and_new_nodes_take_old_lines() -> None:
    old = body("if x:\n    y = f(a, b)")[0]
    vars(old)["parent"] = old  # as libraries leave it on nodes
    new = syntax.copy_tree(old)
    assert ast.dump(new, include_attributes=True) == ast.dump(old, include_attributes=True)
    assert not {id(n) for n in ast.walk(new)} & {id(n) for n in ast.walk(old)}
    assert "parent" not in vars(new)
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
