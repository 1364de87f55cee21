"""Functions are looked into by copies; themselves they stay as they are."""

import linecache
from types import CodeType, FunctionType
from typing import Any

import pytest

from ipyjaxbench.usercode.instrument import instrument_cell
from ipyjaxbench.usercode.instrument_copies import CopyingHook
from ipyjaxbench.usercode.snippet import Source
from tests.usercode.hook import Hook


class Run:
    """A cell that was run with copies of the functions in it."""

    def __init__(self, text: str, *not_entered: str, **names: Any) -> None:
        self.asked: list[str] = []
        self.names, self._not_entered = names, not_entered
        self.hook, source = Hook(), Source.plain(text)
        copying = CopyingHook(self.hook, source, self._enters)
        exec(instrument_cell(source, copying, aside=True), names)
        self.texts = [*self.hook.texts]

    def _enters(self, function: FunctionType) -> bool:
        self.asked.append(function.__name__)
        return function.__name__ not in self._not_entered


TEXT = """\
def g(x):
    return abs(x)
def f(x):
    return g(x) + 1
y = f(-2), f(-3)
"""


def test_calls_in_functions_are_seen_and_the_functions_stay() -> None:
    ran = Run(TEXT)
    assert ran.asked == ["f", "g"]  # each once
    assert ran.names["f"](-4) == 5
    assert ran.hook.texts == ran.texts
    assert ran.names["f"] not in ran.hook.functions
    ran = Run(TEXT, "g")
    assert ran.names["y"] == (3, 4)
    assert ran.texts == ["f(-2)", "g(x)", "f(-3)", "g(x)"]
    assert ran.hook.functions[1] is ran.names["g"]


@pytest.mark.parametrize(
    ("text", "y", "seen"),
    [
        (TEXT, (3, 4), ["f(-2)", "g(x)", "abs(x)", "f(-3)", "g(x)", "abs(x)"]),
        (("def f(xs):\n    class C:\n        size = len(xs) + max(xs)\n"
         "    return [abs(x) for x in xs], {*(min(x, 0) for x in xs)}, C.size\ny = f([-1, 2])"),
         ([1, 2], {-1, 0}, 4),
         ["f([-1, 2])", "max(xs)", *["abs(x)"] * 2, *["min(x, 0)"] * 2]),
        ("def same(f): return f\n@same\n@same\ndef f(x):\n    return abs(x)\ny = f(-1)",
         1, ["f(-1)", "abs(x)"]),
        ("async def g():\n    abs(2)\ny = 0\ntry: g().send(None)\nexcept StopIteration: pass",
         0, ["g()", "g().send(None)", "abs(2)"]),
        ("f = lambda x: abs(x)\ny = f(-2)", 2, ["f(-2)", "abs(x)"]),
        # Of two functions on one line none is taken for the other.
        ("f, g = lambda x: abs(x), lambda x: abs(x) + 1\ny = f(-2), g(-2)",
         (2, 3), ["f(-2)", "g(-2)"]),
    ],
)  # fmt: skip
def test_calls_in_functions_of_every_kind_are_seen(text: str, y: object, seen: list[str]) -> None:
    ran = Run(text)
    assert ran.names["y"] == y
    assert ran.texts == seen


def test_methods_are_looked_into_and_keep_their_object() -> None:
    text = "class C:\n    def m(self): return abs(self.n)\nc = C()\nc.n = -3\nm = c.m\ny = m()"
    ran = Run(f"{text}\nz = [].append(1)")
    assert ran.names["y"] == 3
    assert ran.texts == ["C()", "m()", "abs(self.n)", "[].append(1)"]
    method = ran.hook.functions[1]
    assert method.__self__ is ran.names["c"]
    assert method.__func__ is not ran.names["C"].m
    ran = Run(text, "m")
    assert ran.texts == ["C()", "m()"]
    assert ran.hook.functions[1] is ran.names["m"]


def test_a_copy_has_all_that_the_function_has() -> None:
    ran = Run(
        "def make(n):\n    def made(x, y=2, *, z=3):\n        return abs(x) + y + z + n\n"
        "    made.mark = 4\n    return made\n"
        "made = make(1000)\ny = made(-10), made(-10, 20, z=30)"
    )
    assert ran.names["y"] == (1015, 1060)
    made, copied = ran.names["made"], ran.hook.functions[1]
    assert copied is not made
    assert (copied.__qualname__, copied.mark) == (made.__qualname__, 4)
    assert copied.__defaults__ == (2,)


def test_functions_that_a_copy_defines_have_the_code_that_is_known_of_them() -> None:
    ran = Run("def make(n):\n    abs(n)\n    def made(x): return abs(x) + n\n    return made\n"
              "made = make(1)\ny = made(-2)")  # fmt: skip
    assert ran.names["y"] == 3
    assert ran.texts == ["make(1)", "abs(n)", "made(-2)", "abs(x)"]
    consts = ran.names["make"].__code__.co_consts
    (known,) = (each for each in consts if type(each) is CodeType)
    assert ran.names["made"].__code__ is known


def test_functions_of_other_files_are_looked_into_where_their_source_is_known() -> None:
    other, broken = Source.plain("def f(x):\n    return abs(x)"), "<broken>"
    names: dict[str, Any] = {}
    exec(other.compiled(), names)
    linecache.cache[broken] = 5, None, ["def (\n"], broken
    exec(compile("def b(x): return abs(x)\ndef c(x): return abs(x)", broken, "exec"), names)
    exec(compile("def d(x): return abs(x)", "<gone>", "exec"), names)
    ran = Run("y = f(-1), b(-2), c(-3), d(-4)", **{n: names[n] for n in "fbcd"})
    assert ran.names["y"] == (1, 2, 3, 4)
    assert ran.texts == ["f(-1)", "abs(x)", "b(-2)", "c(-3)", "d(-4)"]
