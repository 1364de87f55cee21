"""The panel "Timings" in JupyterLab and Notebook 7, with kernels that measure."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pages import server, timings
from tests.pages.opened import Opened, photograph
from tests.pages.timings import Timings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

APPS = ["lab/tree", "notebooks"]
SEEN_AFTER = 2.5  # seconds: those of a poll, and some for a busy machine
CELLS = ["first", "both", "last"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with notebooks that measure."""
    place = tmp_path_factory.mktemp("timings")
    server.configure(place, "Light")
    return place


@pytest.fixture
def opens(
    served: server.Server, browser: "Browser", place: Path
) -> Iterator[Callable[..., Opened]]:
    """Opens a notebook."""
    opened = []

    def opens(app: str, name: str, theme: str = "Light") -> Opened:
        server.configure(place, theme)
        page = browser.new_page(viewport={"width": 1300, "height": 800})
        opened.append(Opened(page, served.url(f"{app}/{name}.ipynb")))
        return opened[-1]

    yield opens
    for each in opened:
        each.page.close()


@pytest.mark.parametrize("app", APPS)
def test_rows_follow_the_notebook(opens: Callable[..., Opened], place: Path, app: str) -> None:
    name = app.split("/")[0]
    timings.write(place / f"{name}.ipynb")
    opened = opens(app, name, "Dark" if app == "notebooks" else "Light")
    panel = Timings(opened)
    page = opened.page
    panel.show()
    page.wait_for_selector("text=Run a cell with %fwtime")
    opened.run_all()
    panel.wait_for_rows(3)
    assert panel.rows() == CELLS
    figures = page.locator("[data-cell=both] strong").all_inner_texts()
    assert len(figures) == 2
    assert all("s" in figure for figure in figures)

    # A click scrolls to the cell, and unfolds what was around it.
    page.click("[data-cell=last] .fw-row")
    page.wait_for_function(
        "window.jupyterapp.shell.currentWidget.content.activeCell.model.id === 'last'"
    )
    page.wait_for_function(
        "(() => { const { node } = window.jupyterapp.shell.currentWidget.content.activeCell;"
        " const { top, bottom } = node.getBoundingClientRect();"
        " return top >= 0 && bottom <= innerHeight; })()"
    )
    assert "numpy" in page.inner_text("[data-cell=last] .fw-details")

    # A pinned run is the baseline of all cells.
    page.click("[data-cell=last] button[aria-pressed]")
    page.wait_for_selector("[data-cell=last] button[aria-pressed=true]")
    page.wait_for_selector("[data-cell=first] >> text=the baseline")
    assert page.eval_on_selector(".fw-baseline select", "s => s.value") != ""
    opened.run_all()
    page.wait_for_selector("[data-cell=first] [title^='against the baseline']")
    photograph(page, f"panel-{name}")
    # The rows show the new run, which is not the pinned one; a click pins it, a second one unpins.
    page.wait_for_selector("[data-cell=last] [title^='against the baseline']")
    for pressed in ("false", "true"):
        page.click(f"[data-cell=last] button[aria-pressed={pressed}]")
    page.wait_for_selector("[data-cell=last] button[aria-pressed=false]")
    assert page.eval_on_selector(".fw-baseline select", "s => s.value") == ""

    # Rows keep the order of the cells, which have been moved.
    page.evaluate(
        "(() => { const { model } = window.jupyterapp.shell.currentWidget.content;"
        " model.sharedModel.moveCell(model.cells.length - 1, 0); })()"
    )
    page.wait_for_function("document.querySelector('.fw-rows > li').dataset.cell === 'last'")
    assert panel.refused == []
    assert opened.own_errors == []


def test_a_new_figure_is_seen_within_two_seconds_and_its_making_too(
    opens: Callable[..., Opened], place: Path
) -> None:
    long = "import time\n%fwtime -b 10 time.sleep(0.05 * np.random.rand())"
    timings.write(place / "live.ipynb", {"load": timings.SOURCES["load"], "long": long})
    opened = opens("lab/tree", "live")
    panel = Timings(opened)
    panel.show()
    opened.page.evaluate("""async () => {
        const app = window.jupyterapp;
        await app.shell.currentWidget.sessionContext.ready;
        window.__done = app.commands.execute('notebook:run-all-cells').then(() => Date.now());
    }""")
    opened.page.wait_for_selector("[data-cell=long] .fw-live", timeout=30_000)
    opened.page.wait_for_selector("text=/measuring ±.+%/")
    opened.page.wait_for_selector(".fw-status >> text=/measuring/")
    panel.wait_for_rows(1)
    seen = time.time()
    ended = opened.page.evaluate("window.__done") / 1000
    assert seen - ended < SEEN_AFTER
    opened.page.wait_for_selector(".fw-live", state="detached")
    assert opened.own_errors == []


def test_a_kernel_that_dies_is_told_and_forgotten(
    opens: Callable[..., Opened], place: Path
) -> None:
    timings.write(place / "died.ipynb", {
        "load": timings.SOURCES["load"],
        "long": "import os, pathlib, time\n"
        "pathlib.Path('pid').write_text(str(os.getpid()))\n"
        "%fwtime -b 60 time.sleep(0.05 * np.random.rand())",
    })  # fmt: skip
    opened = opens("lab/tree", "died")
    panel = Timings(opened)
    panel.hide()  # the status item alone asks while a kernel is busy
    opened.page.evaluate("""async () => {
        const app = window.jupyterapp;
        await app.shell.currentWidget.sessionContext.ready;
        app.commands.execute('notebook:run-all-cells');
    }""")
    opened.page.wait_for_selector(".fw-status >> text=/at most .+ left/")
    os.kill(int((place / "pid").read_text()), signal.SIGKILL)
    opened.page.wait_for_selector(".fw-status >> text=died", timeout=20_000)
    opened.page.wait_for_selector(".fw-status >> text=died", state="hidden", timeout=7_000)
    panel.requests.clear()
    opened.page.wait_for_timeout(8_000)
    panel.requests.clear()
    opened.page.wait_for_timeout(5_000)
    assert panel.requests == []


def test_the_status_item_has_the_last_figure(opens: Callable[..., Opened], place: Path) -> None:
    timings.write(place / "last.ipynb", {"cell-0": "%fwtime step_0(x)"})
    timings.keep(place, 1, notebook=str(place / "last.ipynb"))
    opened = opens("lab/tree", "last")
    Timings(opened).hide()
    opened.page.wait_for_selector(".fw-status >> text=/step_0.x.: 1.50 ms/")
    # A magic that takes less than a second is seen when it has ended.
    opened.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.model.sharedModel"
        ".cells[0].setSource('%load_ext ipyjaxbench\\n%fwtime -b 0.1 sum([1, 2])')"
    )
    opened.run_all()
    opened.page.wait_for_selector(".fw-status >> text=/sum.+ ns/", timeout=5000)
    assert opened.own_errors == []


def test_a_notebook_that_is_saved_is_read_again(opens: Callable[..., Opened], place: Path) -> None:
    timings.write(place / "saved.ipynb", {"cell-0": "%fwtime step_0(x)"})
    timings.keep(place, 1, notebook=str(place / "saved.ipynb"))
    opened = opens("lab/tree", "saved")
    panel = Timings(opened)
    panel.show()
    panel.wait_for_rows(1)
    opened.page.evaluate("""async () => {
        const { content, context } = window.jupyterapp.shell.currentWidget;
        content.model.sharedModel.cells[0].setSource('# a line before\\n%fwtime step_0(x)');
        await context.save();
    }""")
    opened.page.wait_for_selector("[data-cell=cell-0] code >> text=# a line before", timeout=5000)


def test_the_page_is_opened_by_a_command(opens: Callable[..., Opened], place: Path) -> None:
    timings.write(place / "command.ipynb")
    opened = opens("lab/tree", "command")
    with opened.page.context.expect_page() as coming:
        opened.page.evaluate("void window.jupyterapp.commands.execute('ipyjaxbench:open-page')")
    coming.value.wait_for_selector("h1 >> text=Timings")
    assert coming.value.url.endswith("/a%40b/ipyjaxbench")
    coming.value.close()


def test_who_cannot_see_the_answer_does_not_ask(opens: Callable[..., Opened], place: Path) -> None:
    timings.write(place / "quiet.ipynb")
    opened = opens("lab/tree", "quiet")
    panel = Timings(opened)
    panel.hide()  # JupyterLab remembers what was open before
    opened.page.wait_for_timeout(3000)  # a new notebook is asked for its last figure
    panel.requests.clear()
    opened.page.wait_for_timeout(5000)
    assert panel.requests == []
    panel.show()
    opened.page.wait_for_timeout(1000)
    assert any(asked.startswith("live") for asked in panel.requests)
    panel.requests.clear()
    opened.page.wait_for_timeout(8000)
    assert 2 <= len(panel.requests) <= 4
    assert all("no_track_activity=1" in asked for asked in panel.requests)
    panel.hide()
    panel.requests.clear()
    opened.page.wait_for_timeout(5000)
    assert panel.requests == []


def test_it_can_be_turned_off(opens: Callable[..., Opened], place: Path) -> None:
    timings.write(place / "off.ipynb")
    timings.configure(place, panel=False, status="nothing")
    try:
        opened = opens("lab/tree", "off")
        panel = Timings(opened)
        opened.run_all()
        opened.page.wait_for_timeout(3000)
        assert opened.page.query_selector(".fw-panel") is None
        assert panel.requests == []
    finally:
        timings.configure(place)


def test_five_hundred_rows_are_painted_at_once(opens: Callable[..., Opened], place: Path) -> None:
    timings.write(place / "many.ipynb", {f"cell-{i}": f"%fwtime step_{i}(x)" for i in range(500)})
    timings.keep(place, 500, notebook=str(place / "many.ipynb"))
    opened = opens("lab/tree", "many")
    panel = Timings(opened)
    panel.show()
    panel.wait_for_rows(500)
    assert "slower" in opened.page.inner_text("[data-cell=cell-0]")
    beyond = opened.page.evaluate(
        "(right => [...document.querySelectorAll('[data-cell=cell-0] *')].filter("
        "e => e.getBoundingClientRect().right > right).length)"
        "(document.querySelector('.fw-panel').getBoundingClientRect().right)"
    )
    assert beyond == 0
    photograph(opened.page, "panel-many")


def test_hostile_names_are_text(opens: Callable[..., Opened], place: Path) -> None:
    hostile = (
        "<script>window.__hit=1</script><img src=x onerror=window.__hit=1>\"'\u202e" + "x" * 10_000
    )
    timings.write(place / "hostile.ipynb", {"cell-0": hostile})
    timings.keep(place, 1, notebook=str(place / "hostile.ipynb"), code=hostile)
    opened = opens("lab/tree", "hostile")
    panel = Timings(opened)
    panel.show()
    panel.wait_for_rows(1)
    opened.page.click(".fw-row")
    assert panel.foreign() == []
    assert opened.page.evaluate("window.__hit") is None
    wide = opened.page.eval_on_selector(".fw-panel", "p => p.scrollWidth - p.clientWidth")
    assert wide <= 0
    assert opened.own_errors == []


def test_without_the_server_extension_it_says_so_in_one_line(
    browser: "Browser", tmp_path: Path
) -> None:
    server.configure(tmp_path, "Light")
    timings.write(tmp_path / "alone.ipynb")
    running = server.Server(tmp_path, timings.options(tmp_path, served=False))
    try:
        page = browser.new_page()
        opened = Opened(page, running.url("lab/tree/alone.ipynb"))
        panel = Timings(opened)
        panel.show()
        page.wait_for_selector("text=a server extension that is not running here")
        page.wait_for_timeout(5000)
        assert len(panel.requests) <= 3  # the notebook was opened, and the panel shown
        assert panel.rows() == []
        # What the browser itself says of the one request.
        assert [error for error in opened.own_errors if "404" not in error] == []
        page.close()
    finally:
        running.stop()
