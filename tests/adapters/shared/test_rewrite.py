"""A function whose line fails is rewritten by rules, and tried."""

import ast
import math
from collections.abc import Callable, Iterator
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis.arguments import replace_argument
from ipyjaxbench.adapters.shared.diagnosis.choice import Choice
from ipyjaxbench.adapters.shared.diagnosis.patterns import pattern_rule
from ipyjaxbench.adapters.shared.diagnosis.rewrite import Rewrite, rewrite
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Rule, Site
from ipyjaxbench.usercode import Call
from tests.adapters.shared.code import function_of

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
