"""While a magic measures, a file says so; a server reads it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipyjaxbench.host import Clock
from ipyjaxbench.records import LiveMeasurement, LiveReader
from ipyjaxbench.testing import FakeClock
from tests.bench import recorder
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


def test_its_run_is_the_file_of_the_history(
    shell: Shell, seen: list[LiveMeasurement], place: Path
) -> None:
    shell.session.close()  # a file in another folder
    shell.run("%fwtime -q -n1 -r1 look()\n%fwtime -q -n1 -r1 look()")
    assert seen[0].run == ""
    files = {path.stem for path in (place.parent / "history").glob("*.jsonl")}
    assert seen[-1].run in files


@pytest.mark.parametrize(
    "cell",
    ["%fwtime -n1 -r1 look()", "%%fwtime -q -n1 -r1\nlook()",
     "%%fwcompare -q -b 0.01\na: look()\nb: 1 + 1"],
)  # fmt: skip
def test_however_it_is_typed_it_is_seen(
    shell: Shell, seen: list[LiveMeasurement], cell: str
) -> None:
    shell.run(cell)
    assert "look()" in seen[0].line
    assert (seen[0].phase, seen[0].pid, seen[0].died) == ("first call", os.getpid(), False)


def test_without_progress_on_the_screen_it_is_seen(
    shell: Shell, scripted_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    note, seen = recorder()
    shell.names["look"] = lambda: note(*LiveReader().read())
    monkeypatch.setattr(Clock, "calendar", lambda: scripted_clock)
    shell.run("%config IpyJaxBench.progress = False")
    try:
        shell.run("%fwtime -q -n 1 -r 150 look()")
    finally:
        shell.run("%config IpyJaxBench.progress = True")
        del shell.names["look"]
    assert {live.phase for live in seen} >= {"first call", "measuring"}
    moments = sorted(
        {live.updated for live in seen}
    )  # one each half second, of a second and a half
    assert [int(moment * 2) for moment in moments] == [0, 1, 2]
    lefts = [live.left for live in seen if live.left is not None]
    assert 0 < min(lefts) < max(lefts) < 1.5


def test_without_a_history_there_is_no_file(
    shell: Shell, seen: list[LiveMeasurement], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYJAXBENCH_HISTORY", "0")
    shell.run("%fwtime -q -n1 -r1 look()")
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


def test_an_interrupted_kernel_leaves_no_file_and_one_that_dies_is_seen_to(place: Path) -> None:
    """A first call kills it: nothing of ours runs after that."""
    kernel, reader = Kernel(), LiveReader()
    try:
        kernel.run("%load_ext ipyjaxbench\nimport os, signal, time")
        typed = "%fwtime -q -b 60 time.sleep(0.01) or print('one')"
        assert kernel.run(typed, interrupt_after="one").error == "KeyboardInterrupt"
        assert list(place.iterdir()) == []
        kernel.client.execute("%fwtime time.sleep(1); os.kill(os.getpid(), signal.SIGKILL)")
        (live,) = wait_until(reader.read)
        assert (live.phase, live.died) == ("first call", False)
        (live,) = wait_until(lambda: [each for each in reader.read() if each.died])
        assert live.line.startswith("time.sleep(1)")
    finally:
        kernel.close()
