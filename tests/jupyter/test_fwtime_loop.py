"""``%%fwtime --loop``."""

import re

import pytest
from IPython.core.error import UsageError

from ipyjaxbench import LoopTimes
from ipyjaxbench.reports.result import MIME
from tests.jupyter.kernel import Kernel
from tests.shell import Shell

LOOP = "for i in range(9):\n    total = i\n"


def test_the_cell_runs_once_and_its_names_stay(shell: Shell) -> None:
    shell.names["seen"] = []
    shell.run(f"%%fwtime --loop -v kept\n\n\n{LOOP}    seen.append(i)\nlast = i")
    result = shell.names["kept"]
    assert type(result) is LoopTimes
    assert (shell.names["seen"], shell.names["last"]) == ([*range(9)], 8)
    assert (result.count, result.line) == (9, 4)
    texts = ["for i in range(9):", "total = i", "seen.append(i)"]
    assert [(each.line, each.text) for each in result.lines] == [*enumerate(texts, 4)]
    assert MIME in shell.shown[-1].data


def test_a_line_chooses_another_loop(shell: Shell) -> None:
    cell = "for e in range(4):\n    for i in range(3):\n        abs(i)\n"
    for option, line, count in (("", 3, 12), ("--line 2", 2, 4), ("--line 3", 3, 12)):
        result = shell.run(f"%%fwtime --loop -o {option}\n{cell}")
        assert (result.line, result.count) == (line, count)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("%fwtime --loop abs(3)", "write %%fwtime --loop above it"),
        ("%fwtime --line 3 abs(3)", "--line 3 needs --loop: %%fwtime --loop --line 3"),
        ("%%fwtime --loop\nabs(3)", "there is no for loop in this cell"),
        (f"%%fwtime --loop --line 40\n{LOOP}", "--line 40 is in no for loop"),
        (f"%%fwtime --loop --line x\n{LOOP}", "--line x"),
        *((f"%%fwtime --loop {option}\n{LOOP}",
           f"--loop and {option.split()[0]} cannot be combined") for option in
          ("-n 3", "--memory", "--passes", "--trace a.json", "--ops", "--engines all")),
        (f"%%fwtime --loop x = 3\n{LOOP}", "'x = 3' is not an option"),
        ("%%fwtime --loop\nfor i in range(3) pass", "SyntaxError in line 2"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_gets_one_line(shell: Shell, typed: str, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)) as raised:
        shell.run(typed)
    assert len(str(raised.value).splitlines()) == 1
    assert "total" not in shell.names


def test_an_error_is_raised_after_what_was_measured_is_shown(shell: Shell) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run("%%fwtime --loop -v r\nfor i in range(9):\n    b = 6 / (5 - i)\n")
    assert shell.names["i"] == 5
    assert shell.names["r"].count == 5
    assert "after 5 whole steps" in " ".join(shell.shown[-1].data["text/plain"].split())
    assert "-> 3     b = 6 / (5 - i)" in shell.text  # older IPythons name no line
    assert "steps/" not in shell.text  # no frame of ours


def test_a_loop_may_await(shell: Shell) -> None:
    cell = "import asyncio\nfor i in range(5):\n    await asyncio.sleep(0)\n"
    result = shell.run(f"%%fwtime --loop -o\n{cell}")
    assert result.count == 5


def test_a_kernel_is_interrupted_in_an_endless_loop(kernel: Kernel) -> None:
    cell = "%%fwtime --loop -v r\nimport itertools, signal\nfor i in itertools.count():\n"
    cell += "    if i == 3: print('be' + 'gun', flush=True); signal.pause()\n"
    shown = kernel.run(cell, interrupt_after="begun")
    assert (shown.status, shown.error) == ("error", "KeyboardInterrupt")
    result = LoopTimes.from_dict(shown.results[-1][MIME])
    assert result.count >= 3
    assert result.notes[0].code == "loop-stopped"
    assert kernel.run("print(r.count == i, i >= 3)").text == "True True\n"
