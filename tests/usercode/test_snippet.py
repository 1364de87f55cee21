"""Code that is compiled once and run in a loop."""

import ast
import asyncio
import itertools
import textwrap
import traceback
from typing import Any

import pytest

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.usercode.awaiting import run_in_new_loop
from ipyjaxbench.usercode.snippet import Snippet, Source


def snippet(code: str, names: dict[str, Any] | None = None) -> Snippet:
    """Code outside of a notebook."""
    return Snippet(Source.plain(textwrap.dedent(code)), {} if names is None else names)


def run(code: str, names: dict[str, Any], turns: int = 1, **how: Any) -> list[Any]:
    """Run code in a loop; give what was handed over in each turn."""
    handed: list[Any] = []
    kept = how.pop("kept", ())
    loop = snippet(code, names).loop(**how)
    loop(itertools.repeat(None, turns), itertools.count().__next__, handed.append, kept)
    return handed


@pytest.mark.parametrize(("code", "reads", "binds", "carried"), [
    ("f(x)", "f x", "", ""),
    ("y = f(x)", "f x", "y", ""),
    ("x += 1", "x", "x", "x"),
    ("x = 1; y = x", "x", "x y", ""),
    ("y = x; x = 1", "x", "y x", "x"),
    ("p, q = q, p", "q p", "p q", "q p"),
    ("x[0] = 1", "x", "", ""),
    ("del x", "", "x", ""),
    ("import a.b, c.d as e; from f import g", "", "a e g", ""),
    ("for i in x: pass", "x", "i", ""),
    ("with a as b: b", "a b", "b", ""),
    ("try: f()\nexcept E as e: pass", "f E", "e", ""),
    ("[i * k for i in x]", "x k", "", ""),
    ("[y := i for i in x]", "x", "y", ""),
    ("@d\ndef f(a=b): return c", "d b c", "f", ""),
    ("def f():\n  global g\n  g = h", "h", "g f", ""),
    ("def f():\n  def g(): return x\n  return g", "x", "f", ""),
    ("class A:\n  def f(self): return z", "z", "A", ""),
    ("class A:\n  y = x", "x", "A", ""),
    ("match x:\n  case [a, b]: pass", "x", "a b", ""),
    ("step = lambda: step", "step", "step", "step"),
    ("while x: x = g(x)", "x g", "x", "x"),
])  # fmt: skip
def test_the_names_of_code_are_known(code: str, reads: str, binds: str, carried: str) -> None:
    found = snippet(code)
    assert set(found.reads) == set(reads.split())
    assert set(found.binds) == set(binds.split())
    assert set(found.carried) == set(carried.split())


@pytest.mark.parametrize("turns", [0, 1, 2, 1000])
@pytest.mark.parametrize("code", ["n += 1", "exec('n += 1')", "global n; n += 1"])
def test_a_loop_makes_as_many_turns_as_it_is_told(code: str, turns: int) -> None:
    names = {"n": 0}
    run(code, names, turns)
    assert names["n"] == turns


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("from math import *\nr = pi", 3.141592653589793),
        ("x = 1\nr = locals()['x']", 1), ("x = 1\nr = vars()['x']", 1),
        ("x = 1\nr = 'x' in dir()", True), ("exec('r = 5')", 5), ("r: int = 5", 5),
        ("global r\nr = 5", 5), ("from __future__ import annotations\nr = 5", 5),
        ("eval('(r := 5)')", 5), ("r = globals()['k']", 7),
        ("def f(): return k\nr = f()", 7), ("f = lambda: k\nr = f()", 7),
        ("class A:\n    b = k\n    def m(self): return A.b + k\nr = A().m()", 14),
        ("r = [i * k for i in range(2)]", [0, 7]), ("r = sum(i * k for i in range(3))", 21),
        ("def f():\n    global r\n    r = k\nf()", 7),
        ("def f(n): return n * f(n - 1) if n else 1\nr = f(3)", 6),
        ("[r := i for i in range(4)]", 3),
    ],
)  # fmt: skip
def test_code_means_what_it_means_in_a_cell(code: str, result: object) -> None:
    names = {"k": 7}
    run(code, names, 2)
    assert names["r"] == result


def test_names_are_bound_in_the_namespace_and_nothing_else_is() -> None:
    code, names = "'no docstring'\ny = '''a\n  b\n'''\nfor i in range(3): z = i", dict[str, Any]()
    run(code, names)
    snippet(code, names).run()
    names.pop("__builtins__", None)
    assert names == {"y": "a\n  b\n", "i": 2, "z": 2}  # a string keeps its lines
    clock = [0]
    loop = snippet("clock[0] += 7", {"clock": clock}).loop()
    assert loop(itertools.repeat(None, 5), lambda: clock[0], print, ()) == 35  # the time it took


@pytest.mark.parametrize(("code", "how", "handed"), [
    ("x + 1", {"value": True}, [8, 8]),
    ("y = x", {"waits": ["y"]}, [7, 7]),
    ("y = x; y + 1", {"value": True, "waits": ["y"]}, [(8, 7), (8, 7)]),
    ("y = x; z = 2", {"waits": ["y", "z"]}, [(7, 2), (7, 2)]),
    ("y: int = x", {"waits": ["y"]}, [7, 7]),
    ("y: int = x; z = 2", {"waits": ["y", "z"]}, [(7, 2), (7, 2)]),
    ("x + 1", {"waits": []}, [(), ()]),
    ("x + 1", {}, []),
])  # fmt: skip
def test_what_to_wait_for_is_handed_over(code: str, how: dict, handed: list) -> None:
    assert run(code, {"x": 7}, 2, **how) == handed


@pytest.mark.parametrize("first", ["", "global extra\n", "from math import *\n"])
def test_names_are_set_back_in_each_turn(first: str) -> None:
    names: dict[str, Any] = {"x": 0, "y": 0, "seen": []}
    code = f"{first}seen.append((x, y)); x = x + 1; y = y + x"
    run(code, names, 3, resets=("x", "y"), kept=(10, 20))
    assert names["seen"] == [(10, 20)] * 3
    assert (names["x"], names["y"]) == (11, 31)
    one: dict[str, Any] = {"x": (), "seen": []}
    run(f"{first}seen.append(x); x = x + (2,)", one, 2, resets=("x",), kept=(1,))
    assert one["seen"] == [(1,), (1,)]  # one name has the kept value, also where that is a tuple


@pytest.mark.parametrize("first", ["x = 1", "from math import *"])
def test_a_traceback_shows_the_line_that_failed(first: str) -> None:
    code = f"{first}\ndef broken():\n    return 1 / 0  # here\nz = broken()\ny = 3"
    with pytest.raises(ZeroDivisionError) as raised:
        run(code, {})
    outer, inner = traceback.extract_tb(raised.value.__traceback__)[-2:]
    assert (outer.lineno, outer.line, outer.name) == (4, "z = broken()", "<module>")
    assert (inner.lineno, inner.line, inner.name) == (3, "return 1 / 0  # here", "broken")


def test_an_error_that_shows_while_waiting_belongs_to_the_last_line() -> None:
    def wait(_: object) -> None:
        raise FloatingPointError

    loop = snippet("y = 1\ny + 1").loop(value=True)
    with pytest.raises(FloatingPointError) as raised:
        loop(itertools.repeat(None, 1), itertools.count().__next__, wait, ())
    assert traceback.extract_tb(raised.value.__traceback__)[-2].line == "y + 1"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        *((code, "there is no code to time; give a statement such as f(x)")
          for code in ("", "  \n", "# only a comment")),
        ("'f(x)'", "'f(x)' is a string, so nothing would be timed. Type it without quotes: f(x)"),
    ],
)  # fmt: skip
def test_code_that_cannot_be_timed_is_refused_in_one_line(code: str, message: str) -> None:
    with pytest.raises(SnippetError) as raised:
        snippet(code)
    assert str(raised.value) == message
    for invalid in ("f(", "return 1", "yield 1", "break", "nonlocal x"):
        with pytest.raises(SyntaxError):
            snippet(invalid)


@pytest.mark.parametrize(
    ("code", "frames", "has_value"),
    [("f(x)", 1, True), ("y = 1; y", 1, True), ("y = 1", 1, False), ("f();", 1, True),
     ("if x: y", 1, False), ("exec('y')", 2, False), ("y: int = 1", 2, False), ("3", 1, True),
     ("'f(x)'\ny", 1, True)],
)  # fmt: skip
def test_each_run_has_its_frames_on_the_stack_and_an_expression_at_the_end_its_value(
    code: str, frames: int, has_value: bool
) -> None:
    found = snippet(code)
    assert (found.frames, found.has_value) == (frames, has_value)
    assert found.looks_at_names is code.startswith("exec")
    behind = snippet("get_ipython().run_line_magic('time', 'y = f(x)')")
    assert (behind.reads, behind.binds) == (("get_ipython", "f", "x"), ("y",))
    assert behind.looks_at_names
    typed = snippet("  \n c = b( a ); d = c\n")
    assert typed.text == "c = b( a ); d = c"
    assert (typed.reads, typed.binds) == (("b", "a", "c"), ("c", "d"))  # in that order


def test_a_part_of_the_code_is_code_with_the_same_lines() -> None:
    found = snippet("x = 1\ny = f(\n    1 / 0)")
    part = found.as_expression(found.statements[1].value)  # type: ignore[attr-defined]
    assert ast.unparse(part.tree) == "f(1 / 0)"
    with pytest.raises(ZeroDivisionError) as raised:
        exec(part.compiled(), {"f": len})
    assert traceback.extract_tb(raised.value.__traceback__)[-1].lineno == 3


@pytest.mark.parametrize("first", ["", "from math import *\n"])
def test_a_loop_of_code_that_awaits_is_awaited_to_its_end(first: str) -> None:
    async def step() -> int:
        await asyncio.sleep(0)
        turns.append(1)
        return len(turns)

    turns: list[int] = []
    names: dict[str, Any] = {"step": step}
    handed = run_in_new_loop(lambda: run(f"{first}y = await step()", names, 3, waits=["y"]))
    assert (len(turns), names["y"], handed) == (3, 3, [1, 2, 3])


@pytest.mark.parametrize(
    ("code", "awaits"),
    [
        ("await f()", True), ("y = g(await f())", True), ("async with a: pass", True),
        ("async for i in a: pass", True), ("[i async for i in a]", True),
        ("from m import *; await f()", True), ("async def f(): await g()", False),
        ("g = lambda: f()", False), ("f()", False),
    ],
)  # fmt: skip
def test_code_that_awaits_outside_of_functions_says_so(code: str, awaits: bool) -> None:
    assert snippet(code).awaits is awaits
