"""What a class of the user's takes over from one in C is as after one run, or told by name."""

import pytest

from tests.left import Cell, check_left
from tests.shell import Shell


def made(base: str, body: str, make: str = "") -> str:
    """Code that makes `m` of a class that extends a base and counts what its method `go` does."""
    module = base.rpartition(".")[0]
    return (
        f"import {module or 'io'}, io, itertools\n"
        f"class M({base}):\n    n = 0\n    def go(s): s.n += 1; {body}\n"
        f"m = {make or 'M()'}"
    )


FILE = "M(io.BytesIO())"
CELLS = {
    "map": Cell(made("map", "next(s)", "M(abs, iter(range(99)))"), "m.go()", "0", told="m"),
    "an iterator that counts nothing": Cell(
        "class M(map):\n    def go(s): return next(s)\nm = M(abs, iter(range(99)))", "m.go()", "0",
        told="m"),
    "cycle": Cell(made("itertools.cycle", "next(s)", "M(range(99))"), "m.go()", "0", told="m"),
    "one in an object": Cell(
        made("itertools.cycle", "next(s)", "M(range(99))") + "\nclass Box:\n    n = 0\n"
        "    def go(s): s.n += 1; s.held.go()\nb = Box(); b.held = m; del m", "b.go()", "0",
        told="b"),
    "in a function": Cell(
        made("itertools.cycle", "next(s)", "M(range(99))") + "\ndef f(): m.go()", "f()", "0",
        told="m"),
    "a file": Cell(made("io.TextIOWrapper", "s.write('x')", FILE), "m.go()", "0", told="m"),
    "mapped memory": Cell(made("mmap.mmap", "s.write(b'x')", "M(-1, 99)"), "m.go()",
                          "m.n, m.tell(), m[:3]", "m.close()"),
    "decimal": Cell(made("decimal.Context", "s.prec += 1"), "m.go()", "m.n, m.prec"),
    "random": Cell(made("random.Random", "s.random()", "M(3)"), "m.go()", "m.n, m.random()"),
    "random in C": Cell(made("_random.Random", "s.random()", "M(3)"), "m.go()", "m.n, m.random()"),
    "random in C alone": Cell("import _random; m = _random.Random(3)", "m.random()", "m.random()"),
    "an error": Cell(made("Exception", "s.args += (1,)"), "m.go()", "m.n, m.args"),
    "what an error was given": Cell(made("Exception", "s.args[0].append(1)", "M([])"), "m.go()",
                                    "m.n, m.args"),
    "an error of the system": Cell(made("OSError", "s.errno += 1", "M(1, 'x')"), "m.go()",
                                   "m.n, m.errno"),
    "an error that is raised": Cell(
        "class M(Exception):\n    n = 0\nm = M(1)\ndef f():\n    m.n += 1\n    try: raise m\n"
        "    except M: pass", "f()", "m.n, m.args"),
    "errors that are made": Cell(
        "class M(ValueError): pass\nn = [0]\ndef f():\n    n[0] += 1\n    try: raise M(1)\n"
        "    except M: pass", "f()", "n"),
    **{base: Cell(made(base, "0", make), "m.go()", "m.n")
       for base, make in (("int", ""), ("str", ""), ("tuple", ""), ("decimal.Decimal", ""),
                          ("datetime.datetime", "M(1, 1, 1)"), ("io.TextIOBase", ""),
                          ("struct.Struct", "M('i')"), ("threading.local", ""),
                          ("collections.defaultdict", ""), ("types.SimpleNamespace", ""))},
    "slots": Cell("class A:\n    __slots__ = ('n',)\nclass B(A):\n    __slots__ = ('k',)\n"
                  "m = B(); m.n = m.k = 0", "m.n += 1; m.k += 1", "m.n, m.k"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])
