"""Every call goes through a hook, and the code does what it does without."""

import inspect
import operator
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from ipyjaxbench.usercode.code_objects import fingerprint
from ipyjaxbench.usercode.instrument import instrument_cell, instrument_functions
from ipyjaxbench.usercode.snippet import Source
from tests.usercode.hook import Hook


def run(text: str, names: dict[str, Any] | None = None, **options: bool) -> tuple[Hook, Any]:
    """Run a cell with the hook; the value of its name ``y``."""
    hook, names = Hook(), {} if names is None else names
    exec(instrument_cell(Source.plain(text), hook, **options), names)
    return hook, names.get("y")


def functions(text: str) -> dict[str, Any]:
    """What a cell defines, whose source is known."""
    names: dict[str, Any] = {}
    exec(Source.plain(text).compiled(), names)
    return names


def test_a_call_is_known_by_its_text_its_line_and_its_file() -> None:
    hook, y = run("x = 1\ny = abs(\n    max(-3, x - 5))")
    assert y == 3
    assert hook.texts == ["abs(max(-3, x - 5))", "max(-3, x - 5)"]
    assert hook.functions == [abs, max]
    assert [site.line for site in hook.sites] == [2, 3]
    (file,) = {site.file for site in hook.sites}
    assert file.startswith("<fwtime ")


@pytest.mark.parametrize(
    ("text", "seen"),
    [("y = locals()", 0), ("y = len('a')", 0), ("y = type(3)", 0), ("y = [*zip('a', 'b')]", 0),
     ("y = sys._getframe().f_lineno", 0), ("y = frame.query(3)", 0), ("y = frame.eval(3)", 0),
     ("y = frame.evaluate(3)", 0), ("y = keras.evaluate(3)", 1),
     # These are methods, and only called like such a function.
     ("y = frame.len(-1) + frame.type(-2)", 2)],
)  # fmt: skip
def test_what_may_look_at_the_frame_that_calls_it_is_left_alone(text: str, seen: int) -> None:
    class Frame:
        query = eval = len = type = evaluate = staticmethod(operator.neg)

    class Model:
        def evaluate(self, x: int) -> int:
            return -x

    hook, y = run(text, {"sys": sys, "frame": Frame(), "keras": Model()})
    assert y
    assert len(hook.texts) == seen


@pytest.mark.parametrize(
    ("sign", "function", "value"),
    [
        ("+", operator.add, 9), ("-", operator.sub, 5), ("*", operator.mul, 14),
        ("/", operator.truediv, 3.5), ("//", operator.floordiv, 3), ("%", operator.mod, 1),
        ("**", operator.pow, 49), ("&", operator.and_, 2), ("|", operator.or_, 7),
        ("^", operator.xor, 5), ("<<", operator.lshift, 28), (">>", operator.rshift, 1),
    ],
)  # fmt: skip
def test_operators_are_calls_where_asked_for(
    sign: str, function: Callable[..., Any], value: float
) -> None:
    hook, y = run(f"y = 7 {sign} 2", operators=True)
    assert (y, hook.texts, hook.functions) == (value, [f"7 {sign} 2"], [function])
    hook, y = run(f"y = 7 {sign} 2")
    assert (y, hook.texts) == (value, [])


def test_operators_inside_of_others_are_calls_too() -> None:
    hook, y = run("y = (p @ p) - 2 * 4", {"p": np.ones(3)}, operators=True)
    assert (y, hook.texts) == (-5, ["p @ p - 2 * 4", "p @ p", "2 * 4"])
    assert hook.functions == [operator.sub, operator.matmul, operator.mul]


DEFINES = """\
def mark(n): return lambda f: f
@mark(abs(1))
def f(x=abs(2)):
    return abs(x)
async def g(x=abs(3)): return abs(x)
k = lambda x=abs(4): abs(x)
y = f(-5), k(-6)
"""
OUTSIDE = ["mark(abs(1))", "abs(1)", "abs(2)", "abs(3)", "abs(4)", "f(-5)", "k(-6)"]


def test_bodies_of_functions_are_entered_unless_they_are_to_stay() -> None:
    hook, y = run(DEFINES)
    assert y == (5, 6)
    assert [text for text in hook.texts if text != "abs(x)"] == OUTSIDE
    assert hook.texts.count("abs(x)") == 2
    names: dict[str, Any] = {}
    hook, y = run(DEFINES, names, aside=True)
    assert y == (5, 6)
    assert hook.texts == OUTSIDE
    plain = functions(DEFINES)
    for name in ("f", "g", "k"):
        assert names[name].__code__ == plain[name].__code__
        assert fingerprint(names[name].__code__) == fingerprint(plain[name].__code__)


def test_calls_in_f_strings_are_known_by_the_line_of_the_string() -> None:
    hook, y = run('x = 1\ny = f"""\n\n{abs(-1)}"""')
    assert y == "\n\n1"
    assert [site.line for site in hook.sites] in ([2], [4])  # from Python 3.12 on by their own
    assert hook.texts == ["abs(-1)"]


def test_functions_have_the_hook_for_as_long_as_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(inspect, "getmodule")  # which takes milliseconds for each function
    names = functions("def f(x):\n    return abs(x) + 1\n\n\nclass C:\n"
                      "    @staticmethod\n    def m(x):\n        return abs(x)")  # fmt: skip
    f, m, hook = names["f"], names["C"].m, Hook()
    before = f.__code__, m.__code__
    exec("def gone(x): return abs(x)", names)
    given = [len, names["gone"], f, 3, m]
    with suppress(KeyError), instrument_functions(given, hook) as hooked:
        assert hooked == [f, m]
        assert (f(-1), m(-2), names["gone"](-3)) == (2, 2, 3)
        raise KeyError
    assert (f.__code__, m.__code__) == before
    assert (f(-1), m(-2)) == (2, 2)
    assert [(site.line, site.text) for site in hook.sites] == [(2, "abs(x)"), (8, "abs(x)")]


@pytest.mark.parametrize(
    ("text", "name", "value", "seen"),
    [
        (("import functools\ndef f(x): return abs(x)\n"
         "@functools.wraps(f)\ndef g(x):\n    return f(max(x, -2))\n"),
         "g", 2, ["f(max(x, -2))", "max(x, -2)"]),  # it wraps another one
        # Of two functions on one line none is taken for the other.
        ("f, g = lambda x: abs(x), lambda x: abs(x) + 1", "f", 5, None),
        ("f, g = lambda x: abs(x), lambda x: abs(x) + 1", "g", 6, None),
        (("from __future__ import annotations\ndef f(x):\n    def g(y: unknown): abs(x)\n"
         "    return g.__annotations__"), "f", {"y": "unknown"}, []),
    ],
)  # fmt: skip
def test_the_hook_is_in_its_own_code(
    text: str, name: str, value: object, seen: list[str] | None
) -> None:
    function, hook = functions(text)[name], Hook()
    with instrument_functions([function], hook) as hooked:
        assert function(-5) == value
    if seen is not None:
        assert (hooked, hook.texts) == ([function], seen)


def test_functions_that_hooked_code_makes_have_their_own_names() -> None:
    text = "class A:\n    def make(self, z):\n        def inner(): return z\n        return inner"
    made = functions(text)["A"].make
    with instrument_functions([made], Hook()):
        assert made(None, 3).__qualname__ == "A.make.<locals>.inner"
