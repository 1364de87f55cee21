"""Notebooks with measurements, and what is seen of the panel "Timings"."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

from tests.pages import notebooks
from tests.pages.opened import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Request

LABEXTENSION = Path(__file__).parents[2] / "ipyjaxbench" / "server" / "labextension"
#: Of cells that measure for a moment; between them is more than a screen can show.
SOURCES = {
    "load": "%load_ext ipyjaxbench\nimport numpy as np\nx = np.ones((60, 60))",
    "first": "%fwtime -b 0.2 x @ x",
    **{f"gap-{i}": f"# {i}" + "\n" * 12 for i in range(6)},
    "both": "%%fwcompare -b 0.3\nproduct: x @ x\nsum: x + x",
    "last": "%fwtime -b 0.2 x.sum()",
}


#: A name that must stay a text.
HOSTILE = "<script>window.__hit=1</script><img src=x onerror=window.__hit=1>\"'\u202e"


def write(path: Path, sources: dict[str, str] = SOURCES) -> None:
    """Write a notebook of these cells, by id."""
    cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in sources.items()]
    nbformat.write(notebooks.empty(cells), path)


def options(folder: Path, *, served: bool = True) -> Sequence[str]:
    """Of a server with the panel, and with the server's extension unless it is not ``served``."""
    place = folder / ".labextensions"
    place.mkdir(exist_ok=True)
    if not (place / "ipyjaxbench").exists():
        (place / "ipyjaxbench").symlink_to(LABEXTENSION)
    extensions = {"ipyjaxbench.server": served, "ipyjaxbench": False}
    of_a_hub = {"headers": {"Content-Security-Policy": "frame-ancestors 'none'"}}
    return (f"--ServerApp.tornado_settings={of_a_hub}",
            f"--LabServerApp.extra_labextensions_path={place}",
            f"--ServerApp.jpserver_extensions={extensions}")  # fmt: skip


def configure(folder: Path, **values: Any) -> None:
    """Have the extension's settings in pages that are opened from now on."""
    settings = folder / ".jupyter/settings/ipyjaxbench"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "plugin.jupyterlab-settings").write_text(json.dumps(values))


def keep(folder: Path, count: int, **changed: Any) -> None:
    """Write a history as kernels do, of as many cells as are asked for, three runs of each."""
    place = folder / ".jupyter/data/ipyjaxbench/history"
    place.mkdir(parents=True, exist_ok=True)
    for run in range(3):
        lines = [json.dumps(entry(number, run, **changed)) for number in range(count)]
        (place / f"2026-11-0{run + 1}-{run}-aa.jsonl").write_text("\n".join(lines) + "\n")


def entry(number: int, run: int, *, notebook: str, code: str = "", **where: str) -> dict[str, Any]:
    """One measurement of a history; the third run of each has another NumPy, and is slower."""
    seconds = 1e-3 * (1 + number % 7) * (1.5 if run == 2 else 1)
    picoseconds = [int(seconds * 1e12 * (1 + 0.001 * (i % 9))) for i in range(40)]
    return {
        "schema": 1, "when": 1.79e9 + 86400 * run + 60 * number, "magic": "fwtime", "label": "",
        "code": code or f"step_{number}(x)", "clock": "elapsed", "at": {},
        "figure": {"median": seconds, "half_width": 0.01, "samples": 40, "verdict": "QUIET"},
        "floor": seconds, "picoseconds": picoseconds, "rounds": [40],
        "environment": {"python": "3.11.2", "frameworks": {"numpy": f"2.{3 + run // 2}.0"},
                        "devices": ["cpu"], "cpu": "CPU", "cpus": 2, "gpus": [],
                        "revision": "abcdef0123" * 4, "data": {"x": "f64[60,60]"}},
        "where": {"directory": "/project", "notebook": notebook, "cell": f"cell-{number}"} | where,
    }  # fmt: skip


class Timings:
    """The panel in a page, and what it asks the server.

    Args:
        opened: a page with a notebook.
    """

    def __init__(self, opened: Opened) -> None:
        self.page = opened.page
        self.requests: list[str] = []
        self.refused: list[str] = []
        self._sent: list[Request] = []
        self.page.on("request", self._note)
        self.page.on("response", lambda got: got.status >= 400 and self.refused.append(got.url))

    def _note(self, sent: "Request") -> None:
        _, ours, asked = sent.url.partition("/ipyjaxbench/api/")
        if ours:
            self.requests.append(asked)
            self._sent.append(sent)

    def starts_of_polls(self) -> list[float]:
        """When it asked what is being measured, in milliseconds since 1970."""
        return [sent.timing["startTime"] for sent in self._sent if "/api/live" in sent.url]

    def show(self) -> None:
        """Have the panel shown."""
        self.page.evaluate("window.jupyterapp.commands.execute('ipyjaxbench:show-panel')")
        self.page.wait_for_selector(".fw-panel", state="visible")

    def hide(self) -> None:
        """Close the right side area."""
        self.page.evaluate(
            "(window.jupyterapp.shell.collapseRight ?? (() => {})).call(window.jupyterapp.shell)"
        )
        self.page.wait_for_selector(".fw-panel", state="hidden")

    def rows(self) -> list[str]:
        """The cells in the order in which they are shown."""
        return self.page.eval_on_selector_all(
            ".fw-rows > li", "rows => rows.map(r => r.dataset.cell)"
        )

    def wait_for_rows(self, count: int) -> None:
        """Until so many cells have figures."""
        self.page.wait_for_function(
            "count => document.querySelectorAll('.fw-rows > li:has(strong)').length === count",
            arg=count, timeout=60_000)  # fmt: skip

    def foreign(self) -> list[str]:
        """Elements of the panel that are not ones that the modules make."""
        return self.page.eval_on_selector_all(
            ".fw-panel *",
            "all => all.map(e => e.localName)"
            ".filter(name => ['script', 'b', 'iframe', 'object', 'img'].includes(name))",
        )
