"""Papermill stops where the code fails, and leaves a notebook that says so."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from ipyjaxbench.reports.result import MIME
from tests.jupyter.uses import FAILING, FAILS

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("papermill") is None, reason="papermill is not installed"
)


def run(folder: Path, *cells: str) -> tuple[bool, nbformat.NotebookNode]:
    """Run a notebook with a parameter; whether it ran to its end, and what papermill has left."""
    source, target = folder / "source.ipynb", folder / "target.ipynb"
    cells = ("%load_ext ipyjaxbench\nscale = 3", *cells)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.cells[0].metadata["tags"] = ["parameters"]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book.metadata["kernelspec"] = spec
    nbformat.write(book, source)
    command = [sys.executable, "-m", "papermill", source, target, "-p", "scale", "4"]
    done = subprocess.run([*command, "--no-progress-bar"], capture_output=True, check=False)
    return done.returncode == 0, nbformat.read(target, as_version=4)


def test_results_are_of_the_parameters_that_were_given(tmp_path: Path) -> None:
    ran, book = run(tmp_path, "%fwtime -n 1 -r 2 y = scale * 2\nprint(y)")
    shown, *printed = book.cells[-1].outputs
    assert ran
    assert MIME in shown.data
    assert "".join(each.text for each in printed) == "8\n"  # in one part, or in several


@pytest.mark.parametrize("magic", ["%fwtime", "%%fwcompare's arm", "%%trace_cached"])
def test_an_error_stops_the_run(tmp_path: Path, magic: str) -> None:
    ran, book = run(tmp_path, FAILS, FAILING[magic], "never = 1")
    assert not ran
    (error,) = [out for out in book.cells[-2].outputs if out.output_type == "error"]
    assert error.ename == "ZeroDivisionError"
    assert "g(3)" in "".join(error.traceback)
    assert book.cells[-1].execution_count is None
