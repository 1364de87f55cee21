"""Names of libraries as code has them, and errors by their pitfalls."""

import ast
import math
import os.path
import sys
import warnings
from types import ModuleType

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


def test_a_name_is_written_as_the_code_has_it() -> None:
    spelling = Spelling(function_of("def f(x): pass", m=math, _hidden=math, mathematics=math))
    assert spelling.spell("math.sqrt") == "m.sqrt"
    assert spelling.spell("math.sqrt.__test") == "m.sqrt"
    assert spelling.spell("N.__places") == "N"
    assert not spelling.missing


def test_the_nearest_part_of_a_name_that_the_code_has_is_taken() -> None:
    text = "def f(x): pass"
    assert Spelling(function_of(text, os=os, p=os.path)).spell("os.path.join") == "p.join"
    assert Spelling(function_of(text, os=os)).spell("os.path.join") == "os.path.join"
    assert Spelling(function_of(text, join=os.path.join)).spell("os.path.join") == "join"


def test_a_library_that_the_code_has_not_imported_is_missing() -> None:
    spelling = Spelling(function_of("def f(m): pass", m=math, _math=math))
    assert spelling.spell("math.sqrt") == "math.sqrt"
    assert [*spelling.missing] == ["math"]
    assert Spelling(None).spell("math.sqrt") == "math.sqrt"


def test_trees_and_sentences_have_the_codes_names() -> None:
    spelling = Spelling(function_of("def f(x): pass", N=numpy, m=math))
    tree = spelling.tree([ast.Return(call("math.sqrt", name("x")))])
    assert ast.unparse(tree) == "return m.sqrt(x)"
    assert spelling.text("np.sum, or np") == "N.sum, or np"
    assert not spelling.missing


def test_a_full_name_has_a_value() -> None:
    assert value_of("math.sqrt") is math.sqrt
    assert value_of("math.sqrt.__test") is math.sqrt
    assert value_of("os.path.join") is os.path.join
    assert value_of("math.missing") is value_of("no_such_module.f") is None


def test_looking_a_name_up_warns_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Library(ModuleType):
        @property
        def old(self) -> int:
            warnings.warn("old is given up", DeprecationWarning, stacklevel=2)
            return 3

    monkeypatch.setitem(sys.modules, "library_of_a_test", Library("library_of_a_test"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
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
