"""Notebooks to open: the example to be run quickly, and one of each report there is."""

import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat.sign import NotebookNotary

from ipyjaxbench.reports import html
from ipyjaxbench.reports.blocks import Report
from tests import samples

#: Says whether a page trusts: what is not trusted loses the label.
PROBE = '<div aria-label="trusted">probe</div>'


def write(folder: Path) -> None:
    """Write all of them; only the one with "trusted" in its name is."""
    profile = folder / ".jupyter/ipython/profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_config.py").write_text("c.IpyJaxBench.budget = 0.3")
    example = nbformat.read(samples.EXAMPLES / "jax_basics.ipynb", as_version=4)
    for cell in example.cells:
        if cell.cell_type == "code":
            quick = re.sub(r"-b \d+", "-b 0.3", cell.source)
            cell.update(source=quick, outputs=[], execution_count=None)
    for name in ("lab", "notebook"):
        nbformat.write(example, folder / f"{name}.ipynb")
    shown = gallery()
    nbformat.write(shown, folder / "gallery.ipynb")
    shown.metadata["title"] = "trusted"  # the signature of the other must not fit
    nbformat.write(shown, folder / "trusted.ipynb")
    data = folder / ".jupyter/data"
    data.mkdir(parents=True)
    notary = NotebookNotary(data_dir=str(data))
    notary.sign(shown)
    notary.store.close()


def bundles() -> dict[str, dict[str, Any]]:
    """The outputs of the gallery by name: each block, and each result."""
    blocks = {
        name: {"text/plain": name, "text/html": html.render(Report((block,)))}
        for name, block in samples.BLOCKS.items()
    }
    results = {name: each._repr_mimebundle_() for name, each in samples.results().items()}
    return blocks | results | {"probe": {"text/plain": "probe", "text/html": PROBE}}


def gallery() -> Any:
    """A notebook with one output in each cell."""
    cells = [
        nbformat.v4.new_code_cell(
            f"# {name}",
            id=f"cell-{number}",
            execution_count=number + 1,
            outputs=[nbformat.v4.new_output("display_data", data=bundle)],
        )
        for number, (name, bundle) in enumerate(bundles().items())
    ]
    return empty(cells)


def empty(cells: list[Any]) -> Any:
    """A notebook of these cells."""
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def without_colours(text: str) -> str:
    """The text that a terminal would show."""
    return re.sub(r"\x1b\[[\d;]*m", "", text)
