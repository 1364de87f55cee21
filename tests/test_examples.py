"""The examples as they are shipped: what the notebooks show is reports of what their cells say.

Whether they run is another question, which a real kernel answers. The notebooks are run and saved
by ``python -m tests.test_examples``, or one by its name behind that; one that has a script is built
from it first. One whose first reports are NOISY is not saved.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ipyjaxbench.errors import called_from
from ipyjaxbench.records.notebooks import find_kind
from ipyjaxbench.reports.result import MIME
from tests.results import STEADY, holds, measured
from tests.shown import refusal

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
BASICS = EXAMPLES / "jax_basics.ipynb"
_MAGIC = re.compile(r"^\s*%%?(?:fw\w+|jaxpr|explain|trace_cached)", re.MULTILINE)
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


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> Any:
    return nbformat.read(request.param, as_version=4)


def reports(notebook: Any) -> list[Any]:
    """The cells with a magic that measured something."""
    cells = [c for c in notebook.cells if c.cell_type == "code" and _MAGIC.search(c.source)]
    return [c for c in cells if not _says_nothing_to_measure(c)]


def _says_nothing_to_measure(cell: Any) -> bool:
    outputs = cell.outputs
    return len(outputs) == 1 and bool(_NOTHING.fullmatch(outputs[0].get("text", "")))


def _is_to_fail(cell: Any) -> bool:
    return "raises-exception" in cell.metadata.get("tags", ())


def _shown(cell: Any) -> Any:
    (shown,) = (o for o in cell.outputs if o.output_type == "display_data")
    return shown.data


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.ipy")), ids=lambda path: path.stem)
def test_a_notebook_and_its_script_hold_the_same(script: Path) -> None:
    """After a change of the script, ``python -m tests.test_examples`` builds the notebook anew."""
    path = script.with_suffix(".ipynb")
    if path.exists():
        notebook = nbformat.read(path, as_version=4)
        cells = [(c.cell_type, c.source) for c in notebook.cells]
        assert cells == cells_of(script.read_text("utf-8"))


def test_every_cell_of_the_notebook_was_run_in_order_and_none_failed(notebook: Any) -> None:
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec == KERNEL
    code = [c for c in notebook.cells if c.cell_type == "code"]
    for cell in filter(_is_to_fail, code):  # they do
        # What a magic refuses is one line on stderr, which is not kept.
        assert {o.output_type for o in cell.outputs} & {"error", "display_data"}
    assert [c.execution_count for c in code] == list(range(1, len(code) + 1))
    outputs = [output for c in code if not _is_to_fail(c) for output in c.outputs]
    assert {o.output_type for o in outputs} <= {"display_data", "stream"}
    assert {o.name for o in outputs if o.output_type == "stream"} <= {"stdout"}


def test_every_magic_left_one_report_in_three_forms(notebook: Any) -> None:
    cells = reports(notebook)
    assert len(cells) >= 4
    for cell in cells:
        assert len(_MAGIC.findall(cell.source)) == 1
        assert set(_shown(cell)) == {"text/plain", "text/html", MIME}, cell.source


def test_every_record_reads_back_as_what_was_shown(notebook: Any) -> None:
    for cell in reports(notebook):
        record = _shown(cell)[MIME]
        read = find_kind(record["kind"]).from_dict(record)
        assert holds(json.loads(json.dumps(read.to_dict())), record)
        plain = re.sub(r"\x1b\[[\d;]*m", "", _shown(cell)["text/plain"])
        with called_from("%magic"):  # advice is in the words of who reads
            assert str(read) == plain


def test_cells_that_need_another_device_say_in_words_where_there_is_none() -> None:
    notebook = nbformat.read(BASICS, as_version=4)
    cells = [c for c in notebook.cells if re.match(r"if (?:\w+_)?[gt]pus:\n +%fwtime", c.source)]
    assert len(cells) == 8
    for cell in cells:
        assert "nothing to measure" in cell.source
        assert len(cell.outputs) == 1


def test_no_example_tells_about_the_machine_that_it_was_made_on() -> None:
    for path in filter(Path.is_file, EXAMPLES.iterdir()):
        found = _MACHINE_PATH.search(path.read_text("utf-8"))
        assert not found, (path.name, found)


def test_scripts_have_no_cell_magics() -> None:
    """IPython runs a script as one cell, in which ``%%`` is a syntax error."""
    for path in EXAMPLES.glob("*.ipy"):
        assert not re.search(r"^%%", path.read_text("utf-8"), re.MULTILINE), path.name


@pytest.mark.parametrize(
    ("reports", "noisy"), [("QQQN", 0), ("NQQQ", 1), ("QQNQ", 3), ("QNN", 2), ("", 0)]
)
def test_a_notebook_that_begins_with_a_noisy_report_is_not_saved(
    reports: str, noisy: int, tmp_path: Path
) -> None:
    each = {"Q": measured(STEADY), "N": measured([1000, 3000] * 20)}
    assert [m.verdict for m in each.values()] == ["QUIET", "NOISY"]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# NOISY")])
    for letter in reports:
        output = nbformat.v4.new_output("display_data", {"text/plain": str(each[letter])})
        made.cells.append(nbformat.v4.new_code_cell("%fwtime f(x)", outputs=[output]))
    refused = save(made, path := tmp_path / "basics.ipynb")
    assert path.exists() == (not noisy) == (not refused)
    if noisy:
        assert refused == (
            f"basics.ipynb is not saved: its picture {noisy} is noisy (f(x) 1.00 µs 5th percentile,"
            " per call ▲ NOISY). The first 3 may not be: run it again in a quiet moment, give that"
            " cell more time with -b, or take another machine."
        )


def save(notebook: Any, path: Path) -> str:
    """Write a notebook, or return in one line why its reports are not to be shown."""
    texts = (output["data"].get("text/plain", "") for cell in notebook.cells
             for output in cell.get("outputs", ()) if "data" in output)  # fmt: skip
    if not (refused := refusal(path.name, texts)):
        nbformat.write(notebook, path)
    return refused


def _tagged(cells: list[Any], index: int) -> bool:
    return bool(cells) and bool(cells[index].metadata.get("tags"))


def build(path: Path) -> str:
    """Run a notebook in a kernel, and save it with its outputs; return why not, if it is noisy."""
    from nbclient import NotebookClient

    script = path.with_suffix(".ipy")
    if script.exists():
        sources = cells_of(script.read_text("utf-8"))
    else:
        sources = [(c.cell_type, c.source) for c in nbformat.read(path, as_version=4).cells]
    kept = nbformat.read(path, as_version=4).cells if not script.exists() else []
    cells = []
    for index, (kind, source) in enumerate(sources):
        make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        metadata = {"tags": kept[index].metadata["tags"]} if _tagged(kept, index) else {}
        cells.append(make(source, id=f"cell-{index:02}", metadata=metadata))
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False).execute()
    for cell in cells:
        # TensorFlow tells there, with a time and a process number, that it starts.
        shown = [o for o in cell.get("outputs", ()) if o.get("name") != "stderr"]
        for output in shown:
            if "traceback" in output:
                output.traceback = []  # it has paths of this machine
        if cell.cell_type == "code":
            cell.outputs = shown
    return save(notebook, path)


if __name__ == "__main__":
    os.environ["IPYJAXBENCH_HISTORY"] = "0"
    wanted = [EXAMPLES / f"{name}.ipynb" for name in sys.argv[1:]] or NOTEBOOKS
    sys.exit("\n".join(filter(None, map(build, wanted))) or None)
