"""What is told as soon as a framework has been imported."""

import importlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from ipyjaxbench.import_hook import ImportHook, is_being_imported

#: Modules that are imported by tests alone: one imports the other, one fails.
FILES = {
    "outer_of_a_test.py": "import inner_of_a_test\nvalue = 3",
    "inner_of_a_test.py": "value = 2",
    "broken_of_a_test.py": "raise KeyError('no')",
}
NAMES = tuple(name.removesuffix(".py") for name in FILES)
#: Sessions whose first cell imports a framework, defines a function and calls it: each in a process
#: of its own, which has what all of them need.
SESSIONS = """
import json, os, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
shell.run_cell("%load_ext ipyjaxbench\\n%trace_cached --watch on")
for name, cell in json.loads(sys.argv[1]).items():
    if not (child := os.fork()):
        told = []
        for each in (cell, "scale = 3.0"):
            with capture_output() as shown:
                shell.run_cell(each).raise_error()
            told.append(" ".join(each.data["text/plain"] for each in shown.outputs))
        print("\\ntold", json.dumps([name, told]), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
CELLS = {
    "jax": "x = jax.numpy.ones(3)\n@jax.jit",
    "tensorflow": "x = tensorflow.ones(3)\n@tensorflow.function",
    "torch": "x = torch.ones(3)\n@torch.compile(backend='eager')",
}
CELL = "import {}\nscale = 2.0\n{}\ndef f(x): return x * scale\nf(x);"


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bool]]]:
    """What was told: each name, and whether the outer module was being imported then."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    seen = list[tuple[str, bool]]()
    hook = ImportHook(NAMES, lambda name: seen.append((name, is_being_imported(NAMES[0]))))
    of_python = [each for each in sys.meta_path if isinstance(each, type)]  # none of pytest's
    monkeypatch.setattr(sys, "meta_path", [hook, *of_python])
    yield seen
    for name in NAMES:
        sys.modules.pop(name, None)


def test_each_module_is_told_once_it_is_there(told: list[tuple[str, bool]]) -> None:
    importlib.import_module(NAMES[0])
    assert told == [(NAMES[1], True), (NAMES[0], True)]  # itself, too, until it is handed out
    assert not is_being_imported(NAMES[0])
    importlib.import_module(NAMES[0])
    importlib.import_module("colorsys")
    assert len(told) == 2
    with pytest.raises(KeyError, match="no"):
        importlib.import_module(NAMES[2])
    assert len(told) == 2


def test_modules_keep_their_own_loaders(told: list[tuple[str, bool]]) -> None:
    looked_up = importlib.util.find_spec(NAMES[1])
    assert looked_up is not None
    assert looked_up.origin == looked_up.loader.get_filename(NAMES[1])  # type: ignore[union-attr]
    assert told == []
    module = importlib.import_module(NAMES[1])
    assert module.__spec__ is not None
    assert type(module.__spec__.loader) is type(module.__loader__) is SourceFileLoader
    importlib.reload(module)
    assert [name for name, _ in told] == [NAMES[1]] * 2
    assert importlib.util.find_spec("absent_of_a_test") is None


@pytest.fixture(scope="module")
def sessions() -> dict[str, list[str]]:
    """What both cells of each session show."""
    there = (name for name in CELLS if importlib.util.find_spec(name))
    cells = json.dumps({name: CELL.format(name, CELLS[name]) for name in there})
    command = [sys.executable, "-W", "ignore", "-c", SESSIONS, cells]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    told = [line[5:] for line in done.stdout.splitlines() if line.startswith("told ")]
    return dict.fromkeys(CELLS, [done.stderr] * 2) | dict(map(json.loads, told))


@pytest.mark.parametrize("framework", CELLS)
def test_the_cell_that_imports_a_framework_is_learned_from(
    framework: str, sessions: dict[str, list[str]]
) -> None:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    traced, stale = sessions[framework]
    assert traced.startswith("traced: f (first call)"), traced
    is_guarded = framework == "torch"
    assert stale == ("" if is_guarded else "stale: f (scale was 2.0 when f was traced, is 3.0)")
