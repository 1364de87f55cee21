"""Runs pytest on a file of tests that use ``fwbench``, in this process."""

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

#: Plugins of pytest's own that change the process, which is that of the test around them.
_OF_PROCESS = ("cacheprovider", "faulthandler", "threadexception", "unraisableexception")


@dataclass(frozen=True)
class Done:
    """What a run of pytest came to."""

    returncode: int
    stdout: str
    stderr: str = ""


Pytest = Callable[..., Done]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder in which pytest runs."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def suite(work: Path, monkeypatch: pytest.MonkeyPatch) -> Pytest:
    """Writes a file of tests and runs pytest on it, in this process, with this plugin alone."""

    def run(code: str, *options: str, **environment: str) -> Done:
        (work / "test_it.py").write_text(code, "utf-8")
        environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "JUPYTER_DATA_DIR": str(data(work))}
        out, err = io.StringIO(), io.StringIO()
        with monkeypatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.chdir(work)
            code = pytest.main([
                "-q", "--capture=sys", "--import-mode=importlib", "--fwbench-quick",
                f"--rootdir={work}", "-pipyjaxbench.benchmarks.pytest_plugin",
                *(f"-pno:{name}" for name in _OF_PROCESS), *options, "test_it.py",
            ])  # fmt: skip
        sys.modules.pop("test_it", None)
        return Done(int(code), out.getvalue(), err.getvalue())

    return run


def data(work: Path) -> Path:
    """Where the history goes."""
    return work.parent / "data"
