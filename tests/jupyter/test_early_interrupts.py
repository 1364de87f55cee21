"""Ctrl-C in the first or last lines of what shows progress leaves no thread and no file."""

import itertools
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ipyjaxbench.jupyter import screen
from ipyjaxbench.records import live
from tests.shell import Shell

FILES = {screen.__file__, live.__file__, threading.__file__}


class CtrlC:
    """Raises KeyboardInterrupt once, before the n-th line that this thread runs in some files."""

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename not in FILES:
            return None
        self.left -= event == "line"
        if event == "line" and self.left == 0:
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
