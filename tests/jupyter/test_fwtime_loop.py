"""``%%fwtime --loop``."""

import re

import pytest
from IPython.core.error import UsageError

from ipyjaxbench import LoopTimes
from ipyjaxbench.reports.result import MIME
from tests.jupyter.kernel import Kernel
from tests.shell import Shell

LOOP = "for i in range(9):\n    total = i\n"


def test_the_cell_runs_once_its_names_stay_and_a_line_chooses_the_loop(shell: Shell) -> None:
    shell.names["seen"] = []
    cell = (
        "\n\nimport asyncio\nfor e in range(4):\n    for i in range(3):\n        seen.append(i)\n"
    )
    cell += "await asyncio.sleep(0)"
    for number, (option, line, count) in enumerate((("", 6, 12), ("--line 5", 5, 4)), 1):
        result = shell.run(f"%%fwtime --loop -o {option}\n{cell}")
        assert type(result) is LoopTimes
        assert (result.line, result.count) == (line, count)
        assert (shell.names["seen"], shell.names["i"]) == ([0, 1, 2] * 4 * number, 2)
    texts = ["for e in range(4):", "for i in range(3):", "seen.append(i)"]
    assert [(each.line, each.text) for each in result.lines] == [*enumerate(texts, 5)]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("%fwtime --loop abs(3)", "write %%fwtime --loop above it"),
        ("%fwtime --line 3 abs(3)", "--line 3 needs --loop: %%fwtime --loop --line 3"),
        (f"%%fwtime --loop --line 40\n{LOOP}", "--line 40 is in no for loop"),
        (f"%%fwtime --loop -n 3\n{LOOP}", "--loop and -n cannot be combined"),
        (f"%%fwtime --loop x = 3\n{LOOP}", "'x = 3' is not an option"),
        ("%%fwtime --loop\nfor i in range(3) pass", "SyntaxError in line 2"),
    ],
)
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


def test_a_kernel_is_interrupted_in_an_endless_loop(kernel: Kernel) -> None:
    cell = "%%fwtime --loop -v r\nimport itertools, time\nfor i in itertools.count():\n"
    cell += "    if i == 3: print('be' + 'gun', flush=True)\n    time.sleep(0.01)\n"
    shown = kernel.run(cell, interrupt_after="begun")
    assert (shown.status, shown.error) == ("error", "KeyboardInterrupt")
    result = LoopTimes.from_dict(shown.results[-1][MIME])
    assert result.count >= 3
    assert result.notes[0].code == "loop-stopped"
    assert kernel.run("print(r.count == i, i >= 3)").text == "True True\n"
