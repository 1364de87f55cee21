"""Objects of Python's own library are as after one run of what was timed, or told by name."""

import pytest

from ipyjaxbench.frameworks.state import copy_budget
from tests.left import Cell, check_left
from tests.shell import Shell

LOG = (
    "import logging, logging.handlers, io, queue; lg = logging.getLogger('fw_objects');"
    " lg.propagate = False; lg.setLevel(10); lg.handlers.clear()"
)
CLEAR = "lg.handlers.clear()"
LOOP = "import asyncio; loop = asyncio.new_event_loop()"
DB = "import sqlite3; db = sqlite3.connect(':memory:')"

PICKLER = "import pickle, io; b = io.BytesIO(); p = pickle.Pickler(b)"
SORTED = "import functools; l = []; k = functools.cmp_to_key(lambda a, b: l.append(1) or 0)"

CELLS = {
    "an order": Cell(SORTED, "sorted([1, 2], key=k)", "l"),
    "keys of an order": Cell(f"{SORTED}; a, b = k(1), k(2)", "a < b", "l"),
    "a pickler": Cell(PICKLER, "p.dump([1, 2])", "0", told="p"),
    "an unpickler": Cell(
        "import pickle, io; b = io.BytesIO(pickle.dumps(1) * 9); p = pickle.Unpickler(b)",
        "p.load()", "b.tell()"),
    "a profile": Cell("import cProfile; p = cProfile.Profile()", "p.runcall(abs, 1)", "0",
                      told="p"),
    "an error": Cell("e = ValueError([])\ndef f(): e.args[0].append(1); e.args += (1,)", "f()",
                     "e.args"),
    "notes of an error": Cell("e = ValueError()", "e.args += (1,); e.zz = len(e.args)",
                              "e.args, e.zz"),
    "defaults of a dictionary": Cell(
        "import collections; d = collections.defaultdict(int)\ndef f():"
        "\n    d.default_factory = list if d.default_factory is int else int", "f()",
        "d.default_factory"),
    "what a future calls": Cell(
        "from concurrent.futures import Future; f = Future()", "f.add_done_callback(print)", "0",
        told="f"),
    "elements one by one": Cell("import numpy as np; a = np.zeros(3); f = a.flat", "f[0] += 1",
                                "a.tolist()"),
    "several arrays at once": Cell(
        "import numpy as np; a = np.zeros(3); n = np.nditer(a, op_flags=['readwrite'])",
        "n[0][...] += 1", "a.tolist()"),
    "a function of NumPy": Cell(
        "import numpy as np; l = []; u = np.frompyfunc(lambda x: l.append(x), 1, 1)", "u(1)", "l"),
    "a handler of text": Cell(f"{LOG}; b = io.StringIO(); lg.addHandler(logging.StreamHandler(b))",
                              "lg.info('x')", "b.getvalue()", CLEAR),
    "a handler that keeps": Cell(
        f"{LOG}; h = logging.handlers.MemoryHandler(1000); lg.addHandler(h)", "lg.info('x')",
        "len(h.buffer)", CLEAR),
    "a handler of a queue": Cell(
        f"{LOG}; q = queue.Queue(); lg.addHandler(logging.handlers.QueueHandler(q))",
        "lg.info('x')", "q.qsize()", CLEAR),
    "accumulate": Cell("import itertools as it; c = it.accumulate(it.repeat(1))", "next(c)", "0",
                       told="c"),
    "product": Cell("import itertools as it; c = it.product(range(9), repeat=3)", "next(c)", "0",
                    told="c"),
    "permutations": Cell("import itertools as it; c = it.permutations(range(9))", "next(c)", "0",
                         told="c"),
    "a list in a variable": Cell(
        "import contextvars; v = contextvars.ContextVar('v'); _ = v.set([])", "v.get().append(1)",
        "v.get()"),
    "a context": Cell(
        "import contextvars; v = contextvars.ContextVar('v', default=0);"
        " c = contextvars.copy_context()", "c.run(lambda: v.set(v.get() + 1))", "0", told="c"),
    "an event loop": Cell(LOOP, "loop.call_soon(print)", "0", "loop.close()", told="loop"),
    "a future": Cell(f"{LOOP}; f = loop.create_future()", "f.add_done_callback(print)", "0",
                     "loop.close()", told="f"),
    "rows of sqlite": Cell(
        DB, "db.row_factory = None if db.row_factory else sqlite3.Row", "0", "db.close()",
        told="db"),
    "a selector": Cell(
        "import selectors, os; s = selectors.DefaultSelector();"
        " pipes = [os.pipe() for _ in range(7)]",
        "s.register(pipes[len(s.get_map())][0], 1)", "0",
        "s.close(); _ = [os.close(each) for pair in pipes for each in pair]", told="s"),
    "minidom": Cell("import xml.dom.minidom as md; d = md.parseString('<a/>').documentElement",
                    "d.appendChild(md.Text())", "len(d.childNodes)"),
    "a spooled file": Cell("import tempfile; f = tempfile.SpooledTemporaryFile()", "f.write(b'x')",
                           "f.tell()", "f.close()"),
    "a metaclass": Cell(
        "class M(type):\n    n = 0\n    def __call__(cls):\n        M.n += 1\n"
        "class C(metaclass=M):\n    pass", "C()", "M.n"),
    "subclasses": Cell(
        "class C:\n    def __init_subclass__(cls):\n        known.append(1)\nknown = []",
        "type('X', (C,), {})", "known"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str) -> None:
    check_left(shell, CELLS[name])


@pytest.mark.parametrize(
    ("line", "done"),
    [("%fwtime -o -n3 -r2 len(rows)", "copy"),
     ("%fwtime -o -n3 -r2 --no-restore len(rows)", "look at"),
     ("%fwtime -o -n3 -r2 len(few)", ""),
     ("%fwtime -o -n3 -r2 --no-restore len(few)", "")],
)  # fmt: skip
def test_what_has_too_many_objects_to_look_at_each_is_told(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, line: str, done: str
) -> None:
    monkeypatch.setattr(copy_budget, "MOST", 100)
    monkeypatch.setattr(copy_budget, "_FEWEST_OBJECTS", 0)
    shell.run("rows, few = ([[i] for i in range(n)] for n in (90, 9))")
    told = [note.text for note in shell.run(line).notes if note.code == "not-all-kept"]
    assert [text.partition(".")[0] for text in told] == [
        f"Too large to {each} completely: rows" for each in [done] if each
    ]
