"""Takes the README's two pictures of timings in Jupyter: ``python -m tests.pages.shown``.

A notebook runs in JupyterLab, three times and on a quiet machine; the panel and the page are what
they then show.
"""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.pages import server, timings
from tests.pages.opened import Opened
from tests.pages.timings import Timings
from tests.shown import PICTURES, reduce_colours

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_SETUP = """\
%load_ext ipyjaxbench
import jax, jax.numpy as jnp
x = jnp.ones((64, 64))

def step(w, x):
    for _ in range(8):
        x = jnp.tanh(x @ w)
    return x
"""
#: What is measured, and what is then changed to make it faster.
SOURCES = {
    "setup": _SETUP,
    "step": "%fwtime -b 1 step(x, x)",
    "gradient": "%fwtime -b 1 jax.grad(lambda w: step(w, x).sum())(x)",
    "sum": "%fwtime -b 1 x.sum()",
}
CHANGED = f"{_SETUP}\nstep = jax.jit(step)"
RUNS, SIZE, PAGE_HIGH = 3, {"width": 1240, "height": 720}, 420


def main() -> None:
    """Run the notebook, and write what is seen."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        place = Path(folder)
        server.configure(place, "Light")
        timings.write(place / "train.ipynb", SOURCES)
        running = server.Server(place, timings.options(place))
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium",
                                             args=["--no-sandbox"])  # fmt: skip
        try:
            for theme in ("Dark", "Light"):
                take(browser, running, place, theme)
        finally:
            browser.close()
            running.stop()


def take(browser: "Browser", running: server.Server, place: Path, theme: str) -> None:
    """Write the pictures of one theme."""
    server.configure(place, theme)
    scheme = "dark" if theme == "Dark" else "light"
    page = browser.new_page(viewport=SIZE, device_scale_factor=1.5, color_scheme=scheme)
    opened = Opened(page, running.url("lab/tree/train.ipynb"))
    panel = Timings(opened)
    panel.show()
    for run in range(RUNS):
        changed = CHANGED if run == RUNS - 1 else _SETUP
        page.evaluate(
            "source => window.jupyterapp.shell.currentWidget.content.model.cells.get(0)"
            ".sharedModel.setSource(source)", changed,
        )  # fmt: skip
        opened.run_all()
    panel.wait_for_rows(3)
    page.click("[data-cell=step] .fw-row")
    page.wait_for_timeout(4000)
    photograph(page.screenshot(), f"panel-{scheme}")
    page.goto(running.url("ipyjaxbench").partition("&")[0])
    page.wait_for_selector("tbody tr")
    page.set_viewport_size({**SIZE, "height": PAGE_HIGH})
    photograph(page.screenshot(), f"page-{scheme}")
    page.close()


def photograph(taken: bytes, name: str) -> None:
    """Write a picture, made small."""
    path = PICTURES / f"{name}.png"
    path.write_bytes(taken)
    reduce_colours(path)


if __name__ == "__main__":
    main()
