"""An interrupt leaves a shell that can be used, and what was measured until then."""

import pytest

from ipyjaxbench import Comparison, Measurement
from ipyjaxbench.reports.result import MIME
from tests.jupyter.kernel import Kernel
from tests.jupyter.terminal import Terminal
from tests.shell import Shell

SLOW = "import time\ndef slow():\n    print('begun', flush=True)\n    time.sleep(0.2)"
#: What runs for long, and says so when it begins.
USES = {
    "%fwtime": "%fwtime slow()",
    "%%fwtime": "%%fwtime\nslow()",
    "%%fwtime --loop": "%%fwtime --loop\nfor _ in range(99): slow()",
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
    with pytest.raises(KeyboardInterrupt):
        shell.run("r = %fwtime -v kept -n 1 -r 50 y = f()")
    result = shell.names["kept"]
    assert [note.code for note in result.notes] == ["interrupted", "state-advanced"]
    assert len(result.samples) == 29
    assert shell.names["y"] is None
    assert "r" not in shell.names
    assert MIME in shell.shown[-1].data


def test_an_interrupted_result_that_would_be_returned_is_shown(shell: Shell) -> None:
    calls = iter([None] * 30)
    shell.names["f"] = lambda: next(calls)
    shell.run("def g():\n    try: f()\n    except StopIteration: raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        shell.run("%fwtime -o -n 1 -r 50 g()")
    assert MIME in shell.shown[-1].data
    assert "g()" in shell.text  # the traceback shows the line of the user


@pytest.mark.parametrize(
    "cell",
    ["%%fwdevices\n1 / 0", "%%fwdevices -o\n1 / 0", "%%trace_cached\n1 / 0",
     "%%trace_cached -o\n1 / 0", "%trace_cached 1 / 0", "r = %trace_cached 1 / 0"],
)  # fmt: skip
def test_what_was_seen_before_an_error_is_shown_however_it_is_used(shell: Shell, cell: str) -> None:
    with pytest.raises(ZeroDivisionError):
        shell.run(cell)
    assert MIME in shell.shown[-1].data


def test_a_measurement_in_a_notebook_keeps_what_it_has(kernel: Kernel) -> None:
    kernel.run(SLOW)
    shown = kernel.run("%fwtime -v r -n 1 -r 99 slow()\nafter = 1", interrupt_after="measuring: ")
    assert (shown.status, shown.error) == ("error", "KeyboardInterrupt")
    result = Measurement.from_dict(shown.results[-1][MIME])
    assert "interrupted" in [note.code for note in result.notes]
    assert kernel.run("print(1 <= len(r.samples) < 99, 'after' in globals())").text == (
        "True False\n"
    )


def test_cells_that_wait_behind_an_interrupted_measurement_do_not_run(kernel: Kernel) -> None:
    kernel.run("import time, threading, os, signal, ipyjaxbench")
    kernel.run("begun = threading.Event()")
    kernel.run("def press(): begun.wait(); time.sleep(2); os.kill(os.getpid(), signal.SIGINT)")
    kernel.run(SLOW.replace("print('begun', flush=True)", "begun.set()"))
    queue = kernel.client.execute
    asked = [
        queue("threading.Thread(target=press).start()\n%fwtime -n 100 slow()\nafter = 1"),
        queue("behind = 1"),
    ]
    replies = [kernel.client._recv_reply(each, timeout=60)["content"] for each in asked]
    assert [reply["status"] for reply in replies] == ["error", "aborted"]
    assert kernel.run("print({'after', 'behind'} & set(globals()))").text == "set()\n"


def test_a_comparison_in_a_notebook_keeps_what_it_has(kernel: Kernel) -> None:
    cell = "%%fwcompare -b 60\na: sum(range(1000))\nb: sum(range(9000))"
    shown = kernel.run(cell, interrupt_after="measuring")
    assert (shown.status, shown.error) == ("error", "KeyboardInterrupt")
    result = Comparison.from_dict(shown.results[-1][MIME])
    assert "interrupted" in [note.code for note in result.notes]


@pytest.mark.parametrize("magic", USES)
def test_an_interrupt_of_the_first_run_ends_the_cell_and_a_notebook_is_as_before(
    kernel: Kernel, magic: str
) -> None:
    kernel.run(SLOW)
    kernel.run("import gc, signal\nbefore = gc.isenabled(), signal.getsignal(signal.SIGINT)")
    shown = kernel.run(USES[magic], interrupt_after="begun")
    assert (shown.status, shown.error) == ("error", "KeyboardInterrupt")
    shown = kernel.run(SAYS_THAT_IT_WORKS)
    assert shown.text == "heard\n"
    assert [data["text/plain"] for data in shown.results] == ["'seen'"]
    now = "print(before == (gc.isenabled(), signal.getsignal(signal.SIGINT)))"
    assert kernel.run(now).text == "True\n"


@pytest.mark.parametrize("magic", ["%%fwtime", "%%fwcompare", "%%fwdevices", "%trace_cached"])
def test_control_c_in_a_terminal_ends_the_line_and_no_more(terminal: Terminal, magic: str) -> None:
    terminal.type(SLOW)
    assert "KeyboardInterrupt" in terminal.interrupt(USES[magic], "begun")
    assert terminal.type("print('heard')").startswith("heard")
