"""`%fwtime` in a real kernel, as Run All and papermill run it."""

import re
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from ipyjaxbench import Measurement
from ipyjaxbench.reports.result import MIME
from tests.jupyter.kernel import Kernel

#: Cells that take long, and how what they say first begins, with # for each number.
LONG = {
    "%fwtime -b 2 time.sleep(random.random() / 50)": "measuring: ",
    "%fwtime -n 1 -r 1 time.sleep(2.5)": "first call: # s so far",
    "%%trace_cached\ntime.sleep(2.5)": "running: # s so far",
    "%%fwdevices\ntime.sleep(2.5)": "running: # s so far",
}


class Listener(NotebookClient):
    """Also keeps all that was shown in each cell, one after the other."""

    def __init__(self, *cells: str) -> None:
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        super().__init__(book, timeout=120, kernel_name="python3")
        self.told: list[list[str]] = [[] for _ in cells]
        self.stopped_by = ""
        try:
            self.execute()
        except CellExecutionError as error:
            self.stopped_by = error.ename

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.told[cell_index].append(msg["content"]["data"]["text/plain"])
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def heard() -> Listener:
    return Listener(
        "%load_ext ipyjaxbench\nimport time, random\nimport numpy as np\na = np.ones((30, 30))",
        "%fwtime -b 0.05 y = a @ a",
        "%%fwtime -b 0.05\nprint('first')\nz = y.sum()",
        "r = %fwtime -b 0.05 a + 1\nprint(type(r).__name__, z)",
        "with np.errstate(all='ignore'):\n    %fwtime -b 0.05 a / 0",
        *LONG,
        "1\n\n%fwtime a / nothing",
        "never = 1",
    )


@pytest.fixture(scope="module")
def book(heard: Listener) -> nbformat.NotebookNode:
    return heard.nb


def test_each_magic_leaves_one_output_that_reads_back(book: nbformat.NotebookNode) -> None:
    for cell in book.cells[1:5]:
        (shown,) = [o for o in cell.outputs if o.output_type == "display_data"]
        assert set(shown.data) == {"text/plain", "text/html", MIME}
        assert Measurement.from_dict(dict(shown.data[MIME])).samples
    nbformat.validate(book)


def test_loading_and_assigning_say_nothing_more(book: nbformat.NotebookNode) -> None:
    assert book.cells[0].outputs == []
    shown, *printed = book.cells[3].outputs
    assert shown.output_type == "display_data"
    # What one `print` writes may come in several parts, where the machine is busy.
    assert "".join(each.text for each in printed) == "Measurement 27000.0\n"


def test_the_first_call_prints_and_later_ones_do_not(book: nbformat.NotebookNode) -> None:
    printed = [o.text for o in book.cells[2].outputs if o.output_type == "stream"]
    assert "".join(printed) == "first\n"


def test_whatever_takes_long_says_so_and_leaves_one_clean_output(heard: Listener) -> None:
    for cell, told in zip(heard.nb.cells, heard.told, strict=True):
        if not (begin := LONG.get(cell.source)):
            continue
        *lines, result = told
        assert lines
        first = re.sub(r"[\d.]+", "#", lines[0])
        assert first == begin or (begin == "measuring: " and first.startswith(begin))
        (shown,) = cell.outputs
        assert shown.data["text/plain"] == result


def test_an_error_stops_run_all_at_the_users_line(heard: Listener) -> None:
    *_, failed, never = heard.nb.cells
    (error,) = failed.outputs
    assert (heard.stopped_by, error.ename) == ("NameError", "NameError")
    traceback = re.sub(r"\x1b\[[\d;]*m", "", "".join(error.traceback))
    assert "----> 3 a / nothing" in traceback
    assert never.execution_count is None


def test_what_cells_show_while_another_thread_measures_is_shown(kernel: Kernel) -> None:
    kernel.run(
        "import threading\nbegun, shown = threading.Event(), threading.Event()\n"
        "calls = iter([int, lambda: begun.set() or shown.wait(20)])\n"
        "def call():\n    next(calls, int)()\n"
        "def measure():\n    global r\n"
        "    r = get_ipython().run_line_magic('fwtime', '-q -o -n 1 -r 3 call()')\n"
        "beside = threading.Thread(target=measure)\nbeside.start()\nassert begun.wait(20)"
    )
    shown = kernel.run("print('heard')\ndisplay('seen')")
    kernel.run("shown.set()\nbeside.join()")
    assert shown.text == "heard\n"
    assert [data["text/plain"] for data in shown.results] == ["'seen'"]
    assert kernel.run("print(len(r.samples))").text == "2\n"
