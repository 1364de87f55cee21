"""What the system keeps of files that timed code names is told, and what was written in place."""

import os
import sys
from pathlib import Path

import pytest

from ipyjaxbench.frameworks.state import files
from tests.left import Cell, check_left
from tests.shell import Shell

FILE = "import os; _ = open(p, 'w').write('x' * 50); os.chmod(p, 0o600); os.utime(p, (1, 1))"
OPEN = f"{FILE}; fd = os.open(p, os.{{how}}); h = [0]"
CLOSE = "os.close(fd)"
MORE = "(os.stat(p).st_mode & 0o777) + 1"
WRITE = "h[0] += 1; os.pwrite(fd, bytes([65 + h[0]]), 3)"
MANY = "\n  ".join([f"{FILE}\ndef f():", *(f"x = 'no-{i}'" for i in range(1100)),
                    "open('{p}', 'a').write('x')"])  # fmt: skip

CELLS = {
    "chmod": Cell(FILE, f"os.chmod(p, {MORE})", "0", told="{p}"),
    "chmod of a path": Cell(f"{FILE}; import pathlib; q = pathlib.Path(p)", f"q.chmod({MORE})", "0",
                            told="{p}"),
    "truncate": Cell(FILE, "os.truncate(p, os.stat(p).st_size - 1)", "0", told="{p}"),
    "utime": Cell(FILE, "os.utime(p, (1, os.stat(p).st_mtime + 1))", "0", told="{p}"),
    "the same in each call": Cell(FILE, "os.chmod(p, 0o644); os.utime(p, (1, 2))",
                                  "oct(os.stat(p).st_mode), os.stat(p).st_mtime"),
    "after very many others": Cell(MANY, "f()", "0", told="{p}"),
    "in a list": Cell(f"{FILE}; ps = [['no', p]]", "open(ps[0][1], 'a').write('x')", "0",
                      told="{p}"),
    "of an object": Cell(f"{FILE}; import types; o = types.SimpleNamespace(name=p, n=1)",
                         "open(o.name, 'a').write('x')", "0", told="{p}"),
    "a path in a dictionary": Cell(f"{FILE}; import pathlib; d = {{'x': pathlib.Path(p)}}",
                                   "d['x'].open('a').write('x')", "0", told="{p}"),
    "of two in a line": Cell(FILE, "[open(q, 'a').write('x') for q in ('{p}', '{p}')]", "0",
                             told="{p}"),
    "pwrite": Cell(OPEN.format(how="O_RDWR"), WRITE, "0", CLOSE, told="fd"),
    "into one that is not read": Cell(OPEN.format(how="O_WRONLY"), WRITE, "0", CLOSE, told="fd"),
    "pread": Cell(OPEN.format(how="O_RDONLY"), "os.pread(fd, 3, 3)", "open(p).read()", CLOSE),
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has none of these")
@pytest.mark.parametrize("name", CELLS)
@pytest.mark.filterwarnings("ignore")
def test_it_is_as_after_one_run_or_told(shell: Shell, name: str, tmp_path: Path) -> None:
    shell.names["p"] = path = os.fspath(tmp_path / "file")
    check_left(shell, Cell(*(part.replace("{p}", path) for part in CELLS[name])))


@pytest.mark.parametrize(("code", "told"), [("open, names", ["names"]), ("names", []),
                                            ("open, words", [])])  # fmt: skip
def test_what_holds_more_paths_than_are_looked_up_is_told(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, code: str, told: list[str]
) -> None:
    monkeypatch.setattr(files, "_MOST_PARTS", 2)
    shell.run("names = ['/no/a', '/no/b', '/no/c']; words = ['a', 'b', 'c']")
    found = shell.run(f"%fwtime -q -o -n3 -r2 {code}")
    cut = [note.text for note in found.notes if note.code == "not-all-kept"]
    assert [text.split(".")[0] for text in cut] == [
        f"Too large to copy completely: {name}" for name in told
    ]
