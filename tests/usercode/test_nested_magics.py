"""Statements behind magics in code, as IPython spells them in Python."""

import ast

import pytest

from ipyjaxbench.usercode.nested_magics import statements_in_magics


def behind(text: str) -> list[str]:
    return [ast.unparse(each) for each in statements_in_magics(ast.parse(text).body)]


def line_magic(text: str) -> str:
    return f"get_ipython().run_line_magic('time', {text!r})"


@pytest.mark.parametrize(("text", "statements"), [
    ("-n 3 -r2 f(x)", ["f(x)"]),
    ("t = %timeit -q f(x)", ["t = f(x)"]),
    ("x % 2", ["x % 2"]),
    ("await f()", ["await f()"]),
    ("return 3", ["3"]),
    ("f(", ["pass"]),
    ("", []),
])  # fmt: skip
def test_behind_a_magic_is_what_reads_as_python(text: str, statements: list[str]) -> None:
    assert behind(line_magic(text)) == statements


def test_in_the_cell_of_a_magic_are_all_its_statements_and_those_behind_its_magics() -> None:
    cell = "    x = 1\n    if x:\n        a, b = %time -q f(x)\n        %timeit g(\n    h(x)\n"
    text = f"with a:\n    y = get_ipython().run_cell_magic('capture', '-q out', {cell!r})"
    found = ["out", "x = 1", "if x:\n    a, b = f(x)\n    pass", "h(x)"]
    assert behind(text) == found


@pytest.mark.parametrize(
    "text",
    ["f('g(x)')", "get_ipython().system('ls')", "get_ipython().run_line_magic('time', code)",
     "get_ipython().run_line_magic('time', 3)", "run_line_magic('time', 'f(x)')"],
)  # fmt: skip
def test_what_is_no_magic_with_code_has_none(text: str) -> None:
    assert behind(text) == []
