"""Which loop of a cell is taken."""

import ast

import pytest

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.steps.find_loop import find_loop, has_loop


def line_of(code: str, line: int | None = None) -> int:
    """The line of the loop that is taken, where `step` is a framework's."""
    return find_loop(ast.parse(code), line, lambda call: ast.unparse(call.func) == "step").lineno


@pytest.mark.parametrize(
    ("code", "found"),
    [("for a in x: step(a)", True), ("if x:\n    for a in x: a", True), ("step(x)", False),
     ("[a for a in x]", False)],
)  # fmt: skip
def test_a_cell_has_a_loop_or_none(code: str, found: bool) -> None:
    assert has_loop(ast.parse(code)) is found


@pytest.mark.parametrize(("code", "line"), [
    ("for a in x:\n    step(a)", 1),
    ("for e in n:\n    for a in x:\n        step(a)", 2),
    ("for e in n:\n    for a in x:\n        step(a)\n    step(e)", 2),
    ("for e in n:\n    step(e)\n    for a in x:\n        log(a)", 1),
    ("for a in x:\n    log(a)\nfor a in x:\n    step(a)", 3),
    ("for a in x:\n    while a:\n        step(a)", 1),
    ("def train():\n    for a in x:\n        step(a)\ntrain()", 2),
    ("def load():\n    for a in x:\n        yield step(a)\nfor a in load():\n    a = 1", 4),
    ("def show():\n    for a in x:\n        log(a)\nfor a in x:\n    b = a", 4),
    ("for a in x:\n    f = lambda: step(a)\nfor a in x:\n    step(a)", 3),
    ("with y:\n    if z:\n        for a in x: step(a)", 3),
    ("async def f():\n    async for a in x:\n        step(a)", 2),
    ("for a in x:\n    pass", 1),
])  # fmt: skip
def test_the_innermost_that_calls_a_framework_is_taken(code: str, line: int) -> None:
    assert line_of(code) == line


def test_a_line_chooses_the_innermost_loop_around_it() -> None:
    code = "for e in n:\n    a = 1\n    for a in x:\n        step(a)\n    b = 2"
    assert [line_of(code, line) for line in range(1, 6)] == [1, 1, 3, 3, 1]


@pytest.mark.parametrize(("code", "line", "words"), [
    ("step(x)", None, "there is no for loop in this cell"),
    ("while True:\n    step(x)", None, "there is no for loop"),
    ("@jit\ndef f():\n    for a in x: step(a)", None, "there is no for loop"),
    ("for a in x:\n    step(a)", 7,
     "--line 7 is in no for loop: the loops of this cell are in 1"),
])  # fmt: skip
def test_where_there_is_none_one_line_says_so(code: str, line: int | None, words: str) -> None:
    with pytest.raises(SnippetError, match=words):
        line_of(code, line)
