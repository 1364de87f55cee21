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


def double(_: Site, node: ast.expr) -> ast.expr | None:
    return ast.BinOp(node, ast.Mult(), ast.Constant(2)) if isinstance(node, ast.Name) else None


ITEM = pattern_rule({"X.item()": "X"}, "stays")
INT = pattern_rule({"int(X)": "X"})
FIRST = pattern_rule(
    {"f(X)": "X + 1", "f(Y)": "Y + 2", "g(X)": "X + 3"},
    fits=lambda _, holes: "Y" in holes or isinstance(holes["X"], ast.Name),
)
STATEMENT = pattern_rule({"return X[:N]": "return f(X, N)"}, "0 from {N} on", same=False)
ALONE, EVERYWHERE = exchange_rule(whole=False)(double), exchange_everywhere("twice")(double)
OF_MATH = library_rule(lambda full: f"lib.{full}" if full == "math.sqrt" else "", (math,))
BY_MODULE = library_rule(lambda full: full and f"lib.{full}")  # needs the module's name


@pytest.mark.parametrize(("rule", "lines", "new"), [
    # All expressions are exchanged, then each alone, also inside of others and in targets.
    (ITEM, ["z = x.item() + y.item()"], ["z = x + y", "z = x + y.item()", "z = x.item() + y"]),
    (ITEM, ["z = x.item()"], ["z = x"]),
    (ITEM, ["z = x.items()"], []),
    (ITEM, ["z = x.item(1)"], []),
    (INT, ["z = int(int(x))"], ["z = x", "z = int(x)", "z = int(x)"]),
    (INT, ["x[int(y)] = 1"], ["x[y] = 1"]),
    (INT, ["with open(int(x)) as z:", "    pass"], ["with open(x) as z:\n    pass"]),
    (INT, ["if int(x):", "    y = int(n)"], ["if x:\n    y = int(n)"]),
    # The first pattern that matches and fits is written.
    (FIRST, ["z = f(x)"], ["z = x + 1"]),
    (FIRST, ["z = f(3)"], ["z = 3 + 2"]),
    (FIRST, ["z = g(3)"], []),
    (STATEMENT, ["return x[:n]"], ["return f(x, n)"]),
    (STATEMENT, ["z = x[:n]"], []),
    (STATEMENT, ["return x[1:n]"], []),
    # A rule may try each expression alone only, or be for all that follows.
    (ALONE, ["return x + y"], ["return x * 2 + y", "return x + y * 2"]),
    (ALONE, ["return x"], ["return x * 2"]),
    (ALONE, ["return 1"], []),
    (exchange_rule()(double), ["return 1"], []),
    (EVERYWHERE, ["return 1"], []),
    (EVERYWHERE, ["if x:", "    return y", "return n"],
     ["if x * 2:\n    return y * 2\nreturn n * 2"]),
    # Functions of a library are known by their full names.
    (OF_MATH, ["z = m.sqrt(x)"], ["z = lib.math.sqrt(x)"]),
    (OF_MATH, ["z = root(x)"], ["z = lib.math.sqrt(x)"]),
    (OF_MATH, ["z = m.pi"], []),
    (OF_MATH, ["z = m.cos(x)"], []),
    (OF_MATH, ["z = abs(x)"], []),
    (OF_MATH, ["z = x.sqrt(y)"], []),
    (BY_MODULE, ["z = m.sqrt(x, a=1)"], ["z = lib.math.sqrt(x, a=1)"]),
    (BY_MODULE, ["z = root(x)"], []),
])  # fmt: skip
def test_a_rule_writes_what_it_says(rule: Rule, lines: list[str], new: list[str]) -> None:
    assert applied(rule, *lines, m=math, root=math.sqrt) == new


def test_an_edit_says_what_changes_how_many_statements_and_whether_values_stay() -> None:
    for rule, lines, said in (
        (ITEM, ["z = x.item()"], ("stays", 1, True)),
        (STATEMENT, ["return x[:n]"], ("0 from n on", 1, False)),
        (EVERYWHERE, ["if x:", "    return y", "return n"], ("twice", 2, True)),
    ):
        (edit,) = rule(site_of(*lines))
        assert (edit.changes, edit.count, edit.same) == said


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
