"""What timed code changes of classes, modules, alarms, patches and files is put back, or told."""

import sys
from pathlib import Path

import pytest

from tests.left import Cell, check_left
from tests.shell import Shell

KINDS = "class A:\n    n = 1\nclass B:\n    n = 2\nclass C(A):\n    k = 0\nc = C(); h = []"
SWAP_BY_NAME = "k.__bases__ = (A,) if C.__bases__ == (B,) else (B,)"
SWAP = "C.__bases__ = (A,) if C.__bases__ == (B,) else (B,)"
ALARM = "import signal; h = []; was = signal.signal(signal.SIGALRM, lambda *_: h.append(1))"
CLEAR_ALARM = "signal.setitimer(signal.ITIMER_REAL, 0); signal.signal(signal.SIGALRM, was)"
LEFT = "round(signal.getitimer(signal.ITIMER_REAL)[0], -2)"
MOCK = "import os, unittest.mock; from unittest import mock; was = os.getcwd"
UNDO = "mock.patch.stopall(); os.getcwd = was; P = mock._patch; P._active_patches.clear()"
DEPTH = "mock._patch._active_patches.__len__(), os.getcwd is was"
FILES = """import os, pathlib, shutil
shutil.rmtree(d); os.mkdir(d)
d = pathlib.Path(d)
for n in range(40):
    (d / f'd{n:02}').mkdir(exist_ok=True); (d / f'f{n:02}').write_text('x')
    (d / f'd{n:02}' / 'x').write_text('x')
files, folders = sorted(d.glob('f*')), sorted(d.glob('d*'))
texts = [*map(str, files)]"""
GONE = "removed files such as {d}/"
FD = """import os; from os import pwrite
fd = os.open(d + '/file', os.O_RDWR | os.O_CREAT); h = [0]
class F:
    def __init__(self): self.fd = fd
    def go(self): h[0] += 1; os.pwrite(self.fd, bytes([65 + h[0]]), 3)
o = F()
def f(): h[0] += 1; os.pwrite(fd, bytes([65 + h[0]]), 3)
def g(to): h[0] += 1; pwrite(to, bytes([65 + h[0]]), 3)
def w(): os.write(fd, b'x')
def r(): os.pread(fd, 1, 0)
def same(): os.pwrite(fd, b'x', 3)
def make(fd):
    def inner(): h[0] += 1; os.pwrite(fd, bytes([65 + h[0]]), 3)
    return inner
k = make(fd)"""
CLOSE = "os.close(fd)"

CELLS = {
    "bases": Cell(KINDS, SWAP, "C.n, C.__bases__ == (A,)"),
    "bases in a function": Cell(f"{KINDS}; k = C\ndef f(): {SWAP_BY_NAME}", "f()", "c.n"),
    "bases that are added": Cell(
        KINDS, "C.__bases__ += (type('X', (), {}),)", "len(C.__bases__)"),
    "a special method": Cell(KINDS, "h.append(0); C.__len__ = lambda s, n=len(h): n", "len(c)"),
    "an operator": Cell(
        f"{KINDS}\ndef f(): h.append(0); C.__add__ = lambda s, o, n=len(h): n", "f()", "c + 1"),
    "a name of a class": Cell(KINDS, "C.__name__ += 'x'; C.__qualname__ += 'x'",
                              "C.__name__[:3], C.__qualname__[:3]"),
    "builtins": Cell("import builtins; builtins.zz = 0", "builtins.zz += 1", "zz",
                     "del builtins.zz"),
    "builtins by setattr": Cell("import builtins; builtins.zz = 0",
                                "setattr(builtins, 'zz', builtins.zz + 1)", "zz",
                                "del builtins.zz"),
    "builtins in a function": Cell(
        "import builtins; builtins.zz = 0\ndef f(): builtins.zz += 1", "f()", "zz",
        "del builtins.zz"),
    "__builtins__": Cell("import builtins; builtins.zz = 0; b = __builtins__",
                         "b.zz += 1", "zz", "del builtins.zz"),
    "new ones": Cell("import builtins; h = []",
                     "h.append(0); setattr(builtins, f'zz{len(h)}', 1)",
                     "len([n for n in dir(builtins) if n[:2] == 'zz'])",
                     "[delattr(builtins, n) for n in dir(builtins) if n[:2] == 'zz']"),
    "a library by setattr": Cell("import json; json.zz = 0", "setattr(json, 'zz', json.zz + 1)",
                                 "json.zz", "del json.zz"),
    "a timer": Cell(ALARM, "h.append(0); signal.setitimer(signal.ITIMER_REAL, 1000 * len(h))",
                    LEFT, CLEAR_ALARM),
    "an alarm": Cell(f"{ALARM}\ndef f(): h.append(0); signal.alarm(1000 * len(h))", "f()", LEFT,
                     CLEAR_ALARM),
    "how often it comes": Cell(
        ALARM, "h.append(0); signal.setitimer(signal.ITIMER_REAL, 1000, 1000 * len(h))",
        "round(signal.getitimer(signal.ITIMER_REAL)[1])", CLEAR_ALARM),
    "an alarm that is set before": Cell(f"{ALARM}; _ = signal.alarm(5000)", "h.append(0)", LEFT,
                                        CLEAR_ALARM),
    "patches": Cell(MOCK, "mock.patch('os.getcwd').start()", DEPTH, UNDO),
    "one patch": Cell(f"{MOCK}; p = mock.patch('os.getcwd')", "p.start()",
                      f"{DEPTH}, p.temp_original is was", UNDO),
    "in a function": Cell(f"{MOCK}\ndef f(): mock.patch.object(os, 'getcwd').start()", "f()",
                          DEPTH, UNDO),
    "of a dictionary": Cell(f"{MOCK}; t = {{}}",
                            "mock.patch.dict(t, {len(t): 1}).start()", "len(t)", UNDO),
    "patches that are stopped": Cell(f"{MOCK}; p = mock.patch('os.getcwd')",
                                     "p.start(); p.stop()", DEPTH, UNDO),
    "os.remove": Cell(FILES, "os.remove(files.pop())", "0", told=f"{GONE}f34"),
    "by text": Cell(FILES, "os.remove(texts.pop())", "0", told=f"{GONE}f34"),
    "unlink": Cell(FILES, "files.pop().unlink()", "0", told=f"{GONE}f34"),
    "rmtree": Cell(f"{FILES}\ndef f(): shutil.rmtree(folders.pop())", "f()", "0",
                   told=f"{GONE}d34"),
    "what is listed": Cell(FILES, "min(d.glob('f*')).unlink()", "0", told=f"{GONE}f01"),
    "renamed": Cell(FILES, "p = files.pop(); p.rename(f'{p}{len(files)}')", "0",
                    told=f"{GONE}f34"),
    "one that is not there again": Cell(FILES, "files[0].unlink(missing_ok=True)",
                                        "files[0].exists()"),
    "pwrite in a function": Cell(FD, "f()", "0", CLOSE, told="{d}/file"),
    "one that is handed over": Cell(FD, "g(fd)", "0", CLOSE, told="{d}/file"),
    "one in an attribute": Cell(FD, "o.go()", "0", CLOSE, told="{d}/file"),
    "one in a closure": Cell(FD, "k()", "0", CLOSE, told="{d}/file"),
    "write in a function": Cell(FD, "w()", "0", CLOSE, told="{d}/file"),
    "pread in a function": Cell(FD, "r()", "0", CLOSE),
    "the same each time": Cell(FD, "same()", "os.pread(fd, 9, 0)", CLOSE),
}  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of these")
@pytest.mark.parametrize("name", CELLS)
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str, tmp_path: Path) -> None:
    cell = CELLS[name]
    shell.names["d"] = str(tmp_path)
    check_left(shell, cell._replace(told=cell.told.format(d=tmp_path)))
