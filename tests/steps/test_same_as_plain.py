"""A cell with marks does what it does without them: names, errors, lines, what runs how often."""

import traceback
from typing import Any

import pytest

from ipyjaxbench.steps import time_loop
from ipyjaxbench.usercode import Source, run_in_new_loop

CELLS = {
    "break, continue, else and inner loops": """
out, t, fs = [], 0, []
for i in range(9):
    if i == 2: continue
    if i == 5:
        break
    while True:
        t += 1
        if t % 2: break
        if t % 3: continue
    fs.append(lambda i=i: [i * j for j in range(3) if j != i])
    class A:
        x = i
else:
    out.append("else")
r = [f() for f in fs], A.x
del fs, A
""",
    "no step": "for i in []:\n    pass\nelse:\n    j = 3",
    "return in a function, over errors that are caught": """
def find(n):
    for i in range(n):
        try:
            seen.append(1 / (i % 3))
            if (k := i * 2) > 6:
                return [j + k for j in range(i)]
        except ZeroDivisionError as error:
            seen.append(str(error))
            continue
        else:
            seen.append("fine")
        finally:
            seen.append(i)
    return None
seen = []
found, missed = find(9), find(2)
""",
    "next": """
def pairs(it):
    for a in it:
        yield a, next(it, None)
p = list(pairs(iter(range(5))))
it = iter(range(20))
got = []
for i in range(5):
    got.append(next(it) + next(it, 3))
    if (last := next(it)) > 100: break
""",
    "match, with, del, global": """
import contextlib
n = 0
def count():
    global n
    for i in range(4):
        n += 1
        match i:
            case 1: n += 10
            case _: pass
        with contextlib.nullcontext(i) as k:
            n += k
        temporary = k
        del temporary
count()
""",
    "targets, an iterator's own moves, and strings over lines": '''
d, items = {}, [(1, 2, 3), (4, 5)]
for d["k"], *rest in items:
    total = sum(rest)
    text = """a
  b %d
""" % total
    if len(items) < 3: items.append((9,))
''',
}


def names_after(code: str, *, marked: bool) -> tuple[dict[str, Any], Any]:
    """What is bound, and what was raised."""
    names: dict[str, Any] = {"__name__": "cell"}
    source = Source.plain(code)
    error: BaseException | None = None
    if marked:
        _, error = time_loop(source, names)
    else:
        try:
            exec(source.compiled(), names)
        except BaseException as raised:
            error = raised
    plain = {n: v for n, v in names.items() if n not in ("__builtins__", "contextlib")}
    return {n: v for n, v in plain.items() if not callable(v) and n != "it"}, error


@pytest.mark.parametrize("code", CELLS.values(), ids=CELLS)
def test_names_are_bound_as_without_marks(code: str) -> None:
    plain, nothing = names_after(code, marked=False)
    assert nothing is None
    assert names_after(code, marked=True) == (plain, None)


FAILING = {
    "in a statement": "for i in range(5):\n    a = i\n    if i == 3:\n        b = 1 / 0\n    c = 1",
    "in the loader": "def g():\n    yield 1\n    raise OSError('bad')\nfor i in g():\n    a = i",
    "in next": "it = iter([1])\nfor i in range(3):\n    x = (\n        next(it))",
    "in an exit": "import sys\nfor i in range(3):\n    sys.exit(3)",
    "not iterable": "a = 3\nfor i in a:\n    pass",
    "unpacking": "for a, b in [(1, 2), (3,)]:\n    c = a",
}


@pytest.mark.parametrize("code", FAILING.values(), ids=FAILING)
def test_an_error_is_the_same_in_the_same_lines(code: str) -> None:
    plain_names, plain = names_after(code, marked=False)
    names, error = names_after(code, marked=True)
    assert (type(error), str(error)) == (type(plain), str(plain))
    assert names == plain_names

    def lines(raised: BaseException) -> list[tuple[str, Any]]:
        entries = traceback.extract_tb(raised.__traceback__)
        return [(e.name, e.lineno) for e in entries if e.filename.startswith("<fwtime")]

    assert lines(error) == lines(plain)
    ours = traceback.extract_tb(error.__traceback__)[1:]
    assert not [e for e in ours if "ipyjaxbench" in e.filename]


def test_a_function_of_the_cell_has_no_marks_afterwards() -> None:
    names: dict[str, Any] = {}
    code = "def f(n):\n    for i in range(n):\n        a = i\n    return a\nf(5)"
    found, error = time_loop(Source.plain(code), names)
    assert (found.count, error) == (5, None)
    plain: dict[str, Any] = {}
    exec(Source.plain(code).compiled(), plain)
    assert names["f"].__code__.co_code == plain["f"].__code__.co_code
    assert (names["f"](9), found.count) == (8, 5)


def test_each_statement_of_a_line_is_told_by_its_own_text() -> None:
    code = (
        "for i in range(9):\n    é = i; b = é\n    if i: c = i  # not 0\n    else:\n        d = i"
    )
    found, _ = time_loop(Source.plain(code), {})
    assert [(each.line, each.text) for each in found.lines] == [
        (1, "for i in range(9):"), (2, "é = i"), (2, "b = é"), (3, "if i:"),
        (3, "c = i  # not 0"), (5, "d = i"),
    ]  # fmt: skip


def test_a_loop_may_await() -> None:
    code = """
import asyncio
async def numbers():
    for i in range(6):
        await asyncio.sleep(0)
        yield i
other = numbers()
got = []
async for i in numbers():
    if i == 4: break
    got.append((i, await anext(other)))
"""
    names: dict[str, Any] = {}
    found, error = run_in_new_loop(time_loop, Source.plain(code), names)
    assert error is None
    assert names["got"] == [(i, i) for i in range(4)]
    assert found.count == 5
