"""Processes are told apart although their numbers are used again."""

import os
import subprocess
import sys

import pytest

from ipyjaxbench.host import process_space, process_start, procfs
from tests.trees import Tree
from tests.waiting import wait_until

SLEEPER = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)"]


@pytest.fixture(params=[True, False], ids=["procfs", "psutil"])
def _source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to ask, where there are both."""
    if not request.param:
        monkeypatch.setattr(procfs, "is_mounted", lambda root: False)
    elif not procfs.is_mounted(procfs.ROOT):
        pytest.skip("there is no /proc here")


@pytest.mark.usefixtures("_source")
def test_a_process_that_was_killed_is_over_although_nobody_waited_for_it() -> None:
    with subprocess.Popen(SLEEPER, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        begun = process_start(child.pid)
        assert begun is not None
        assert begun == process_start(child.pid) != process_start(os.getpid())
        child.kill()
        wait_until(lambda: process_start(child.pid) is None)  # a zombie still
        child.wait()
        assert process_start(child.pid) is None


@pytest.mark.usefixtures("_source")
@pytest.mark.parametrize("pid", [2**22 + 1, 2**63 - 1])
def test_a_number_that_no_process_has_is_over(pid: int) -> None:
    assert process_start(pid) is None


STAT = "4711 (a) b (c) {state} 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 5 0 {start} 7 8\n"


@pytest.mark.parametrize(
    ("text", "known"),
    [(STAT.format(state="S", start="1234"), 1234), (STAT.format(state="R", start="1"), 1),
     (STAT.format(state="Z", start="1234"), None), (STAT.format(state="X", start="1"), None),
     (STAT.format(state="S", start="x"), None), ("", None), ("4711 (", None), ("\x00", None),
     ("4711 (a) S 1", None)],
)  # fmt: skip
def test_the_start_is_read_behind_a_name_with_parentheses(
    tree: Tree, text: str, known: int | None
) -> None:
    tree.write("proc/4711/stat", text)
    assert procfs.process_start(tree.root, 4711) == known


def test_the_space_of_numbers_is_the_same_in_a_child() -> None:
    code = "from ipyjaxbench.host import process_space; print(process_space())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == process_space() != ""
