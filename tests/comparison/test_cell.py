"""A comparison's cell is read as labelled arms, and every byte of their code stays."""

import ast
import re

import pytest

from ipyjaxbench.comparison.cell import Cell, arm_labels, read_cell, transform_arms
from ipyjaxbench.errors import OptionError, SnippetError


def cell(text: str) -> Cell:
    return read_cell(text, ast.parse, "<cell>")


def arms(text: str) -> dict[str, str]:
    return {arm.label: arm.source.text for arm in cell(text).arms}


def test_a_line_is_an_arm() -> None:
    assert arms("numpy: np.dot(a, a.T)\njax:   jnp.dot(b, b.T)\nc:X@w\n") == {
        "numpy": "np.dot(a, a.T)", "jax": "jnp.dot(b, b.T)", "c": "X@w",
    }  # fmt: skip
    assert [*arms("a: int(3)\nb: x = int\nc: x[int] = 3").values()] == [
        "int(3)", "x = int", "x[int] = 3",
    ]  # fmt: skip
    found = cell("a:\n    y = f(x)\n    y + 1\n\nb: g(x)\n")  # or a block below its label
    assert [ast.unparse(arm.source.tree) for arm in found.arms] == ["y = f(x)\ny + 1", "g(x)"]
    text = 'a:\n    s = """\nlabel: in a string\n  kept """\nb: g()\n'
    first, _ = cell(text).arms
    assert ast.literal_eval(first.source.tree.body[0].value) == "\nlabel: in a string\n  kept "


def test_labels_may_hold_more_than_one_word() -> None:
    labels = ["torch compiled", "jax.jit", "n-1", "größer", "match", "eager (no jit)", "2x2"]
    assert [*arms("\n".join(f"{label}: f()" for label in labels))] == labels


def test_line_and_column_are_those_that_the_user_sees() -> None:
    text = "a long label: f(x)\nb:\n    y = g(x)\n"
    calls = [
        next(node for node in ast.walk(arm.source.tree) if isinstance(node, ast.Call))
        for arm in cell(text).arms
    ]
    lines = text.splitlines()
    shown = [lines[c.lineno - 1][c.col_offset : c.end_col_offset] for c in calls]
    assert shown == ["f(x)", "g(x)"]


def test_what_stands_above_the_arms_and_beside_setup_runs_before_them() -> None:
    found = cell("import math\nx = [1]\na: f(x)\nsetup: y = 2\nb: g(x)\n")
    assert found.setup is not None
    assert ast.unparse(found.setup.tree) == "import math\nx = [1]\ny = 2"
    assert [arm.label for arm in found.arms] == ["a", "b"]
    a, b = cell("setup b: x = list(range(9))\na: f()\nb: x.sort()").arms  # or before b alone
    assert a.setup is None
    assert b.setup is not None
    assert b.setup.text == "x = list(range(9))"
    assert cell("a: f()\nb: g()").setup is None


@pytest.mark.parametrize(
    "above",
    [
        *("d = {\na: 1,\n}", "s = '''\na: 1\n'''"),  # unfinished, until it ends
        *("x[1:2]", "{'a': 1}", "f(a=1)", "'a: b'", "# a: b", "f(lambda: 3)"),
    ],
)
def test_a_colon_alone_makes_no_arm(above: str) -> None:
    found = cell(f"{above}\none: f()\ntwo: g()")
    assert [arm.label for arm in found.arms] == ["one", "two"]


@pytest.mark.parametrize("typed", ["\U0001f680 b", "'\U0001f680 b'", '"(a)"', "''", "<b>"])
def test_what_is_no_label_is_told_with_the_rule(typed: str) -> None:
    words = typed.strip("'\"")
    with pytest.raises(OptionError, match=f"^label {re.escape(repr(words))}: must be a label that"):
        arms(f"{typed}: f()\na: x")


@pytest.mark.parametrize("statement", ["if x: f()", "for i in x: g(i)", "else: 1", "match x: 1"])
def test_a_statement_of_python_is_no_arm(statement: str) -> None:
    with pytest.raises((SnippetError, SyntaxError)):
        arms(f"{statement}\nonly: f()")


NONE = "no arms found: write one per line, for example  numpy: np.dot(a, b)"
ONE = "the only arm, but a comparison needs two: add a line  label: code  or use %fwtime"
EMPTY = "has no code: write it after the colon, or indented below"
STRAY = "belongs to no arm: indent it under a label, or give it a label"
QUOTED = "as in a dictionary: type  a: x + 1"
DICTIONARY = (
    "a dictionary is one value, not several arms: type one per line without braces, for example"
    "  a: x + 1"
)
TWICE = "appears twice: labels must be unique"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", NONE),
        ("x = 1", NONE),
        ("a: f()", f"'a' is {ONE}"),
        ("a: f()\na: g()", f"'a' {TWICE}"),
        ("a:\nb: f()", f"'a' {EMPTY}"),
        ("a:\n    # nothing\nb: f()", f"'a' {EMPTY}"),
        ("a: f()\ny = 2\nb: g()", f"line 2 {STRAY}"),
        ("a:\n    f()\nelse:\n    g()\nb: h()", f"line 4 {STRAY}"),
        ("setup a: 1\nsetup a: 2\na: f()\nb: g()", f"'setup a' {TWICE}"),
        ("x: float\na: 1\nb: 2\nx: 3", f"'x' {TWICE}"),
        ("n: str = 'a'\nb: 2", "'n: str = 'a'' would be read as an arm: remove the annotation str"),
        ("y: int = 3\na: f(y)\nb: g(y)",
         "'y: int = 3' would be read as an arm: remove the annotation int"),
        ('"a": x + 1,\n"b": x + 2,', "\"a\" in '\"a\": x + 1,' is a string, " + QUOTED),
        ("a: f()\n'b c': x", "'b c' in \"'b c': x\" is a string, as in a dictionary: type  b c: x"),
        ('{"a": x + 1, "b": x + 2}', DICTIONARY),
        ("z = 1\n{\n    'a': x+1,\n    'b': x+2,\n}", DICTIONARY),
        ("a: 1\nb: 2\nsetup c: 3", "'setup c': no such arm; the arms are a, b"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_in_one_line(text: str, message: str) -> None:
    with pytest.raises(SnippetError) as caught:
        cell(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["a: f(\nb: g()", "a: f() +\nb: g()", "a: f()\nb: 'open"])
def test_code_that_is_not_valid_is_a_syntax_error_at_its_line(text: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        cell(text)
    assert caught.value.lineno == (2 if "open" in text else 1)


def test_labels_are_known_while_a_cell_is_being_written() -> None:
    text = "x = {\na: f(\nsetup: z = 1\nsetup a: x = 1\nb c:\n  y = g(x)\na: again"
    assert arm_labels(text) == ["a", "b c"]
    assert arm_labels("") == []


def test_magics_and_commands_behind_a_label_are_spelled_in_python() -> None:
    text = "a: !ls -l\nb: %time f(x)\nc: f('!')\n!pwd\nd:\n    !echo\n"
    found = transform_arms(text, lambda line: f"run({line!r})\n")
    assert found == ("a: run('!ls -l')\nb: run('%time f(x)')\nc: f('!')\n!pwd\nd:\n    !echo\n")
