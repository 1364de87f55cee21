"""Papermill stops where the code fails, and leaves a notebook that says so."""

from pathlib import Path

import nbformat
import pytest

from ipyjaxbench.result import MIME
from tests.behaviour.uses import FAILING, FAILS

papermill = pytest.importorskip("papermill", reason="papermill is not installed")


def run(folder: Path, *cells: str) -> nbformat.NotebookNode:
    """Run a notebook; gives what papermill has written, also where it stopped."""
    source, target = folder / "source.ipynb", folder / "target.ipynb"
    cells = ("%load_ext ipyjaxbench\nscale = 3", *cells)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(book, source)
    try:
        papermill.execute_notebook(
            source, target, {"scale": 4}, kernel_name="python3", progress_bar=False
        )
    except papermill.PapermillExecutionError as error:
        return nbformat.from_dict({"stopped_by": error.ename, **nbformat.read(target, 4)})
    return nbformat.read(target, as_version=4)


def test_results_are_of_the_parameters_that_were_given(tmp_path: Path) -> None:
    book = run(tmp_path, "%fwtime -n 1 -r 2 y = scale * 2\nprint(y)")
    shown, printed = book.cells[-1].outputs
    assert MIME in shown.data
    assert printed.text == "8\n"


@pytest.mark.parametrize("magic", ["%fwtime", "%%fwcompare's set-up", "%%trace_cached"])
def test_an_error_stops_the_run(tmp_path: Path, magic: str) -> None:
    book = run(tmp_path, FAILS, FAILING[magic], "never = 1")
    assert book.stopped_by == "ZeroDivisionError"
    assert book.cells[-1].execution_count is None
    assert "g(3)" in "".join(line for o in book.cells[-2].outputs for line in o.traceback)
