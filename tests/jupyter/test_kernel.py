"""`%fwtime` in a real kernel, as Run All and papermill run it."""

import re

import nbformat
import pytest

from ipyjaxbench import Measurement
from ipyjaxbench.reports.result import MIME
from tests.jupyter.kernel import Kernel, run_all


@pytest.fixture(scope="module")
def book() -> nbformat.NotebookNode:
    return run_all(
        "%load_ext ipyjaxbench\nimport numpy as np\na = np.ones((30, 30))",
        "%fwtime -b 0.05 y = a @ a",
        "%%fwtime -b 0.05\nprint('first')\nz = y.sum()",
        "r = %fwtime -b 0.05 a + 1\nprint(type(r).__name__, z)",
        "with np.errstate(all='ignore'):\n    %fwtime -b 0.05 a / 0",
        "1\n\n%fwtime a / nothing",
        "never = 1",
    )


def test_each_magic_leaves_one_output_that_reads_back(book: nbformat.NotebookNode) -> None:
    for cell in book.cells[1:5]:
        (shown,) = [o for o in cell.outputs if o.output_type == "display_data"]
        assert set(shown.data) == {"text/plain", "text/html", MIME}
        assert Measurement.from_dict(dict(shown.data[MIME])).samples
    printed = [[o.text for o in c.outputs if o.output_type == "stream"] for c in book.cells[:5]]
    assert printed == [[], [], ["first\n"], ["Measurement 27000.0\n"], []]  # one call prints
    nbformat.validate(book)


@pytest.mark.parametrize(
    ("cell", "begins"),
    [
        ("%fwtime -b 2 time.sleep(random.random() / 50)", "measuring: "),
        ("%%trace_cached\ntime.sleep(2.5)", "running: # s so far"),
    ],
)
def test_whatever_takes_long_says_so_and_leaves_one_clean_output(
    kernel: Kernel, cell: str, begins: str
) -> None:
    kernel.run("import time, random")
    first, *_, last = kernel.run(cell).results
    assert re.sub(r"[\d.]+", "#", first["text/plain"]).startswith(begins)
    assert MIME in last


def test_an_error_stops_run_all_at_the_users_line(book: nbformat.NotebookNode) -> None:
    (error,) = book.cells[5].outputs
    assert (book.metadata["stopped_by"], error.ename) == ("NameError", "NameError")
    traceback = re.sub(r"\x1b\[[\d;]*m", "", "".join(error.traceback))
    assert "----> 3 a / nothing" in traceback
    assert book.cells[6].execution_count is None
