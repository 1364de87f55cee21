"""An interrupt leaves a shell that can be used, and what was measured until then."""

import pytest

from ipyjaxbench import Comparison, Measurement
from ipyjaxbench.result import MIME
from tests.behaviour.kernel import Kernel
from tests.behaviour.terminal import Terminal
from tests.shell import Shell

SLOW = "import time\ndef slow():\n    print('begun', flush=True)\n    time.sleep(0.2)"
#: What runs for long, and says so when it begins.
USES = {
    "%fwtime": "%fwtime slow()",
    "%%fwtime": "%%fwtime\nslow()",
    "%%fwcompare": "%%fwcompare\nslow()\na: 1\nb: 2",
    "%fwdevices": "%fwdevices [slow() for _ in range(99)]",
    "%%fwdevices": "%%fwdevices\nfor _ in range(99): slow()",
    "%trace_cached": "%trace_cached [slow() for _ in range(99)]",
    "%%trace_cached": "%%trace_cached\nfor _ in range(99): slow()",
}
SAYS_THAT_IT_WORKS = "print('heard')\nfrom IPython.display import display\ndisplay('seen')"


def test_an_interrupt_keeps_what_was_measured(shell: Shell) -> None:
    calls = iter([None] * 30)

    def f() -> None:
        sum(range(5000))  # long enough for the clock
        if next(calls, 1):
            raise KeyboardInterrupt

    shell.names["f"] = f
    result = shell.run("%fwtime -o -q -n 1 -r 50 y = f()")
    assert [note.code for note in result.notes] == ["interrupted"]
    assert len(result.samples) == 29
    assert shell.names["y"] is None


def test_an_interrupt_in_the_first_call_is_an_interrupt(shell: Shell) -> None:
    def f() -> None:
        raise KeyboardInterrupt

    shell.names.update(f=f, y=1)
    with pytest.raises(KeyboardInterrupt):
        shell.run("%fwtime y = 2; f()")
    assert shell.names["y"] == 1


def test_a_measurement_in_a_notebook_keeps_what_it_has(kernel: Kernel) -> None:
    kernel.run(SLOW)
    shown = kernel.run("r = %fwtime -n 1 -r 99 slow()", interrupt_after="measuring: ")
    assert shown.status == "ok"
    result = Measurement.from_dict(shown.results[-1][MIME])
    assert "interrupted" in [note.code for note in result.notes]
    assert kernel.run("print(1 <= len(r.samples) < 99)").text == "True\n"


def test_a_comparison_in_a_notebook_keeps_what_it_has(kernel: Kernel) -> None:
    cell = "%%fwcompare -b 60\na: sum(range(1000))\nb: sum(range(9000))"
    shown = kernel.run(cell, interrupt_after="measuring")
    assert shown.status == "ok"
    result = Comparison.from_dict(shown.results[-1][MIME])
    assert "interrupted" in [note.code for note in result.notes]


@pytest.mark.parametrize("magic", USES)
def test_an_interrupt_of_the_first_run_ends_the_cell_of_a_notebook(
    kernel: Kernel, magic: str
) -> None:
    kernel.run(SLOW)
    shown = kernel.run(USES[magic], interrupt_after="begun")
    assert (shown.status, shown.error) == ("error", "KeyboardInterrupt")


@pytest.mark.parametrize("magic", USES)
def test_a_notebook_is_as_before_after_an_interrupt(kernel: Kernel, magic: str) -> None:
    kernel.run(SLOW)
    kernel.run("import gc, signal\nbefore = gc.isenabled(), signal.getsignal(signal.SIGINT)")
    kernel.run(USES[magic], interrupt_after="begun")
    shown = kernel.run(SAYS_THAT_IT_WORKS)
    assert shown.text == "heard\n"
    assert [data["text/plain"] for data in shown.results] == ["'seen'"]
    assert (
        kernel.run("print(before == (gc.isenabled(), signal.getsignal(signal.SIGINT)))").text
        == "True\n"
    )


@pytest.mark.parametrize("magic", USES)
def test_control_c_in_a_terminal_ends_the_line_and_no_more(terminal: Terminal, magic: str) -> None:
    terminal.type(SLOW)
    assert "KeyboardInterrupt" in terminal.interrupt(USES[magic], "begun")
    assert terminal.type("print('heard')").startswith("heard")


def test_control_c_in_a_terminal_keeps_what_was_measured(terminal: Terminal) -> None:
    terminal.type(SLOW)
    told = terminal.interrupt("%fwtime -n 1 -r 99 slow()", "measuring")
    assert "interrupted" in told.lower()
    assert "KeyboardInterrupt" not in told
