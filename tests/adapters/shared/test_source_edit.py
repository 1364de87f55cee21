"""From source to tree to a changed function."""

import ast
import math
from types import FunctionType

import pytest

from ipyjaxbench.adapters.shared.diagnosis.names import STAND_INS
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Sources, sites
from ipyjaxbench.adapters.shared.diagnosis.syntax import call, name
from ipyjaxbench.usercode import Source, read_call
from tests.adapters.shared.code import function_of, site_of


def definition_of(function: FunctionType) -> str | None:
    definition = Sources().definition(function)
    return None if definition is None else ast.unparse(definition)


def changed(function: FunctionType, line: int, new: ast.expr) -> FunctionType | None:
    sources = Sources()
    definition = sources.definition(function)
    assert definition is not None
    (site,) = sites(definition, line, function)
    made = sources.build(site.edited(Edit([ast.Return(new)])), function)
    source = None if made is None else sources.definition(made)
    if source is not None:  # what was made has a source too
        assert ast.unparse(source).endswith(f"return {ast.unparse(new)}")
    return made


def test_the_source_of_a_function_is_found_by_name_and_line() -> None:
    text = "def f(x):\n    return 1\n\n@staticmethod\ndef f(x):\n    return 2"
    function = function_of(text + "\nf = f.__func__")
    assert definition_of(function) == "@staticmethod\ndef f(x):\n    return 2"
    function.__code__ = function.__code__.replace(co_firstlineno=5)
    assert definition_of(function) is None
    names: dict[str, FunctionType] = {}
    exec("def f(x): return x", names)
    assert definition_of(names["f"]) is None  # its source is gone


def test_of_lambdas_on_a_line_that_of_the_same_parameters_and_code_is_found() -> None:
    for text, first, second in (
        ("lambda x: x + 1, lambda x: x - 1", "(x):\n    return x + 1", "(x):\n    return x - 1"),
        ("lambda y: y, lambda x: x", "(y):\n    return y", "(x):\n    return x"),
        ("lambda x, /, *, k=1: x, lambda x, k=1: k", "(x, /, *, k=1):\n    return x",
         "(x, k=1):\n    return k"),
    ):  # fmt: skip
        found = [*map(definition_of, eval_pair(f"a, b = {text}\n"))]
        assert found == [f"def made{first}", f"def made{second}"]
    one, _ = eval_pair("a, b = lambda x: x + 1, lambda x: x + 1\n")
    assert definition_of(one) is None


def eval_pair(text: str) -> list[FunctionType]:
    function = function_of("def anchor(): pass\n" + text)
    names = function.__globals__
    return [names["a"], names["b"]]


def test_a_changed_function_has_the_closure_and_the_defaults_of_the_old_one() -> None:
    text = "def outer(a):\n    def f(x, y=2, *, z=3):\n        return a\n    return f\nf = outer(5)"
    old = function_of(text)
    old.mark, old.__wrapped__ = 1, len  # type: ignore[attr-defined]
    total = ast.parse("a + x + y + z", mode="eval").body
    new = changed(old, 3, total)
    assert new is not None
    assert new(1) == 11
    assert (new.mark, hasattr(new, "__wrapped__")) == (1, False)  # type: ignore[attr-defined]
    assert (new.__name__, new.__qualname__) == (old.__name__, old.__qualname__)
    assert old(1) == 5


def test_a_change_that_closes_over_more_or_makes_no_sense_makes_no_function() -> None:
    old = function_of(
        "def outer(a, b):\n    def f(x):\n        return a\n    return f\nf = outer(1, 2)"
    )
    assert changed(old, 3, name("a")) is not None
    (wrong,) = ast.parse("def f(x):\n    return (yield 1) + (await x)").body
    assert Sources().build(wrong, old) is None  # type: ignore[arg-type]


def test_names_of_libraries_are_those_of_the_library_or_what_stands_in_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(STAND_INS, "math.sqrt.__test", lambda x: -x)
    old = function_of("def f(x):\n    return x")
    for full, value in (("math.sqrt", 2), ("math.sqrt.__test", -4)):
        new = changed(old, 2, call(full, name("x")))
        assert new is not None
        assert new(4.0) == value


def test_a_site_knows_what_stands_around_it_and_is_replaced_by_as_many_as_an_edit_says() -> None:
    site = site_of("z = 1", "y = 2", "w = 3", at=1)
    assert site.bound_before == {"x", "y", "n", "z"}
    two = site.edited(Edit([ast.Return(name("z"))], count=2))
    assert ast.unparse(ast.fix_missing_locations(two)) == "def f(x, y, n):\n    z = 1\n    return z"
    assert [ast.unparse(statement) for statement in site.following] == ["w = 3"]
    assert two.body[1].lineno == site.stmt.lineno


def test_names_have_the_values_that_the_function_sees() -> None:
    text = "def outer(c):\n    def f(x):\n        return c\n    return f\nf = outer(7)"
    function = function_of(text, m=math, x=1)
    definition = Sources().definition(function)
    assert definition is not None
    (site,) = sites(definition, 3, function)
    codes = ("c", "x", "m.pi", "m.missing", "len", "missing", "c.real", "1")
    values = {code: site.value(ast.parse(code, mode="eval").body) for code in codes}
    assert values == {"c": 7, "x": None, "m.pi": math.pi, "m.missing": None, "len": len,
                      "missing": None, "c.real": None, "1": None}  # fmt: skip


def test_of_an_expression_that_was_typed_the_source_is_a_function_of_its_names() -> None:
    source = Source.plain("y = 2\nx.real + y")
    made = read_call(source, {"x": 1.5}, lambda value: type(value) is float).function
    assert made(1.5) == 3.5
    assert definition_of(made) == "def made(x):\n    return x.real + y"
    statement = Source.plain("x.real\ny = 3")
    code = made.__code__.replace(co_filename=statement.filename)
    assert definition_of(FunctionType(code, {})) is None


def test_a_lambda_that_closes_over_a_name_is_found_where_it_is_alone() -> None:
    text = "def outer(c):\n    return lambda x: x + c\nf = outer(7)"
    function = function_of(text)
    assert definition_of(function) == "def made(x):\n    return x + c"
    new = changed(function, 2, ast.parse("x * c", mode="eval").body)
    assert new is not None
    assert (new(2), new.__name__) == (14, "<lambda>")


def test_of_a_statement_with_a_body_the_head_is_its_site() -> None:
    text = """
    def f(x):
        def g(y):
            return y
        class C:
            z = 1
        for i in (x,
                  2):
            pass
        with x:
            pass
        while (x and
               g):
            y = (1 +
                 2)
        try:
            return g
        except E:
            y = 2
        finally:
            x = 1
        match x:
            case 1:
                y = 3
    """
    function = function_of(text, E=Exception)
    definition = Sources().definition(function)
    assert definition is not None

    def at(line: int) -> str:
        (*_, last) = [None, *sites(definition, line, function)]
        return "" if last is None else ast.unparse(last.stmt).partition("\n")[0]

    assert [at(line) for line in range(1, 25)] == [
        "", "", "return y", "", "z = 1", *["for i in (x, 2):"] * 2, "pass", "with x:", "pass",
        *["while x and g:"] * 2, *["y = 1 + 2"] * 2, "try:", "return g", "", "y = 2", "", "x = 1",
        "match x:", "", "y = 3", "",
    ]  # fmt: skip
