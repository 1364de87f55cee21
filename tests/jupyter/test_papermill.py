"""Papermill stops where the code fails, and leaves a notebook that says so."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from ipyjaxbench.reports.result import MIME
from tests.jupyter.uses import FAILING, FAILS

#: As a command; what it validates has no IRI, of which the grammar takes seconds to read.
PAPERMILL = """
import sys
sys.modules["rfc3987_syntax"] = None
from papermill.cli import papermill
papermill()
"""


@pytest.mark.skipif(
    importlib.util.find_spec("papermill") is None, reason="papermill is not installed"
)
def test_results_are_of_the_parameters_that_were_given_and_an_error_stops_the_run(
    tmp_path: Path,
) -> None:
    """In one notebook: each run of papermill imports for seconds. Other magics that fail stop a
    cell of a kernel, which is all that papermill hears of."""
    cells = ("%load_ext ipyjaxbench\nscale = 3", "%fwtime -n 1 -r 2 y = scale * 2\nprint(y)", FAILS,
             FAILING["%%fwcompare's arm"], "never = 1")  # fmt: skip
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.cells[0].metadata["tags"] = ["parameters"]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book.metadata["kernelspec"] = spec
    source, target = tmp_path / "source.ipynb", tmp_path / "target.ipynb"
    nbformat.write(book, source)
    command = [sys.executable, "-c", PAPERMILL, source, target, "-p", "scale", "4"]
    done = subprocess.run([*command, "--no-progress-bar"], capture_output=True, check=False)
    assert done.returncode != 0
    left = {cell.source: cell for cell in nbformat.read(target, as_version=4).cells}
    _, timed, _, failed, never = (left[cell] for cell in cells)
    shown, *printed = timed.outputs
    assert MIME in shown.data
    assert "".join(each.text for each in printed) == "8\n"  # in one part, or in several
    (error,) = [out for out in failed.outputs if out.output_type == "error"]
    assert error.ename == "ZeroDivisionError"
    assert "g(3)" in "".join(error.traceback)
    assert never.execution_count is None
