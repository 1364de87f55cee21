"""The panel "Timings" in JupyterLab and Notebook 7, with kernels that measure."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pages import timings
from tests.pages.opened import Opened, photograph
from tests.pages.timings import Timings

APPS = ["lab/tree", "notebooks"]
CELLS = ["first", "both", "last"]


@pytest.mark.parametrize("app", APPS)
def test_rows_follow_the_notebook(
    opens_served: Callable[..., Opened], place: Path, app: str
) -> None:
    name = app.split("/")[0]
    timings.write(place / f"{name}.ipynb")
    opened = opens_served(app, name, "Dark" if app == "notebooks" else "Light")
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

    # A click scrolls to the cell, to a whole pixel, and unfolds what was around it.
    page.click("[data-cell=last] .fw-row")
    page.wait_for_function(
        "window.jupyterapp.shell.currentWidget.content.activeCell.model.id === 'last'"
    )
    page.wait_for_function(
        "(() => { const { node } = window.jupyterapp.shell.currentWidget.content.activeCell;"
        " const { top, bottom } = node.getBoundingClientRect();"
        " return top > -1 && bottom < innerHeight + 1; })()"
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


def test_the_status_item_has_the_last_figure(
    opens_served: Callable[..., Opened], place: Path
) -> None:
    timings.write(place / "last.ipynb", {"cell-0": "%fwtime step_0(x)"})
    timings.keep(place, 1, notebook=str(place / "last.ipynb"))
    opened = opens_served("lab/tree", "last")
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


def test_a_notebook_that_is_saved_is_read_again(
    opens_served: Callable[..., Opened], place: Path
) -> None:
    timings.write(place / "saved.ipynb", {"cell-0": "%fwtime step_0(x)"})
    timings.keep(place, 1, notebook=str(place / "saved.ipynb"))
    opened = opens_served("lab/tree", "saved")
    panel = Timings(opened)
    panel.show()
    panel.wait_for_rows(1)
    opened.page.evaluate("""async () => {
        const { content, context } = window.jupyterapp.shell.currentWidget;
        content.model.sharedModel.cells[0].setSource('# a line before\\n%fwtime step_0(x)');
        await context.save();
    }""")
    opened.page.wait_for_selector("[data-cell=cell-0] code >> text=# a line before", timeout=5000)


def test_the_page_is_opened_by_a_command(opens_served: Callable[..., Opened], place: Path) -> None:
    timings.write(place / "command.ipynb")
    opened = opens_served("lab/tree", "command")
    with opened.page.context.expect_page() as coming:
        opened.page.evaluate("void window.jupyterapp.commands.execute('ipyjaxbench:open-page')")
    coming.value.wait_for_selector("h1 >> text=Timings")
    assert coming.value.url.endswith("/a%40b/ipyjaxbench")
    coming.value.close()


def test_it_can_be_turned_off(opens_served: Callable[..., Opened], place: Path) -> None:
    timings.write(place / "off.ipynb")
    timings.configure(place, panel=False, status="nothing")
    try:
        opened = opens_served("lab/tree", "off")
        panel = Timings(opened)
        opened.run_all()
        opened.page.wait_for_timeout(2500)
        assert opened.page.query_selector(".fw-panel") is None
        assert panel.requests == []
    finally:
        timings.configure(place)


def test_five_hundred_rows_are_painted_at_once(
    opens_served: Callable[..., Opened], place: Path
) -> None:
    timings.write(place / "many.ipynb", {f"cell-{i}": f"%fwtime step_{i}(x)" for i in range(500)})
    timings.keep(place, 500, notebook=str(place / "many.ipynb"))
    opened = opens_served("lab/tree", "many")
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


def test_hostile_names_are_text(opens_served: Callable[..., Opened], place: Path) -> None:
    hostile = timings.HOSTILE + "x" * 10_000
    timings.write(place / "hostile.ipynb", {"cell-0": hostile})
    timings.keep(place, 1, notebook=str(place / "hostile.ipynb"), code=hostile)
    opened = opens_served("lab/tree", "hostile")
    panel = Timings(opened)
    panel.show()
    panel.wait_for_rows(1)
    opened.page.click(".fw-row")
    assert panel.foreign() == []
    assert opened.page.evaluate("window.__hit") is None
    wide = opened.page.eval_on_selector(".fw-panel", "p => p.scrollWidth - p.clientWidth")
    assert wide <= 0
    assert opened.own_errors == []
