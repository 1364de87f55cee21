"""When the panel "Timings" asks the server, and when it does not."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.pages import server, timings
from tests.pages.opened import Opened
from tests.pages.timings import Timings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LONGER = 2500  # milliseconds: than from one poll to the next


def test_a_measurement_is_seen_while_it_is_made_and_its_figure_at_the_next_poll(
    opens_served: Callable[..., Opened], place: Path
) -> None:
    long = "import time\n%fwtime -b 10 time.sleep(0.05 * np.random.rand())"
    timings.write(place / "live.ipynb", {"load": timings.SOURCES["load"], "long": long})
    opened = opens_served("lab/tree", "live")
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
    ended = opened.page.evaluate("window.__done")
    # Two where the first was asked just before the figure was written.
    assert sum(start > ended for start in panel.starts_of_polls()) <= 2
    opened.page.wait_for_selector(".fw-live", state="detached")
    assert opened.own_errors == []


def test_a_kernel_that_dies_is_told_and_forgotten(
    opens_served: Callable[..., Opened], place: Path
) -> None:
    timings.write(place / "died.ipynb", {
        "load": timings.SOURCES["load"],
        "long": "import os, pathlib, time\n"
        "pathlib.Path('pid').write_text(str(os.getpid()))\n"
        "%fwtime -b 60 time.sleep(0.05 * np.random.rand())",
    })  # fmt: skip
    opened = opens_served("lab/tree", "died")
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
    opened.page.wait_for_timeout(6_000)  # a death is told for ten seconds
    panel.requests.clear()
    opened.page.wait_for_timeout(LONGER)
    assert panel.requests == []


def test_who_cannot_see_the_answer_does_not_ask(
    opens_served: Callable[..., Opened], place: Path
) -> None:
    timings.write(place / "quiet.ipynb")
    opened = opens_served("lab/tree", "quiet")
    panel = Timings(opened)
    panel.hide()  # JupyterLab remembers what was open before
    opened.page.wait_for_timeout(LONGER)  # a new notebook is asked for its last figure
    panel.requests.clear()
    opened.page.wait_for_timeout(LONGER)
    assert panel.requests == []
    panel.show()
    opened.page.wait_for_timeout(1000)
    assert any(asked.startswith("live") for asked in panel.requests)
    panel.requests.clear()
    opened.page.wait_for_timeout(2 * LONGER)
    assert 1 <= len(panel.requests) <= 3
    assert all("no_track_activity=1" in asked for asked in panel.requests)
    panel.hide()
    panel.requests.clear()
    opened.page.wait_for_timeout(LONGER)
    assert panel.requests == []


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
        page.wait_for_timeout(LONGER)
        assert len(panel.requests) <= 3  # the notebook was opened, and the panel shown
        assert panel.rows() == []
        # What the browser itself says of the one request.
        assert [error for error in opened.own_errors if "404" not in error] == []
        page.close()
    finally:
        running.stop()
