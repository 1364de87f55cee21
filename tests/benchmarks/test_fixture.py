"""``fwbench`` in real runs of pytest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ipyjaxbench.benchmarks import fixture
from ipyjaxbench.host import Clock
from ipyjaxbench.records import read_benchmarks
from ipyjaxbench.testing import FakeClock
from tests.benchmarks.suite import Done, Pytest, data, suite, work

__all__ = ["suite", "work"]  # fixtures

COUNTING = """
import pathlib
def work(x): return x + 1
def test_one(fwbench):
    assert fwbench(work, 1) == 2
"""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds that pass are few."""
    monkeypatch.setitem(fixture._BUDGETS, "quick", 0.3)


@pytest.fixture
def known_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop that calls are held against has as many steps in each run."""
    clock = FakeClock(step=10_000_000)
    monkeypatch.setattr(Clock, "elapsed", lambda: clock)


def run_apart(work: Path, code: str, *options: str) -> Done:
    """Run pytest in a process of its own, with all plugins that are installed."""
    (work / "test_it.py").write_text(code, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-pno:cacheprovider", "--fwbench-quick"]
    done = subprocess.run(
        [*command, *options, "test_it.py"],
        cwd=work,
        env={**os.environ, "JUPYTER_DATA_DIR": str(data(work))},
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_it_returns_the_value_and_shows_one_table(work: Path) -> None:
    done = run_apart(work, COUNTING, "--fwbench-json", "a.json")
    assert done.returncode == 0, done.stdout
    assert "1 benchmark" in done.stdout
    (found,) = read_benchmarks(work / "a.json")
    assert (found.entry.name, found.entry.code) == ("test_it.py::test_one", "work(x)")
    assert found.entry.headline.name in done.stdout  # which one, the machine decides
    assert found.entry.median > 0
    assert found.entry.relative is not None


@pytest.mark.usefixtures("real_clock", "short")
def test_a_coroutine_function_is_awaited(suite: Pytest, work: Path) -> None:
    code = "import asyncio\nasync def f(x):\n    await asyncio.sleep(0.002)\n    return x\n"
    code += "def test_it(fwbench):\n    assert fwbench(f, 5) == 5\n"
    done = suite(code, "--fwbench-json", "a.json")
    assert done.returncode == 0, done.stdout
    assert read_benchmarks(work / "a.json")[0].entry.median > 0.002


def test_a_coroutine_function_in_an_event_loop_is_refused_in_one_line(suite: Pytest) -> None:
    code = "import asyncio\nasync def f(): ...\nasync def outer(b): b(f)\n"
    code += "def test_it(fwbench):\n    asyncio.run(outer(fwbench))\n"
    done = suite(code)
    assert done.returncode == 1
    assert "call it in a test that is a plain def" in done.stdout


CHANGING = """
made = []
async def wait(): made.append(len(made)); print("waited")
def test_it(fwbench, capsys):
    state = {"n": 0}
    def work():
        state["n"] += 1
        print("worked")
        return state["n"]
    assert fwbench(work) == 1
    assert state == {"n": 1}
    fwbench(wait)
    assert made == [0]
    assert capsys.readouterr().out == "worked\\nwaited\\n"
"""


@pytest.mark.usefixtures("real_clock", "short")
def test_the_state_and_what_is_printed_are_those_of_one_call(suite: Pytest) -> None:
    done = suite(CHANGING)
    assert done.returncode == 0, done.stdout


@pytest.mark.usefixtures("real_clock", "short")
def test_what_later_calls_log_is_in_no_record_of_pytests(suite: Pytest) -> None:
    code = "import logging\ndef test_it(fwbench, caplog):\n"
    code += "    fwbench(lambda: logging.error('hi'))\n    assert caplog.messages == ['hi']\n"
    done = suite(code)
    assert done.returncode == 0, done.stdout


SLOWED = """
import os
from ipyjaxbench.host import CLOCKS
clock, times = CLOCKS["elapsed"](), int(os.environ.get("TIMES", "1"))
def work():
    print("worked")
    clock.advance(10_000_000 * times)
def test_work(fwbench):
    fwbench(work)
    assert os.environ.get("WRONG") is None
"""


@pytest.mark.usefixtures("short", "known_loop")
def test_code_that_takes_eight_times_as_long_fails_its_test(suite: Pytest) -> None:
    assert suite(SLOWED, "--fwbench-json", "a.json").returncode == 0
    gate = ("--fwbench-compare", "a.json", "--fwbench-fail-slower", "10%")
    done = suite(SLOWED, *gate, TIMES="8")
    assert done.returncode == 1, done.stdout
    assert done.stdout.count("worked\n") == 1  # though it was measured twice
    assert "1 of 1 slower" in done.stdout
    assert "FAILED test_it.py::test_work - " in done.stdout
    assert "slower than a.json" in done.stdout
    assert "--fwbench-fail-slower allows 10" in done.stdout


@pytest.mark.usefixtures("short", "known_loop")
def test_faster_code_passes(suite: Pytest) -> None:
    assert suite(SLOWED, "--fwbench-json", "a.json", TIMES="4").returncode == 0
    gate = ("--fwbench-compare", "a.json", "--fwbench-fail-slower", "10%")
    assert suite(SLOWED, *gate).returncode == 0
    done = suite(SLOWED, WRONG="1")
    assert done.returncode == 1
    assert "AssertionError" in done.stdout  # an own failure of the test is what is shown


def test_last_is_the_run_before(suite: Pytest, work: Path) -> None:
    assert suite(COUNTING, IPYJAXBENCH_HISTORY="0").returncode == 0
    assert not data(work).exists()  # without a history nothing is kept
    done = suite(COUNTING, "--fwbench-compare", "last")
    assert "nothing to compare with in the last run" in done.stdout
    done = suite(COUNTING, "--fwbench-compare", "last")
    assert "ratio [95 % CI]" in done.stdout


def test_what_says_nothing_is_shown_and_not_compared(suite: Pytest) -> None:
    code = "def test_lazy(fwbench):\n    fwbench(lambda: (i for i in range(9)))\n"
    suite(code, "--fwbench-json", "a.json")
    done = suite(code, "--fwbench-compare", "a.json", "--fwbench-fail-slower", "1%")
    assert done.returncode == 0
    assert "1 without a figure" in done.stdout
    assert "INVALID  test_lazy: The value is a generator" in done.stdout


def test_disabled_it_calls_once(suite: Pytest) -> None:
    code = "calls = []\ndef test_it(fwbench):\n    fwbench(calls.append, 1)\n"
    code += "    fwbench.options(setup=lambda: calls.append(0))(calls.append, 2)\n"
    code += "    assert calls == [1, 0, 2]\n"
    done = suite(code, "--fwbench-disable")
    assert done.returncode == 0, done.stdout
    assert "2 functions called once and not measured with --fwbench-disable" in done.stdout


def test_two_in_one_test_and_ids_with_signs_keep_their_names(suite: Pytest, work: Path) -> None:
    code = "import pytest\nmade = []\n@pytest.mark.parametrize('x', ['a::b|`c'])\n"
    code += "def test_it(fwbench, x):\n    fwbench(len, x)\n"
    code += "    often = fwbench.options(loops=1, repeat=9, setup=lambda: made.append(0))\n"
    code += "    often(str, x)\n    assert len(made) >= 9\n"
    assert suite(code, "--fwbench-json", "a.json").returncode == 0
    first, second = (each.entry for each in read_benchmarks(work / "a.json"))
    assert first.name == "test_it.py::test_it[a::b|`c]"
    assert second.name == "test_it.py::test_it[a::b|`c]#2"
    assert second.figure.samples == 8  # options say how often


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--fwbench-compare", "none.json"), "none.json: no such file"),
        (("--fwbench-compare", "test_it.py"), "test_it.py cannot be read: not JSON"),
        (("--fwbench-compare", "other.json"), "other.json is not a file of benchmarks"),
        (("--fwbench-compare", "last", "--fwbench-fail-slower", "10"),
         "--fwbench-fail-slower 10: must be a percentage, 0% or more, for example"),
        (("--fwbench-fail-slower", "10%"),
         "--fwbench-fail-slower 10% has nothing to compare with: add --fwbench-compare FILE"),
        (("--fwbench-json", "no/a.json"), "--fwbench-json no/a.json: there is no directory no"),
        (("--fwbench-json", "."), "--fwbench-json .: must be a file to write"),
        (("--fwbench-disable", "--fwbench-json", "a.json"),
         "--fwbench-json: nothing is measured with --fwbench-disable"),
    ],
)  # fmt: skip
def test_what_is_mistyped_ends_in_one_line(
    suite: Pytest, work: Path, options: tuple[str, ...], error: str
) -> None:
    (work / "other.json").write_text(json.dumps({"kind": "measurement"}))
    done = suite(COUNTING, *options)
    assert done.returncode == 4
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert lines[0].startswith(f"ERROR: {error}")
    assert len(lines) == 1


def test_what_is_no_function_is_refused_in_one_line(suite: Pytest) -> None:
    done = suite("def test_it(fwbench):\n    fwbench(3)\n")
    assert "write fwbench(f, x)" in done.stdout


def test_an_option_among_the_arguments_is_refused_with_the_way_to_say_it(suite: Pytest) -> None:
    code = "def reset(): ...\ndef area(x): return x\ndef both(budget): return budget\n"
    code += "def test_it(fwbench):\n    few = fwbench.options(loops=1, repeat=2)\n"
    code += "    assert few(both, budget=1) == 1\n"
    code += "    fwbench(area, 3, budget=1, setup=reset)\n"
    done = suite(code)
    assert done.returncode == 1
    assert (
        "OptionError: budget=1, setup=reset: area has no such argument; to say how to measure,"
        " write fwbench.options(budget=1, setup=reset)(f, x)"
    ) in " ".join(line.removeprefix("E").strip() for line in done.stdout.splitlines())


def test_an_error_of_the_function_reaches_the_test(suite: Pytest) -> None:
    code = "import pytest\ndef bad(): raise ValueError('mine')\n"
    code += "def test_it(fwbench):\n    with pytest.raises(ValueError, match='mine'):\n"
    code += "        fwbench(bad)\n"
    assert suite(code).returncode == 0


def test_the_hooks_load_nothing_but_pytest(tmp_path: Path) -> None:
    code = "import pytest, sys; before = set(sys.modules);"
    code += " from importlib.metadata import entry_points as each;"
    code += " (found,) = each(group='pytest11', name='ipyjaxbench'); found.load();"
    code += " print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = {name for name in done.stdout.split() if name.startswith("ipyjaxbench")}
    room = "ipyjaxbench.benchmarks"
    assert loaded == {"ipyjaxbench", room, f"{room}.pytest_plugin"}
    assert not {"numpy", "msgspec", "rich", "jax", "torch", "tensorflow"} & {*done.stdout.split()}
