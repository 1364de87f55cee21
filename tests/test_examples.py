"""The examples as they are shipped: the notebook's code is the script's, its outputs are reports.

Whether they run is another question, which a real kernel answers. The notebook is built from the
script, and run, by ``python -m tests.test_examples``.
"""

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ipyjaxbench import Measurement
from ipyjaxbench.result import MIME

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPT = EXAMPLES / "jax_basics.ipy"
NOTEBOOK = EXAMPLES / "jax_basics.ipynb"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
#: Folders in which people and programs keep their files.
_MACHINE_PATH = re.compile(r"/(?:tmp|root|home|usr|opt|var|work|Users)/|[A-Za-z]:\\\\")
_NOTHING = re.compile(r"\w+ sees no [GT]PU here: nothing to measure\.\n")


def cells_of(script: str) -> list[tuple[str, str]]:
    """The cells of a script: "code" or "markdown", and the text; ``# %%`` begins each."""
    found = []
    for part in re.split(r"^# %%", script, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        if head.strip() == "[markdown]":
            lines = (line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines())
            found.append(("markdown", "\n".join(lines)))
        else:
            found.append(("code", body.strip()))
    return found


@pytest.fixture(scope="module")
def notebook() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


def timed(notebook: Any) -> list[Any]:
    """The cells with a measurement that was made."""
    cells = [c for c in notebook.cells if c.cell_type == "code" and "%fwtime" in c.source]
    return [c for c in cells if not _says_nothing_to_measure(c)]


def _says_nothing_to_measure(cell: Any) -> bool:
    outputs = cell.outputs
    return len(outputs) == 1 and bool(_NOTHING.fullmatch(outputs[0].get("text", "")))


def test_the_notebook_is_valid(notebook: Any) -> None:
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec == KERNEL


def test_the_notebook_and_the_script_hold_the_same() -> None:
    """After a change of the script, ``python -m tests.test_examples`` builds the notebook anew."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert [(c.cell_type, c.source) for c in notebook.cells] == cells_of(SCRIPT.read_text("utf-8"))


def test_every_cell_of_the_notebook_was_run_in_order_and_none_failed(notebook: Any) -> None:
    code = [c for c in notebook.cells if c.cell_type == "code"]
    assert [c.execution_count for c in code] == list(range(1, len(code) + 1))
    outputs = [output for c in code for output in c.outputs]
    assert {o.output_type for o in outputs} <= {"display_data", "stream"}
    assert {o.name for o in outputs if o.output_type == "stream"} == {"stdout"}


def test_every_measurement_left_one_report_in_three_forms(notebook: Any) -> None:
    cells = timed(notebook)
    assert len(cells) >= 12
    for cell in cells:
        assert cell.source.count("%fwtime") == 1
        shown = [o for o in cell.outputs if o.output_type == "display_data"]
        assert [set(o.data) for o in shown] == [{"text/plain", "text/html", MIME}], cell.source


def test_every_record_reads_back_as_what_was_shown(notebook: Any) -> None:
    for cell in timed(notebook):
        (shown,) = (o for o in cell.outputs if o.output_type == "display_data")
        read = Measurement.from_dict(shown.data[MIME])
        assert read.code in cell.source
        assert json.loads(json.dumps(read.to_dict())) == shown.data[MIME]


def test_cells_that_need_another_device_say_in_words_where_there_is_none(notebook: Any) -> None:
    cells = [c for c in notebook.cells if re.match(r"if (?:\w+_)?[gt]pus:\n +%fwtime", c.source)]
    assert len(cells) == 8
    for cell in cells:
        assert "nothing to measure" in cell.source
        assert len(cell.outputs) == 1


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_no_example_tells_about_the_machine_that_it_was_made_on(path: Path) -> None:
    if path.is_file():
        found = _MACHINE_PATH.search(path.read_text("utf-8"))
        assert not found, found


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipy")), ids=lambda path: path.name)
def test_scripts_have_no_cell_magics(path: Path) -> None:
    """IPython runs a script as one cell, in which ``%%`` is a syntax error."""
    assert not re.search(r"^%%", path.read_text("utf-8"), re.MULTILINE)


def build() -> None:
    """Make the notebook from the script, run it in a kernel, and save it with its outputs."""
    from nbclient import NotebookClient

    cells = []
    for index, (kind, source) in enumerate(cells_of(SCRIPT.read_text("utf-8"))):
        make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        cells.append(make(source, id=f"cell-{index:02}"))
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False).execute()
    for cell in cells:
        # TensorFlow tells there, with a time and a process number, that it starts.
        kept = [o for o in cell.get("outputs", ()) if o.get("name") != "stderr"]
        if cell.cell_type == "code":
            cell.outputs = kept
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    build()
