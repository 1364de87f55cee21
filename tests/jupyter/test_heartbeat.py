"""While a magic measures, a file says so; a server reads it."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipyjaxbench.records import LiveMeasurement, LiveReader
from tests.jupyter.kernel import Kernel
from tests.shell import Shell
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files are."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    (tmp_path / "ipyjaxbench" / "history").mkdir(parents=True)
    (tmp_path / "ipyjaxbench" / "history" / "README.txt").touch()  # where they are kept was said
    return tmp_path / "ipyjaxbench" / "live"


@pytest.fixture
def seen(shell: Shell, place: Path) -> Iterator[list[LiveMeasurement]]:
    """What is measured while `look` is called, which the shell knows."""
    found: list[LiveMeasurement] = []
    shell.names["look"] = lambda: found.extend(LiveReader().read())
    yield found
    del shell.names["look"]
    assert not place.exists() or list(place.iterdir()) == []


def test_the_first_call_is_seen_with_its_line(shell: Shell, seen: list[LiveMeasurement]) -> None:
    shell.run("%fwtime -q -n1 -r1 look()")
    (live, *_) = seen
    assert (live.line, live.phase, live.pid, live.died) == (
        "look()",
        "first call",
        os.getpid(),
        False,
    )


def test_its_run_is_the_file_of_the_history(
    shell: Shell, seen: list[LiveMeasurement], place: Path
) -> None:
    shell.shell.find_magic("fwtime").__self__.session.close()  # a file in another folder
    shell.run("%fwtime -q -n1 -r1 look()\n%fwtime -q -n1 -r1 look()")
    assert seen[0].run == ""
    files = {path.stem for path in (place.parent / "history").glob("*.jsonl")}
    assert seen[-1].run in files


@pytest.mark.parametrize(
    "cell",
    ["%fwtime -n1 -r1 look()", "%%fwtime -q -n1 -r1\nlook()", "r = %fwtime -q -n1 -r1 look()",
     "%%fwcompare -q -b 0.01\na: look()\nb: 1 + 1"],
)  # fmt: skip
def test_however_it_is_typed_it_is_seen(
    shell: Shell, seen: list[LiveMeasurement], cell: str
) -> None:
    shell.run(cell)
    assert seen[0].phase == "first call"
    assert "look()" in seen[0].line


def test_without_progress_on_the_screen_it_is_seen(shell: Shell) -> None:
    found, over = list[LiveMeasurement](), threading.Event()

    def watch() -> None:
        reader = LiveReader()
        while not over.wait(0.02):
            found.extend(reader.read())

    thread = threading.Thread(target=watch)
    thread.start()
    shell.run("%config IpyJaxBench.progress = False")
    try:
        shell.run("import time\n%fwtime -q -r 300 time.sleep(0.01)")
    finally:
        shell.run("%config IpyJaxBench.progress = True")
        over.set()
        thread.join()
    assert {live.phase for live in found} >= {"first call", "measuring"}
    assert len({live.updated for live in found}) <= 16  # in three seconds and some
    lefts = [live.left for live in found if live.left is not None]  # on a busy machine few
    assert 0 < min(lefts) < 4


@pytest.mark.parametrize("how", ["configured", "environment"])
def test_without_a_history_there_is_no_file(
    shell: Shell, seen: list[LiveMeasurement], place: Path, how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if how == "environment":
        monkeypatch.setenv("IPYJAXBENCH_HISTORY", "0")
    else:
        shell.run("%config IpyJaxBench.history = False")
    try:
        shell.run("%fwtime -q -n1 -r1 look()")
    finally:
        shell.run("%config IpyJaxBench.history = True")
    assert seen == []
    assert not place.exists()


@pytest.mark.parametrize(
    ("code", "error"),
    [("look(); 1 / 0", ZeroDivisionError), ("look(); interrupt()", KeyboardInterrupt)],
)
def test_after_what_stops_it_nothing_is_left(
    shell: Shell, seen: list[LiveMeasurement], code: str, error: type[BaseException]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    shell.names["interrupt"] = interrupt
    with pytest.raises(error):
        shell.run(f"%fwtime -q {code}")
    del shell.names["interrupt"]
    assert len(seen) == 1


def test_a_magic_within_a_magic_writes_no_second_file(
    shell: Shell, seen: list[LiveMeasurement]
) -> None:
    shell.run("def outer():\n    get_ipython().run_line_magic('fwtime', '-q -n1 -r1 look()')")
    shell.run("%fwtime -q -n1 -r1 outer()")
    assert {live.line for live in seen} == {"outer()"}


def test_a_home_that_cannot_be_written_to_changes_nothing(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "file"))
    assert shell.run("%fwtime -q -o -n1 -r2 1 + 1").samples


def test_a_kernel_that_dies_while_it_measures_is_seen_to() -> None:
    """The first call kills it: nothing of ours runs after that."""
    kernel, reader = Kernel(), LiveReader()
    try:
        kernel.client.execute(
            "%load_ext ipyjaxbench\nimport os, signal, time\n"
            "%fwtime time.sleep(1); os.kill(os.getpid(), signal.SIGKILL)"
        )
        (live,) = wait_until(reader.read)
        assert (live.phase, live.died) == ("first call", False)
        (live,) = wait_until(lambda: [each for each in reader.read() if each.died])
        assert live.line.startswith("time.sleep(1)")
    finally:
        kernel.close()


def test_an_interrupted_kernel_leaves_no_file(place: Path) -> None:
    kernel = Kernel()
    try:
        kernel.run("%load_ext ipyjaxbench\nimport time")
        shown = kernel.run(
            "%fwtime -q -b 60 time.sleep(0.01) or print('one')", interrupt_after="one"
        )
        assert shown.error == "KeyboardInterrupt"
        assert list(place.iterdir()) == []
    finally:
        kernel.close()
