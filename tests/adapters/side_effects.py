"""What functions do besides computing while they are traced, and what one trace leaves."""

from typing import NamedTuple


class SideEffect(NamedTuple):
    """An expression that changes something, and what one evaluation of it leaves."""

    before: str
    does: str
    left: str
    value: object


_COUNTER = "class Counter: pass\ncounter = Counter(); counter.n = 0\n"
_LINES = "with open(path, 'w') as file: file.write('a\\nb\\nc\\n')\nlines = open(path)"
_QUEUE = "import queue\nitems = queue.Queue()\nfor n in range(3): items.put(n)"
_LOGGER = """
import logging
logged = []
class Handler(logging.Handler):
    def emit(self, record): logged.append(record)
logger = logging.Logger('user')
logger.addHandler(Handler())
"""

SIDE_EFFECTS = (
    SideEffect("items = iter([1, 2, 3])", "next(items)", "next(items)", 2),
    SideEffect("items = (n for n in range(9))", "next(items)", "next(items)", 1),
    SideEffect("items = (n for n in range(9))", "items.send(None)", "next(items)", 1),
    SideEffect("items = (n for n in range(9))\ntake = items.__next__", "take()", "take()", 1),
    SideEffect("import itertools\nitems = itertools.count()", "next(items)", "next(items)", 1),
    SideEffect("class Source: items = iter([1, 2, 3])\ndef take(): return next(Source.items)",
               "take()", "take()", 2),
    SideEffect(_QUEUE, "items.get()", "items.qsize()", 2),
    SideEffect(f"{_QUEUE}\ntake = items.get", "take()", "items.qsize()", 2),
    SideEffect(_LINES, "lines.readline()", "lines.readline()", "b\n"),
    SideEffect(_LINES, "next(lines)", "next(lines)", "b\n"),
    SideEffect("log = open(path, 'w')", "log.write('a')", "log.tell()", 1),
    SideEffect("def note():\n    with open(path, 'a') as file: file.write('a')", "note()",
               "__import__('pathlib').Path(path).read_text()", "a"),
    SideEffect(_LOGGER, "logger.error('traced')", "len(logged)", 1),
    SideEffect("import io\nlines = io.StringIO('a\\nb\\n')", "lines.readline()",
               "lines.readline()", "b\n"),
    SideEffect("log = []", "log.append(1)", "log", [1]),
    SideEffect("log = [0] * 200_000", "log.append(1)", "len(log)", 200_001),
    SideEffect("log = bytearray()", "log.extend(b'a')", "bytes(log)", b"a"),
    SideEffect("counts = {}", "counts.update(n=len(counts) + 1)", "counts", {"n": 1}),
    SideEffect("n = 0", "globals().update(n=globals()['n'] + 1)", "n", 1),
    SideEffect("import threading\nown = threading.local(); own.n = 0",
               "vars(own).update(n=own.n + 1)", "own.n", 1),
    SideEffect("import contextvars\nn = contextvars.ContextVar('n', default=0)",
               "n.set(n.get() + 1)", "n.get()", 1),
    SideEffect("import pandas\ntable = pandas.DataFrame({'a': [1]})",
               "table.insert(0, f'a{len(table.columns)}', 1)", "[*table.columns]", ["a1", "a"]),
    SideEffect("n = 0\ndef count():\n    global n\n    n += 1", "count()", "n", 1),
    SideEffect(f"{_COUNTER}def count(): counter.n += 1", "count()", "counter.n", 1),
    SideEffect(f"{_COUNTER}counters = [Counter() for _ in range(2000)]\n"
               "def count(): counters[-1].n = len(vars(counters[-1])) + 1",
               "count()", "counters[-1].n", 1),
    SideEffect("table = np.zeros(3)", "table.put(0, table[0] + 1)", "table[0]", 1.0),
    SideEffect("table = np.zeros(300_000)", "table.put(0, table[0] + 1)", "table[0]", 1.0),
)  # fmt: skip
