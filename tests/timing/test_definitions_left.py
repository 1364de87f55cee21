"""Functions, classes, and what code comes to by texts in it, are as after one run of it."""

import pytest

from tests.left import Cell, check_left
from tests.shell import Shell

KINDS = "class A:\n    n = 0\nclass B:\n    n = 0\no = A(); o.n = 0"
CLOSED = "def make():\n    n = 0\n    return lambda: n\nf = make()"
BELOW = "class P:\n    n = 0\nclass Q(P):\n    n = 0\n"
USER = "from tests import user_module as um; um.N = 0; import importlib, sys"
MODULE = "tests.user_module"

CELLS = {
    "defaults": Cell("def f(x=0): return x", "f.__defaults__ = (f.__defaults__[0] + 1,)", "f()"),
    "defaults by name": Cell("def f(*, x=0): return x",
                             "f.__kwdefaults__ = {'x': f.__kwdefaults__['x'] + 1}", "f()"),
    "an entry of these": Cell("def f(*, x=0): return x", "f.__kwdefaults__['x'] += 1", "f()"),
    "in a function": Cell(
        "def f(x=0): return x\ndef g(): f.__defaults__ = (f.__defaults__[0] + 1,)", "g()", "f()"),
    "what it is called": Cell(
        "def f(): 'x'", "f.__doc__ += 'y'; f.__name__ += 'z'; f.__qualname__ += 'z'",
        "f.__doc__, f.__name__, f.__qualname__"),
    "its code": Cell("def f(): return 0\nh = [f]; from types import FunctionType",
                     "f.__code__ = f.__code__.replace(co_consts=(None, f() + 1))", "f()"),
    "a cell": Cell(CLOSED, "f.__closure__[0].cell_contents += 1", "f()"),
    "a class": Cell(KINDS, "o.__class__ = B if type(o) is A else A", "type(o).__name__"),
    "a class in a function": Cell(
        f"{KINDS}\ndef f(): o.n += 1; o.__class__ = B if type(o) is A else A", "f()",
        "type(o).__name__, o.n"),
    "a class in a method": Cell(
        "class A:\n    def go(self): self.__class__ = B\n"
        "class B:\n    def go(self): self.__class__ = A\no = A()", "o.go()", "type(o).__name__"),
    "classes below one": Cell(f"{BELOW}def f():\n    for each in P.__subclasses__(): each.n += 1",
                              "f()", "Q.n"),
    "a global of an inner function": Cell(
        "x = 0\ndef f():\n    def inner():\n        global x; x += 1\n    inner()", "f()", "x"),
    "a global of the last of many functions": Cell(
        "x = 0\ndef f(n):\n    def g(): return n\n    return g\ndef last():\n    global x; x += 1\n"
        "fs = [*map(f, range(1500)), last]", "[f() for f in fs]", "x"),
    "a global of a function far below": Cell(
        "x = 0\ndef f0():\n    global x; x += 1\n"
        "for i in range(9):\n    exec(f'def f{i + 1}(): f{i}()')", "f9()", "x"),
    "the default of a context variable": Cell(
        "import contextvars; v = contextvars.ContextVar('v', default=[])", "v.get().append(1)",
        "v.get()"),
    "exec": Cell("l = []", "exec('l.append(1)')", "l"),
    "eval": Cell("l = []", "eval('l.append(1)')", "l"),
    "exec in a function": Cell("l = []\ndef f(): exec('l.append(1)')", "f()", "l"),
    "a text in a variable": Cell("l, code = [], 'l.append(1)'", "exec(code)", "l"),
    "code in a variable": Cell("l, code = [], compile('l.append(1)', '', 'exec')", "exec(code)",
                               "l"),
    "a text that is no code": Cell("l, code = [], 'no code:'",
                                   "l.append(1)\ntry: exec(code)\nexcept SyntaxError: pass", "l"),
    "a method of that name": Cell(
        "class M:\n    def eval(self): self.n = 1\nm, x = M(), 1", "m.eval(), 'x'", "m.n"),
    "globals()": Cell("l = []\ndef f(): globals()['l'].append(1)", "f()", "l"),
    "names of a frame": Cell(
        "import sys; l = []\ndef f(): sys._getframe().f_globals['l'].append(1)", "f()", "l"),
    "a name by a frame": Cell("import sys; G = 0\ndef f(): sys._getframe().f_globals['G'] += 1",
                              "f()", "G"),
    "a module": Cell(USER, f"importlib.import_module('{MODULE}').bump()", "um.N"),
    "a module in a function": Cell(
        f"{USER}\ndef f(): importlib.import_module('{MODULE}').bump()", "f()", "um.N"),
    "a module that is imported by a text": Cell(USER, f"__import__('{MODULE}').user_module.bump()",
                                                "um.N"),
    "one that is looked up": Cell(USER, f"sys.modules['{MODULE}'].bump()", "um.N"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])
