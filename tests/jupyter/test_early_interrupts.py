"""Ctrl-C in the first or last lines of what shows progress leaves no thread and no file."""

import gc
import itertools
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from linecache import getline
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ipyjaxbench.jupyter import screen
from ipyjaxbench.records import live
from tests.shell import Shell

FILES = {screen.__file__, live.__file__}
#: Of Python's own lines only the one that waits for a thread to begin: before another one that
#: holds a lock Ctrl-C does not come, and what is raised there would leave the lock held.
WAITS = "self._started.wait()"


class CtrlC:
    """Raises KeyboardInterrupt once, before the n-th line of ours that this thread runs."""

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        file = frame.f_code.co_filename
        if file not in {*FILES, threading.__file__}:
            return None
        if event == "line" and (file in FILES or getline(file, frame.f_lineno).strip() == WAITS):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self

    @contextmanager
    def installed(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self)
        try:
            yield
        finally:
            sys.settrace(before)


@pytest.fixture(autouse=True)
def no_resource_warnings() -> Iterator[None]:
    """What is interrupted between opening a file and its `with` closes it, and Python tells so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()  # else it is told in another test


def test_wherever_it_comes_nothing_is_left(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    (tmp_path / "ipyjaxbench" / "history").mkdir(parents=True)
    (tmp_path / "ipyjaxbench" / "history" / "README.txt").touch()
    shell.run("%fwtime -q -n1 -r1 1 + 1")  # loads what it needs
    before, stopped = {*threading.enumerate()}, 0
    for line in itertools.count(1):
        ctrl_c = CtrlC(line)
        try:
            with ctrl_c.installed():
                shell.run("%fwtime -q -n1 -r1 1 + 1")
        except KeyboardInterrupt:
            stopped += 1
        for thread in {*threading.enumerate()} - before:
            if thread.is_alive():
                thread.join(10)
            assert not thread.is_alive(), line
        assert [*(tmp_path / "ipyjaxbench" / "live").iterdir()] == [], line
        if ctrl_c.left > 0:  # it ended before that line
            break
    assert stopped > 30


def test_ctrl_c_while_a_magic_is_loaded_is_one_line(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ipyjaxbench.jupyter.magics.import_module", interrupted)
    with pytest.raises(KeyboardInterrupt, match="while fwtime was loaded; nothing has run"):
        shell.run("%fwtime 1 + 1")
    shown = shell.text.strip().splitlines()
    assert shown == ["KeyboardInterrupt: interrupted while fwtime was loaded; nothing has run"]
