"""Names of libraries as code has them, and errors by their pitfalls."""

import ast
import math
import os.path
import sys
import warnings
from types import ModuleType
from typing import Any

import numpy
import pytest

from ipyjaxbench.adapters.shared.diagnosis.describe import (
    describe,
    failing_expression,
    find_pitfalls,
)
from ipyjaxbench.adapters.shared.diagnosis.names import Spelling, value_of
from ipyjaxbench.adapters.shared.diagnosis.syntax import call, name
from ipyjaxbench.graphs import Pitfall
from tests.adapters.shared.code import function_of


def test_names_are_written_as_the_code_has_them_by_their_nearest_part() -> None:
    def spelled(full: str, text: str = "def f(x): pass", **names: Any) -> tuple[str, list[str]]:
        spelling = Spelling(function_of(text, **names))
        return spelling.spell(full), [*spelling.missing]

    assert spelled("math.sqrt", m=math, _hidden=math, mathematics=math) == ("m.sqrt", [])
    assert spelled("math.sqrt.__test", m=math) == ("m.sqrt", [])
    assert spelled("N.__places") == ("N", [])
    assert spelled("os.path.join", os=os, p=os.path) == ("p.join", [])
    assert spelled("os.path.join", os=os) == ("os.path.join", [])
    assert spelled("os.path.join", join=os.path.join) == ("join", [])
    assert spelled("math.sqrt", "def f(m): pass", m=math, _math=math) == ("math.sqrt", ["math"])
    assert Spelling(None).spell("math.sqrt") == "math.sqrt"
    spelling = Spelling(function_of("def f(x): pass", N=numpy, m=math))
    tree = spelling.tree([ast.Return(call("math.sqrt", name("x")))])
    assert ast.unparse(tree) == "return m.sqrt(x)"
    assert spelling.text("np.sum, or np") == "N.sum, or np"
    assert not spelling.missing


def test_a_full_name_has_a_value_and_looking_it_up_warns_of_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Library(ModuleType):
        @property
        def old(self) -> int:
            warnings.warn("old is given up", DeprecationWarning, stacklevel=2)
            return 3

    assert value_of("math.sqrt") is value_of("math.sqrt.__test") is math.sqrt
    assert value_of("os.path.join") is os.path.join
    assert value_of("math.missing") is value_of("no_such_module.f") is None
    monkeypatch.setitem(sys.modules, "library_of_a_test", Library("library_of_a_test"))
    assert value_of("library_of_a_test.old") == 3


PITFALLS = (
    Pitfall(("KeyError",), "a key", "one", "first"),
    Pitfall(("LookupError",), "", "two", source="^assert"),
    Pitfall((), "a key", "three", after="^raise"),
)


def test_a_pitfall_fits_by_error_message_and_lines() -> None:
    def reasons(error: Exception, message: str, *lines: str) -> list[str]:
        return [each.because for each in find_pitfalls(PITFALLS, error, message, *lines)]

    assert reasons(KeyError(), "a key is missing") == ["one"]
    assert reasons(IndexError(), "a key", "assert x") == ["two"]
    assert reasons(KeyError(), "", "assert x") == ["two"]
    assert reasons(ValueError(), "a key", "x", "raise y") == ["three"]
    assert reasons(ValueError(), "a key", "raise y") == []


def test_an_error_is_described_by_its_pitfall_or_by_what_is_known() -> None:
    known = describe("f(x)", KeyError(), "a key", 3, "x[k]", PITFALLS[0])
    assert (known.because, known.advice, known.line, known.source) == ("one", "first", 3, "x[k]")
    assert (known.code, known.error, known.message) == ("f(x)", "KeyError", "a key")
    unknown = describe("f(x)", KeyError(), "a key", 3, "x[k]", None, "who knows")
    assert (unknown.because, unknown.advice) == ("who knows", "")


def test_the_failing_expression_is_named_where_it_is_known_and_short() -> None:
    pitfall = Pitfall((), "", f"The size of {failing_expression('the result')} varies.")

    def because(expression: str) -> str:
        found = describe("f(x)", KeyError(), "", 3, "return x[k]", pitfall, expression=expression)
        return found.because

    assert because("x[k]") == "The size of x[k] varies."
    assert because("x" * 40) == f"The size of {'x' * 40} varies."
    for other in ("", "return x[k]", "x" * 41, "x[\nk]"):
        assert because(other) == "The size of the result varies."
