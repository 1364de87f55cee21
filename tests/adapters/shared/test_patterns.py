"""Rules that are written as code with holes, and functions that are rewritten by them."""

import ast
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ipyjaxbench.adapters.shared.diagnosis.arguments import replace_argument
from ipyjaxbench.adapters.shared.diagnosis.choice import Choice
from ipyjaxbench.adapters.shared.diagnosis.patterns import (
    exchange_everywhere,
    exchange_rule,
    fill_pattern,
    library_rule,
    match_pattern,
    pattern_rule,
)
from ipyjaxbench.adapters.shared.diagnosis.rewrite import Rewrite, rewrite
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Rule, Site
from ipyjaxbench.adapters.shared.diagnosis.syntax import name
from ipyjaxbench.usercode import Call
from tests.adapters.shared.code import applied, function_of, site_of, written


def test_all_expressions_are_exchanged_then_each_alone() -> None:
    rule = pattern_rule({"X.item()": "X"}, "stays")
    assert applied(rule, "z = x.item() + y.item()") == [
        "z = x + y", "z = x + y.item()", "z = x.item() + y",
    ]  # fmt: skip
    assert applied(rule, "z = x.item()") == ["z = x"]
    assert applied(rule, "z = x.items()") == applied(rule, "z = x.item(1)") == []
    (edit,) = rule(site_of("z = x.item()"))
    assert (edit.changes, edit.count, edit.same) == ("stays", 1, True)


def test_expressions_inside_of_others_and_in_targets_are_exchanged() -> None:
    rule = pattern_rule({"int(X)": "X"})
    assert applied(rule, "z = int(int(x))")[0] == "z = x"
    assert applied(rule, "x[int(y)] = 1") == ["x[y] = 1"]
    assert applied(rule, "with open(int(x)) as z:", "    pass")[0].startswith("with open(x)")
    assert applied(rule, "if int(x):", "    y = int(n)") == ["if x:\n    y = int(n)"]


@pytest.mark.parametrize(("pattern", "text", "holes"), [
    ("X[B : B + S]", "x[i : i + 3]", {"X": "x", "B": "i", "S": "3"}),
    ("X[B : B + S]", "x[i : j + 3]", None),
    ("X[B : B + S]", "x[i : i + 3 : 1]", None),
    ("f(X)", "f(x, y)", None), ("f(X, Y)", "f(x)", None), ("f(X, 1)", "f(x, 2)", None),
    ("f(X)", "g(x)", None), ("X.y", "x.y", {"X": "x"}), ("X.y", "x.z", None),
    ("XS", "x + 1", {"XS": "x + 1"}),
])  # fmt: skip
def test_a_hole_stands_for_the_same_expression_wherever_it_stands(
    pattern: str, text: str, holes: dict[str, str] | None
) -> None:
    found = match_pattern(pattern, ast.parse(text, mode="eval").body)
    assert holes == (found and {hole: ast.unparse(node) for hole, node in found.items()})


def test_the_first_pattern_that_matches_and_fits_is_written() -> None:
    rule = pattern_rule(
        {"f(X)": "X + 1", "f(Y)": "Y + 2", "g(X)": "X + 3"},
        fits=lambda _, holes: "Y" in holes or isinstance(holes["X"], ast.Name),
    )
    assert applied(rule, "z = f(x)") == ["z = x + 1"]
    assert applied(rule, "z = f(3)") == ["z = 3 + 2"]
    assert applied(rule, "z = g(3)") == []


def test_a_pattern_may_be_a_statement() -> None:
    rule = pattern_rule({"return X[:N]": "return f(X, N)"}, "0 from {N} on", same=False)
    (edit,) = rule(site_of("return x[:n]"))
    assert written([edit]) == ["return f(x, n)"]
    assert (edit.changes, edit.same) == ("0 from n on", False)
    assert applied(rule, "z = x[:n]") == applied(rule, "return x[1:n]") == []


def test_what_is_written_can_be_assigned_to_and_name_parameters() -> None:
    rule = pattern_rule({"for I in range(N):\n    X = V": "X = loop(lambda I, X: V, N, X)"})
    site = site_of("for i in range(n):", "    x = x * i")
    (edit,) = rule(site)
    assert written([edit]) == ["x = loop(lambda i, x: x * i, n, x)"]
    compile(ast.fix_missing_locations(ast.Module([site.edited(edit)], [])), "", "exec")


def test_a_dotted_name_is_a_librarys_unless_it_begins_with_a_hole() -> None:
    node = fill_pattern("tf.math.log(X, X.dtype)", {"X": name("y")})
    assert isinstance(node.func, ast.Name)
    assert node.func.id == "tf.math.log"
    assert isinstance(node.args[1], ast.Attribute)
    assert ast.unparse(fill_pattern("f(X).sum()", {"X": name("y")})) == "f(y).sum()"


def double(_: Site, node: ast.expr) -> ast.expr | None:
    return ast.BinOp(node, ast.Mult(), ast.Constant(2)) if isinstance(node, ast.Name) else None


def test_a_rule_may_try_each_expression_alone_only_or_be_for_all_that_follows() -> None:
    alone = exchange_rule(whole=False)(double)
    assert applied(alone, "return x + y") == ["return x * 2 + y", "return x + y * 2"]
    assert applied(alone, "return x") == ["return x * 2"]
    rule = exchange_everywhere("twice")(double)
    (edit,) = rule(site_of("if x:", "    return y", "return n"))
    assert written([edit]) == ["if x * 2:\n    return y * 2\nreturn n * 2"]
    assert (edit.changes, edit.count) == ("twice", 2)
    for each in (alone, exchange_rule()(double), rule):
        assert applied(each, "return 1") == []


@pytest.mark.parametrize(("code", "new"), [
    ("z = m.sqrt(x)", ["z = lib.math.sqrt(x)"]),
    ("z = root(x)", ["z = lib.math.sqrt(x)"]),
    ("z = m.pi", []),
    ("z = m.cos(x)", []),
    ("z = abs(x)", []),
    ("z = x.sqrt(y)", []),
])  # fmt: skip
def test_functions_of_a_library_are_known_by_their_full_names(code: str, new: list[str]) -> None:
    rule = library_rule(lambda full: f"lib.{full}" if full == "math.sqrt" else "", (math,))
    assert applied(rule, code, m=math, root=math.sqrt) == new


def test_functions_of_other_modules_need_the_modules_name() -> None:
    rule = library_rule(lambda full: full and f"lib.{full}")
    assert applied(rule, "z = m.sqrt(x, a=1)", m=math) == ["z = lib.math.sqrt(x, a=1)"]
    assert applied(rule, "z = root(x)", root=math.sqrt) == []


TEXT = """
def f(x):
    y = int(x)
    if float(y):
        z = int(y) + float(x)
    return z
"""
PLAIN = pattern_rule({"int(X)": "X"}, "stays a float")
ROOT = pattern_rule({"float(X)": "math.sqrt(X)"})


def texts(
    line: int, *rules: Rule, helps: Callable[[Rewrite], bool] = lambda _: True, **more: Any
) -> list[str]:
    function = function_of(TEXT, m=math)
    return [each.text for each in rewrite(function, line, helps, rules, **more)]


def test_for_each_rule_the_first_that_helps_is_given_with_what_is_new_in_it() -> None:
    assert texts(2, PLAIN) == ["y = x"]
    assert texts(2, ROOT) == []
    assert texts(4, PLAIN, ROOT) == ["z = y + float(x)", "z = int(y) + m.sqrt(x)"]
    assert texts(3, ROOT) == ["if m.sqrt(y):"]
    tried: list[str] = []

    def helps(each: Rewrite) -> bool:
        tried.append(each.text)
        return len(tried) == 2

    both = pattern_rule({"int(X)": "X", "float(X)": "X"})
    assert texts(4, both, helps=helps) == ["z = y + float(x)"]
    assert tried == ["z = y + x", "z = y + float(x)"]
    assert texts(4, both, helps=lambda _: False) == []


def test_a_rule_may_be_for_the_whole_body() -> None:
    def emptied(site: Site) -> Iterator[Edit]:
        yield Edit([ast.Return(ast.Constant(site.stmt.lineno))], count=1 + len(site.following))

    assert texts(4, whole=(emptied,)) == ["return 2"]
    assert texts(4, PLAIN, whole=(emptied,)) == ["z = y + float(x)", "return 2"]


def test_the_function_of_a_rewrite_is_whole_and_knows_what_changed() -> None:
    (found,) = rewrite(function_of(TEXT), 2, lambda _: True, [PLAIN])
    assert ast.unparse(found.definition) == TEXT.strip().replace("int(x)", "x", 1)
    assert (found.edit.changes, found.edit.count) == ("stays a float", 1)
    assert found.replaces == "y = int(x)"


def test_of_a_lambda_the_expression_is_shown() -> None:
    function = function_of("def anchor(): pass\na = lambda x: int(x) + 1")
    found = rewrite(function.__globals__["a"], 2, lambda _: True, [PLAIN])
    assert [each.text for each in found] == ["x + 1"]


def test_a_call_is_tried_with_another_argument() -> None:
    call = Call.from_function(lambda x, *rest, k: 0, 1, 2, 3, k=4)
    assert replace_argument(call, "rest[0]", 7).args == (1, 7, 3)
    other = replace_argument(call, "k", 7)
    assert (other.args, other.kwargs, other.function) == ((1, 2, 3), {"k": 7}, call.function)
    assert (call.args, call.kwargs) == ((1, 2, 3), {"k": 4})


def test_the_lines_that_a_rewrite_takes_away_are_known() -> None:
    choice = Choice("m.where", lambda test: test).rules
    text = "def f(x):\n    if x > 0:\n        return x\n    return -x\n"
    (found,) = rewrite(function_of(text, m=math), 2, lambda _: True, choice)
    assert found.replaces == "if x > 0:\n    return x\nreturn -x"
