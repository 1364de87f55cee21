"""Errors stop the run, point at the user's line, and can be debugged."""

import re
import sys

import pytest
from IPython.core.error import UsageError

from tests.jupyter.kernel import Kernel
from tests.jupyter.terminal import Terminal
from tests.jupyter.uses import FAILING, FAILS
from tests.shell import Shell

NAMES = ("fwtime", "fwcompare", "fwdevices", "trace_cached", "jaxpr", "fxgraph", "tfgraph")
UNREADABLE = {
    "%fwtime f(": 1,
    "%%fwcompare\na: 1\nb: f(": 3,
    "%%fwdevices\nf(": 2,
    "1\n%trace_cached f(": 2,
    "%%trace_cached\n\nf(": 3,
}


@pytest.mark.parametrize("magic", FAILING)
def test_an_error_shows_the_users_lines_alone_and_the_next_cell_runs(
    shell: Shell, magic: str
) -> None:
    shell.run(FAILS)
    # A line stands below others, and ends the cell; a cell begins with its magic.
    is_line = not FAILING[magic].startswith("%%")
    cell = f"x = 1\n\n{FAILING[magic]}\nafter = 1" if is_line else FAILING[magic]
    with pytest.raises(ZeroDivisionError):
        shell.run(cell)
    number, line = next((n, line) for n, line in enumerate(cell.splitlines(), 1) if "g(3)" in line)
    code = re.escape(line.rpartition(" ")[2])
    assert re.search(rf"----> {number} (\w+: )?{code}", shell.text)  # an arm has its label
    assert "----> 3     return b / 0" in shell.text
    assert not [word for word in ("ipyjaxbench", "contextlib") if word in shell.text]
    shell.run("from IPython.display import display\nprint('heard'); display('seen'); y = 1 + 1")
    assert "after" not in shell.names
    assert shell.names["y"] == 2
    assert "heard" in shell.text
    assert len(shell.shown) == 1


@pytest.mark.parametrize("magic", ["%%fwtime's set-up", "%%fwcompare's arm", "%trace_cached"])
def test_an_error_fails_the_cell_of_a_notebook_and_can_be_debugged(
    kernel: Kernel, magic: str
) -> None:
    kernel.run(FAILS)
    shown = kernel.run(FAILING[magic])
    assert (shown.status, shown.error) == ("error", "ZeroDivisionError")
    shown = kernel.run("%debug", answers=["p b + 1000", "q"])
    assert "----> 3     return b / 0" in shown.text
    assert "1004" in shown.text


@pytest.mark.parametrize("magic", ["%fwtime", "%%fwcompare's arms", "%%fwdevices"])
def test_in_a_terminal_it_can_be_shown_again_and_debugged(terminal: Terminal, magic: str) -> None:
    terminal.type(FAILS)
    terminal.type(FAILING[magic])
    assert "----> 3     return b / 0" in terminal.type("%tb")
    assert "----> 3     return b / 0" in terminal.type("%debug")
    assert "1004" in terminal.type("p b + 1000")
    assert "g(3)" in terminal.type("u")
    terminal.type("q")


@pytest.mark.parametrize("magic", NAMES)
def test_an_unknown_option_is_one_line_and_ends_the_cell(shell: Shell, magic: str) -> None:
    with pytest.raises(UsageError):
        shell.run(f"%{magic} --nope x\nnever = 1")
    (line,) = shell.text.strip().splitlines()
    assert line.startswith("UsageError: unknown option --nope")
    assert "never" not in shell.names


@pytest.mark.parametrize("cell", UNREADABLE)
def test_code_that_cannot_be_read_is_one_line_with_its_number(shell: Shell, cell: str) -> None:
    with pytest.raises(UsageError):
        shell.run(cell)
    (line,) = shell.text.strip().splitlines()
    assert line.startswith(f"UsageError: SyntaxError in line {UNREADABLE[cell]}, ")


def test_what_makes_no_program_is_one_line(kernel: Kernel) -> None:
    """In a process of its own: with JAX imported it is a program of JAX's."""
    kernel.run("import numpy as np\na = np.arange(9.0)")
    shown = kernel.run("%jaxpr a.sum()\nnever = 1")
    assert (shown.status, shown.error) == ("error", "UsageError")
    (line,) = shown.text.strip().splitlines()
    assert line.startswith("UsageError: 'a.sum()' has no program: NumPy and Python code has none.")


def test_what_cannot_be_looked_at_is_one_line_and_names_of_ipython_are_not_meant(
    shell: Shell,
) -> None:
    shell.names.update(weights=1)
    for typed, meant in {"weight": " Did you mean weights?", "exi": "", "get_ipytho": ""}.items():
        with pytest.raises(UsageError) as caught:
            shell.run(f"%fwdevices {typed}")
        assert str(caught.value) == f"{typed}: name {typed!r} is not defined.{meant}"


def test_explain_stands_alone_and_needs_an_error(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError) as raised:
        shell.run("%explain f(x)")
    assert str(raised.value) == "'f(x)': %explain takes no code. It explains the last error."
    shell.shell.find_magic("explain").__self__.session.last_error.forget()
    monkeypatch.delattr(sys, "last_value", raising=False)
    with pytest.raises(UsageError, match="No cell has failed yet"):
        shell.run("%explain")
