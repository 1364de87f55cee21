"""Errors stop the run, point at the user's line, and can be debugged."""

import re
import sys

import pytest
from IPython.core.error import UsageError

import ipyjaxbench
from ipyjaxbench import OptionError
from ipyjaxbench.errors import SnippetError
from tests.jupyter.kernel import Kernel
from tests.jupyter.terminal import Terminal
from tests.jupyter.uses import FAILING, FAILS
from tests.shell import Shell

NAMES = ("fwtime", "fwcompare", "fwdevices", "trace_cached", "jaxpr", "fxgraph", "tfgraph")
UNREADABLE = {
    "%%fwtime\nx = 1\nf(": 3,
    "%%fwcompare\na: 1\nb: f(": 3,
    "%%fwdevices\nf(": 2,
    "1\n%trace_cached f(": 2,
    "%%trace_cached\n\nf(": 3,
    "%jaxpr f(": 1,
}
LINES = [magic for magic, code in FAILING.items() if not code.startswith("%%")]


@pytest.mark.parametrize("magic", FAILING)
def test_an_error_shows_the_users_lines_alone_and_the_next_cell_runs(
    shell: Shell, magic: str
) -> None:
    shell.run(FAILS)
    with pytest.raises(ZeroDivisionError):
        shell.run(FAILING[magic])
    lines = FAILING[magic].splitlines()
    number, line = next((n, line) for n, line in enumerate(lines, 1) if "g(3)" in line)
    code = re.escape(line.rpartition(" ")[2])
    assert re.search(rf"----> {number} (\w+: )?{code}", shell.text)  # an arm has its label
    assert "----> 3     return b / 0" in shell.text
    assert "ipyjaxbench" not in shell.text
    assert "contextlib" not in shell.text
    shell.run("from IPython.display import display\nprint('heard'); display('seen'); y = 1 + 1")
    assert shell.names["y"] == 2
    assert "heard" in shell.text
    assert len(shell.shown) == 1


@pytest.mark.parametrize("magic", LINES)
def test_an_error_of_a_line_stops_the_cell_at_its_number(shell: Shell, magic: str) -> None:
    shell.run(FAILS)
    with pytest.raises(ZeroDivisionError):
        shell.run(f"x = 1\n\n{FAILING[magic]}\nafter = 1")
    assert "after" not in shell.names
    assert "----> 3 g(3)" in shell.text


@pytest.mark.parametrize("magic", FAILING)
def test_an_error_fails_the_cell_of_a_notebook_and_can_be_debugged(
    kernel: Kernel, magic: str
) -> None:
    kernel.run(FAILS)
    shown = kernel.run(FAILING[magic])
    assert (shown.status, shown.error) == ("error", "ZeroDivisionError")
    shown = kernel.run("%debug", answers=["p b + 1000", "q"])
    assert "----> 3     return b / 0" in shown.text
    assert "1004" in shown.text


@pytest.mark.parametrize("magic", FAILING)
def test_in_a_terminal_it_can_be_shown_again_and_debugged(terminal: Terminal, magic: str) -> None:
    terminal.type(FAILS)
    terminal.type(FAILING[magic])
    assert "----> 3     return b / 0" in terminal.type("%tb")
    assert "----> 3     return b / 0" in terminal.type("%debug")
    assert "1004" in terminal.type("p b + 1000")
    assert "g(3)" in terminal.type("u")
    terminal.type("q")


@pytest.mark.parametrize("magic", NAMES)
def test_an_unknown_option_is_one_line_and_fails_the_cell_of_a_notebook(
    shell: Shell, kernel: Kernel, magic: str
) -> None:
    with pytest.raises(UsageError):
        shell.run(f"%{magic} --nope x")
    (line,) = shell.text.strip().splitlines()
    assert line.startswith("UsageError: unknown option --nope")
    shown = kernel.run(f"%{magic} --nope x\nnever = 1")
    assert (shown.status, shown.error) == ("error", "UsageError")
    assert kernel.run("never").error == "NameError"


@pytest.mark.parametrize("cell", UNREADABLE)
def test_code_that_cannot_be_read_is_one_line_with_its_number(shell: Shell, cell: str) -> None:
    with pytest.raises(UsageError):
        shell.run(cell)
    (line,) = shell.text.strip().splitlines()
    assert line.startswith(f"UsageError: SyntaxError in line {UNREADABLE[cell]}, ")


def test_what_makes_no_program_is_one_line(kernel: Kernel) -> None:
    """In a process of its own: with JAX imported it is a program of JAX's."""
    kernel.run("import numpy as np\na = np.arange(9.0)")
    shown = kernel.run("%jaxpr a.sum()")
    (line,) = shown.text.strip().splitlines()
    assert line.startswith("UsageError: 'a.sum()' has no program: NumPy and Python code has none.")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("weight", "weight: name 'weight' is not defined. Did you mean weights?"),
        ("ran.append(1) b = ran",
         "ran.append(1) b = ran: type names or expressions, separated by spaces"),
        *((name, f"{name}: name {name!r} is not defined.") for name in ("exi", "get_ipytho")),
    ],
)  # fmt: skip
def test_what_cannot_be_looked_at_is_one_line_and_nothing_is_run(
    shell: Shell, typed: str, told: str
) -> None:
    shell.names.update(weights=1, ran=[], nonexistent=1)
    with pytest.raises(UsageError) as caught:
        shell.run(f"%fwdevices {typed}")
    assert str(caught.value) == told
    assert shell.names["ran"] == []


def test_explain_stands_alone_and_needs_an_error(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError) as raised:
        shell.run("%explain f(x)")
    assert str(raised.value) == "'f(x)': %explain takes no code. It explains the last error."
    monkeypatch.delattr(sys, "last_value", raising=False)
    with pytest.raises(UsageError, match="No cell has failed yet"):
        shell.run("%explain")


@pytest.mark.parametrize(
    "cell",
    [
        '%fwtime "f({})"', "%fwtime -v a{} f(x)", "%fwtime --z{} f(x)", "%fwtime f{}(x",
        "%fwcompare a{}b c", "%%fwcompare --sweep n={}1\na: n\nb: n", "%%fwcompare\na{}: n",
        "%fwhistory --since {}7", "%fwdevices {}", '%jaxpr --shapes "f{}2[3]" f',
    ],
)  # fmt: skip
@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\x1b[2J", "\x07"])
def test_signs_that_a_terminal_obeys_are_written_out(shell: Shell, cell: str, sign: str) -> None:
    with pytest.raises(UsageError) as caught:
        shell.run(cell.format(sign))
    assert sign not in str(caught.value) + shell.text
    assert ascii(sign)[1:-1] in str(caught.value)


def test_they_are_written_out_in_python_too() -> None:
    with pytest.raises(OptionError, match=r"^baseline 'b\\u202e': no such arm"):
        ipyjaxbench.compare({"a": int, "b": float}, baseline="b\u202e")
    with pytest.raises(SnippetError, match=r"^'a\\u202eb' is a string"):
        ipyjaxbench.measure_code("'a\u202eb'")
