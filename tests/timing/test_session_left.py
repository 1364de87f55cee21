"""The session is as after one run of what was timed, or the report tells what is not, by name."""

import os
from pathlib import Path

import pytest

from tests.left import Cell, check_left
from tests.shell import Shell

HOME = os.getcwd()
USER = "from tests import user_module as um; um.N = um.Counting.count = 0; um.LIST.clear()"
# Without handlers: pytest gives some to a logger that does not propagate.
LOG = "import logging; lg = um.log; lg.propagate = False; lg.setLevel(10); lg.handlers.clear()"
KEPT = f"{USER}; {LOG}; lg.handlers[:] = [um.Kept()]"
NAMED = "sum(name.startswith('made') for name in logging.root.manager.loggerDict)"
PATH = "sys.path[:] = [p for p in sys.path if p != 'zzz']"
NUMPY, PANDAS = "import numpy as np", "import pandas as pd"
PLT = "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt"
PARENT = """import weakref
class Node:
    def __init__(self, parent=None):
        self.parent, self.hits = parent and weakref.ref(parent), 0
    def hit(self):
        self.hits += 1
        if self.parent: self.parent().hit()
hits = 0"""
FILES, CLEAR = "import os; d = str(tmp_path / 'fw'); os.mkdir(d)", "import shutil; shutil.rmtree(d)"
FILTERS = "import warnings; kept = [*warnings.filters]"

CELLS = {
    "os.chdir": Cell(f"import os; os.chdir({os.__file__!r}[:-5] + 'json')", "os.chdir('..')",
                     "os.getcwd()", f"os.chdir({HOME!r})"),
    "chdir by name": Cell(f"from os import chdir, getcwd; chdir({os.__file__!r}[:-5] + 'json')",
                          "chdir('..')", "getcwd()", f"chdir({HOME!r})"),
    "os.umask": Cell("import os; was = os.umask(0)", "os.umask(os.umask(0) + 1)",
                     "(now := os.umask(0)), os.umask(now)", "os.umask(was)"),
    "a file by its path": Cell("open('fw_log.txt', 'w').close()",
                               "with open('fw_log.txt', 'a') as file: file.write('x')", "0",
                               "import os; os.remove('fw_log.txt'); del file", told="fw_log.txt"),
    "in a function, by a name": Cell(
        "from pathlib import Path; log = Path('fw_log.txt'); log.touch()\ndef note():"
        "\n    with log.open('a') as file: print('x', file=file)",
        "note()", "0", "log.unlink()", told="fw_log.txt"),
    "a file that is written anew": Cell("n = 0", "n = open('fw_new.txt', 'w').write('x')",
                                        "open('fw_new.txt').read()",
                                        "import os; os.remove('fw_new.txt')"),
    "a name that is made in the code": Cell(
        f"{FILES}; i = 0", "open(f'{d}/fw_{i}', 'a').write('x')", "0", CLEAR,
        told="{fw}/fw_0"),
    "a file that stays as long": Cell(
        f"{FILES}; h = [0]", "h[0] += 1; open(f'{d}/fw_0', 'w').write(str(h[0]))", "0", CLEAR,
        told="{fw}/fw_0"),
    "one by its path": Cell(
        "open('fw_log.txt', 'w').close(); h = [0]",
        "h[0] += 1; open('fw_log.txt', 'w').write(str(h[0]))", "0",
        "import os; os.remove('fw_log.txt')", told="fw_log.txt"),
    "new files": Cell(
        f"{FILES}; h = []", "h.append(0); open(f'{d}/fw_{len(h)}', 'w').close()", "0",
        CLEAR, told="new files such as {fw}/fw_2"),
    "new files by a method": Cell(
        f"{FILES}; h = []; from pathlib import Path; d = Path(d)",
        "h.append(0); (d / f'fw_{len(h)}').write_text('x')", "0",
        CLEAR, told="new files such as {fw}/fw_2"),
    "new files deep in a dictionary": Cell(
        f"{FILES}; h = []; at = {{'out': [*range(200), *map(str, range(200)), {{'to': d}}]}}",
        "h.append(0); open(f'{at[\"out\"][-1][\"to\"]}/fw_{len(h)}', 'w').close()", "0",
        CLEAR, told="new files such as {fw}/fw_2"),
    "new files of NumPy": Cell(
        f"{FILES}; h = []; {NUMPY}", "h.append(0); np.save(f'{d}/fw_{len(h)}', 1)", "0",
        CLEAR, told="new files such as {fw}/fw_2.npy"),
    "directories": Cell(
        f"{FILES}; h = []", "h.append(0); os.mkdir(f'{d}/fw_{len(h)}')", "0",
        CLEAR, told="new files such as {fw}/fw_2"),
    "files that a child makes": Cell(
        f"{FILES}; import subprocess", "subprocess.run('echo x >> fw_0', shell=True, cwd=d)", "0",
        CLEAR, told="{fw}/fw_0"),
    "a file that is only read": Cell(
        FILES + "; open(f'{d}/fw_0', 'w').close()", "open(f'{d}/fw_0').read()", "0",
        CLEAR),
    "a name of a module": Cell(USER, "um.N += 1", "um.N"),
    "by its function": Cell(USER, "um.bump()", "um.N"),
    "by a function's name": Cell(f"{USER}; f = um.bump", "f()", "um.N"),
    "by globals() in it": Cell(USER, "um.bump_unseen()", "um.N"),
    "by setattr": Cell(USER, "setattr(um, 'N', um.N + 1)", "um.N"),
    "by vars()": Cell(USER, "vars(um)['N'] += 1", "um.N"),
    "a list of a module": Cell(USER, "um.LIST.append(1)", "um.LIST"),
    "an attribute of a class of it": Cell(USER, "um.Counting.count += 1", "um.Counting.count"),
    "an object of it": Cell(f"{USER}; um.it = um.Counting()", "um.it()", "um.it.n"),
    "by __add__": Cell(f"{USER}; o = um.Counting()", "o + 1", "um.LIST.count(1)"),
    "by __getitem__": Cell(f"{USER}; um.TABLE.clear(); o = um.Counting()", "o[3]", "um.TABLE"),
    "by __del__": Cell(f"{USER}; d = um.Counting()", "d = um.Counting()", "um.LIST"),
    "by __del__ unnamed": Cell(USER, "um.Counting()", "um.LIST"),
    "an import in a function": Cell(f"{USER}; import os; os.environ['FW_DEEP'] = ''",
                                    "um.change_environment()", "os.environ['FW_DEEP']",
                                    "del os.environ['FW_DEEP']"),
    "sys.path": Cell("import sys", "sys.path.append('zzz')", "sys.path.count('zzz')", PATH),
    "in front of it": Cell("import sys", "sys.path.insert(0, 'zzz')", "sys.path.index('zzz')",
                           PATH),
    "path by name": Cell("import sys; from sys import path", "path.append('zzz')",
                         "path.count('zzz')", PATH),
    "sys.modules": Cell("import sys", "sys.modules['zz'] = object()", "0",
                        "del sys.modules['zz']", told="sys.modules"),
    "the switch interval": Cell("import sys", "sys.setswitchinterval(sys.getswitchinterval() * 2)",
                                "sys.getswitchinterval()", "sys.setswitchinterval(0.005)"),
    "a handler's records": Cell(KEPT, "lg.info('x')", "len(lg.handlers[0].records)",
                                "lg.handlers.clear()"),
    "a logger of a module": Cell(KEPT, "um.log.info('x')", "len(lg.handlers[0].records)",
                                 "lg.handlers.clear()"),
    "the root logger": Cell(f"{KEPT}; logging.root.addHandler(um.Kept())",
                            "logging.error('x')", "len(logging.root.handlers[-1].records)",
                            "logging.root.handlers.pop(); lg.handlers.clear()"),
    "handlers": Cell(f"{USER}; {LOG}", "lg.addHandler(logging.NullHandler())", "len(lg.handlers)",
                     "lg.handlers.clear()"),
    "a level": Cell(f"{USER}; {LOG}; below = lg.getChild('below')", "lg.setLevel(lg.level + 1)",
                    "lg.level, [below.isEnabledFor(n) for n in (10, 11, 12)]"),
    "loggers": Cell("import logging; n = 0", "n += 1; logging.getLogger(f'made{n}')", NAMED,
                    "del logging.root.manager.loggerDict['made1']"),
    "logging.disable": Cell("import logging", "logging.disable(logging.root.manager.disable + 1)",
                            "logging.root.manager.disable", "logging.disable(0)"),
    "a view of bytes": Cell("b = bytearray(4); mv = memoryview(b)", "mv[0] += 1", "[*b]"),
    "a view of an array": Cell(f"{NUMPY}; b = np.zeros(3); mv = memoryview(b)", "mv[0] += 1",
                               "b.tolist()"),
    "mapped memory": Cell("import mmap; m = mmap.mmap(-1, 16)", "m[0] += 1", "m[0]"),
    "ctypes": Cell("import ctypes; c = (ctypes.c_int * 3)()", "c[0] += 1", "[*c]"),
    "printing of arrays": Cell(
        NUMPY, "np.set_printoptions(precision=np.get_printoptions()['precision'] + 1)",
        "np.get_printoptions()['precision']", "np.set_printoptions(precision=8)"),
    "text of NumPy": Cell(f"{NUMPY}; a = np.array(['a'], np.dtypes.StringDType())", "a[0] += 'b'",
                          "a.tolist()"),
    "a dtype": Cell(f"{NUMPY}; a = np.zeros(4)",
                    "a.dtype = 'i8' if a.dtype == float else float", "a.dtype"),
    "names of a dtype": Cell(f"{NUMPY}; a = np.zeros(2, 'i4, f8')",
                             "a.dtype.names = [name + 'x' for name in a.dtype.names]", "a.dtype"),
    "names of a dtype alone": Cell(f"{NUMPY}; t = np.dtype('i4, f8')",
                                   "t.names = [name + 'x' for name in t.names]", "t"),
    "errors of NumPy": Cell(
        f"{NUMPY}; to = dict(zip(['warn', 'ignore', 'raise'], ['ignore', 'raise', 'warn']))",
        "np.seterr(over=to[np.geterr()['over']])", "np.geterr()", "np.seterr(over='warn')"),
    "options of pandas": Cell(
        PANDAS, "pd.set_option('display.max_rows', pd.get_option('display.max_rows') + 1)",
        "pd.get_option('display.max_rows')", "pd.reset_option('display.max_rows')"),
    "the same by attribute": Cell(PANDAS, "pd.options.display.max_rows += 1",
                                  "pd.options.display.max_rows",
                                  "pd.reset_option('display.max_rows')"),
    "flags of pandas": Cell(
        f"{PANDAS}; df = pd.DataFrame({{'a': [1]}})",
        "df.flags.allows_duplicate_labels = not df.flags.allows_duplicate_labels",
        "df.flags.allows_duplicate_labels"),
    "attrs of pandas": Cell(f"{PANDAS}; s = pd.Series([1]); s.attrs['n'] = []",
                            "s.attrs['n'].append(1); s.attrs[len(s.attrs)] = 1", "s.attrs"),
    "rcParams": Cell(PLT, "plt.rcParams['lines.linewidth'] += 1", "plt.rcParams['lines.linewidth']",
                     "plt.rcdefaults()"),
    "plt.rc": Cell(PLT, "plt.rc('lines', linewidth=plt.rcParams['lines.linewidth'] + 1)",
                   "plt.rcParams['lines.linewidth']", "plt.rcdefaults()"),
    "atexit": Cell("import atexit", "atexit.register(print)", "0", "atexit.unregister(print)",
                   told="functions registered by atexit"),
    "gc": Cell("import gc; gc.set_threshold(700, 10, 10)",
               "gc.set_threshold(gc.get_threshold()[0] + 1)", "gc.get_threshold()",
               "gc.set_threshold(700, 10, 10)"),
    "globals()": Cell("G = 0", "globals()['G'] += 1", "G"),
    "new names by globals()": Cell("n = 0", "n += 1; globals()[f'made{n}'] = n",
                                   "[name for name in globals() if name.startswith('made')]"),
    "exec": Cell("G = 0", "exec('G += 1')", "G"),
    "sqlite": Cell("import sqlite3; db = sqlite3.connect(':memory:'); db.execute('create table t"
                   "(a)')", "db.execute('insert into t values(1)')", "0", "db.close()", told="db"),
    "warnings": Cell(FILTERS, "warnings.filterwarnings('ignore', f'm{len(warnings.filters)}')",
                     "len(warnings.filters) - len(kept)", "warnings.filters[:] = kept"),
    "signals": Cell("import signal", "signal.signal(10, lambda *_: signal.getsignal(10))",
                    "callable(signal.getsignal(10))", "signal.signal(10, signal.SIG_DFL)"),
    "csv.writer": Cell("import csv, io; b = io.StringIO(); w = csv.writer(b)", "w.writerow([1])",
                       "b.getvalue()"),
    "hashlib": Cell("import hashlib; h = hashlib.sha256()", "h.update(b'x')", "0", told="h"),
    "elements": Cell("import xml.etree.ElementTree as ET; r = ET.Element('a')",
                     "ET.SubElement(r, 'b')", "len(r)"),
    "configparser": Cell("import configparser; c = configparser.ConfigParser(); c['a'] = {'n': 0}",
                         "c['a']['n'] += '1'", "c['a']['n']"),
    "an exit stack": Cell("import contextlib; st = contextlib.ExitStack()", "st.callback(print)",
                          "len(st._exit_callbacks)", "st.pop_all()"),
    "queue.SimpleQueue": Cell("import queue; q = queue.SimpleQueue()", "q.put(1)", "0", told="q"),
    "queue.Queue": Cell("import queue; q = queue.Queue()", "q.put(1)", "q.qsize()"),
    "zipfile": Cell("import io, zipfile; z = zipfile.ZipFile(io.BytesIO(), 'w'); n = 0",
                    "n += 1; z.writestr(str(n), 'a')", "0", told="z"),
    "a file": Cell("import tempfile; f = tempfile.TemporaryFile('w')", "f.write('x')", "0",
                   "f.close()", told="f"),
    "timeouts": Cell("import socket", "socket.setdefaulttimeout((socket.getdefaulttimeout() or 0)"
                     " + 1)", "socket.getdefaulttimeout()", "socket.setdefaulttimeout(None)"),
    "a mock": Cell("from unittest.mock import Mock; m = Mock()", "m(1)", "m.call_count"),
    "threading.local": Cell("import threading; t = threading.local(); t.n, t.l = 0, []",
                            "t.n += 1; t.l.append(1)", "t.n, t.l"),
    "one of the user's": Cell("import threading; L = type('L', (threading.local,),"
                              " {'n': 0, '__module__': '__main__'}); t = L()", "t.n += 1", "t.n"),
    "a semaphore": Cell("import threading; s = threading.Semaphore(9)",
                        "s.acquire(blocking=False)", "0", told="s"),
    "an event": Cell("import threading; e = threading.Event()",
                     "e.clear() if e.is_set() else e.set()", "0", told="e"),
    "a condition": Cell("import threading; c = threading.Condition()", "c.acquire()", "0",
                        told="c"),
    "a lock": Cell("import threading; c = threading.Lock()",
                   "c.release() if c.locked() else c.acquire()", "0", told="c"),
    "a lock that is given back": Cell("import threading; c = threading.Lock()",
                                      "with c: pass", "c.locked()"),
    "a barrier": Cell("import threading; b = threading.Barrier(2)",
                      "b.reset() if b.broken else b.abort()", "0", told="b"),
    "asyncio.Queue": Cell("import asyncio; q = asyncio.Queue()", "q.put_nowait(1)", "0", told="q"),
    "asyncio.Event": Cell("import asyncio; e = asyncio.Event()",
                          "e.clear() if e.is_set() else e.set()", "0", told="e"),
    "asyncio.Semaphore": Cell("import asyncio; s = asyncio.Semaphore(9)", "s.release()", "0",
                              told="s"),
    "multiprocessing.Value": Cell("import multiprocessing as mp; v = mp.Value('i', 0)",
                                  "v.value += 1", "v.value"),
    "multiprocessing.Array": Cell("import multiprocessing as mp; v = mp.Array('i', 3)",
                                  "v[0] += 1", "v[:]"),
    "multiprocessing.SharedMemory": Cell(
        "from multiprocessing.shared_memory import SharedMemory; m = SharedMemory(None, True, 8)",
        "m.buf[0] += 1", "m.buf[0]", "m.close(); m.unlink()"),
    "multiprocessing.Lock": Cell("import multiprocessing as mp; c = mp.Lock()",
                                 "c.acquire() if c._semlock._count() == 0 else c.release()", "0",
                                 told="c"),
    "multiprocessing.RLock": Cell("import multiprocessing as mp; c = mp.RLock()",
                                  "c.acquire()", "0", told="c"),
    "multiprocessing.Event": Cell("import multiprocessing as mp; e = mp.Event()",
                                  "e.clear() if e.is_set() else e.set()", "0", told="e"),
    "seeds": Cell(f"{NUMPY}; s = np.random.SeedSequence(3)", "s.spawn(1)", "0", told="s"),
    "seeds of a generator": Cell(f"{NUMPY}; g = np.random.default_rng(3)", "g.spawn(1)", "0",
                                 told="g"),
    "digits of integers": Cell(
        "import sys", "sys.set_int_max_str_digits(sys.get_int_max_str_digits() + 1)",
        "sys.get_int_max_str_digits()", "sys.set_int_max_str_digits(4300)"),
    "the collector": Cell("import gc", "gc.disable() if gc.isenabled() else gc.enable()",
                          "gc.isenabled()", "gc.enable()"),
    "a mapped file's place": Cell("import mmap; m = mmap.mmap(-1, 16)", "m.write(b'x')",
                                  "m.tell(), m[:]"),
    "one that is read": Cell(
        "import mmap, tempfile; f = tempfile.TemporaryFile(); f.write(b'abcdefgh'); f.flush();"
        " m = mmap.mmap(f.fileno(), 8, access=mmap.ACCESS_READ)", "m.read(1)", "m.tell()",
        "m.close(); f.close()"),
    "a logger that is looked up": Cell(
        "import logging", "logging.getLogger('zq').addHandler(logging.NullHandler())",
        "len(logging.getLogger('zq').handlers)", "del logging.root.manager.loggerDict['zq']"),
    "traps of decimal": Cell(
        "import decimal; c = decimal.getcontext(); F = decimal.FloatOperation",
        "c.traps[F] = not c.traps[F]", "c.traps[F]", "c.traps[F] = False"),
    "a weak dictionary": Cell(
        f"{USER}; import weakref; w = weakref.WeakValueDictionary()",
        "k = um.Counting(); w['a'] = k", "w.get('a') is k"),
    "attributes of elements": Cell(
        "import xml.etree.ElementTree as ET; r = ET.Element('a'); r.append(ET.Element('b'))\n"
        "def f(): r.set('n', str(len(r))); r[0].set('m', 'x'); r[0].text = (r[0].text or '') + 'y'",
        "f(); ET.SubElement(r, 'b')", "ET.tostring(r)"),
    "what a weak reference stands for": Cell(f"{PARENT}; a = Node(); r = weakref.ref(a)",
                                             "r().hits += 1", "a.hits"),
    "a parent": Cell(f"{PARENT}; a = Node(); b = Node(a)", "b.hit()", "a.hits, b.hits"),
    "reads that a dictionary counts": Cell(
        "import collections\nclass U(collections.UserDict):\n    hits = 0\n"
        "    def __getitem__(s, k): type(s).hits += 1; return super().__getitem__(k)\nu = U(a=1)",
        "u['a']", "U.hits"),
    "observers": Cell(f"{PARENT}; a, c = Node(), Node(); a.seen = weakref.WeakSet([c])",
                      "for each in a.seen: each.hit()", "c.hits"),
    "values of weak keys": Cell(
        f"{PARENT}; a = Node(); w = weakref.WeakKeyDictionary({{a: []}})", "w[a].append(1)",
        "len(w[a])"),
    "an array that is protected between calls": Cell(
        f"{NUMPY}; a = np.zeros(3); a.setflags(write=False)\ndef f():"
        "\n    a.setflags(write=True); a[0] += 1; a.setflags(write=False)",
        "f()", "a[0], a.flags.writeable"),
    "an array that the first call protects": Cell(
        f"{NUMPY}; a = np.zeros(3)\ndef f():"
        "\n    a.setflags(write=True); a[0] += 1; a.setflags(write=False)",
        "f()", "a[0], a.flags.writeable"),
    "a class of the user's around a connection": Cell(
        "import sqlite3\nclass DB(sqlite3.Connection):\n    n = 0\n"
        "    def add(self): self.n += 1; self.execute('insert into t values (1)')\n"
        "db = sqlite3.connect(':memory:', factory=DB); _ = db.execute('create table t (x)')",
        "db.add()", "0", "db.close()", told="db"),
    "a class of the user's around an iterator": Cell(
        "import itertools\nclass Ids(itertools.count):\n    made = 0\n"
        "    def new(self): self.made += 1; return next(self)\nids = Ids()", "ids.new()", "0",
        told="ids"),
    "a shelf": Cell(f"{FILES}; import shelve; s = shelve.open(d + '/s'); s['n'] = 0", "s['n'] += 1",
                    "s['n']", f"s.close(); {CLEAR}"),
    "weak keys": Cell(f"{USER}; import weakref; w, k = weakref.WeakKeyDictionary(), um.Counting()",
                      "w[k] = w.get(k, 0) + 1", "w[k]"),
    "a weak set": Cell(f"{USER}; import weakref; w, k = weakref.WeakSet(), um.Counting()",
                       "w.discard(k) if k in w else w.add(k)", "k in w"),
    "a cache in a closure": Cell(
        "import functools; f = (lambda g: lambda n: g(n))(functools.cache(lambda n: n)); i = [0]",
        "i[0] += 1; f(i[0])", "0", told="g"),
    "a class of Python's": Cell("import string; T = string.Template; T.zz = 0", "T.zz += 1", "T.zz",
                                "del T.zz"),
    "a module of Python's": Cell("import json; json.zz = 0", "json.zz += 1", "json.zz",
                                 "del json.zz"),
}  # fmt: skip


def test_new_files_are_told_where_very_many_come(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipyjaxbench.timing.written_files._MOST", 4)
    shell.names["d"] = str(tmp_path)
    shell.run("import tempfile; found = %fwtime -q -n3 -r2 tempfile.mkdtemp(dir=d)")
    told = {each.code: each.text for each in shell.names["found"].notes}["state-advanced"]
    assert f"new files such as '{tmp_path}" in told


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.filterwarnings("ignore")
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str, tmp_path: Path) -> None:
    shell.names["tmp_path"] = tmp_path
    cell = CELLS[name]
    check_left(shell, cell._replace(told=cell.told.format(fw=tmp_path / "fw")))
