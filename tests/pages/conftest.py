"""A server and a browser for all tests of pages; without them the tests are skipped, in words."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pages import notebooks, server, timings
from tests.pages.opened import Opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with notebooks, in which Jupyter keeps its own files too."""
    folder = tmp_path_factory.mktemp("notebooks")
    server.configure(folder, "Light")
    notebooks.write(folder)
    return folder


@pytest.fixture(scope="session")
def jupyter(folder: Path) -> Iterator[server.Server]:
    """A server that serves the folder."""
    for package in ("jupyterlab", "notebook"):
        pytest.importorskip(package)
    running = server.Server(folder)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[server.Server]:
    """A server with the extension for a module's `place`, below a path that is escaped."""
    running = server.Server(place, timings.options(place), "/a%40b/")
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """The system's Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if path is None:
        pytest.skip("there is no chromium on the path")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opens(
    jupyter: server.Server, browser: "Browser", folder: Path
) -> Iterator[Callable[..., Opened]]:
    """Opens a notebook: ``opens("lab/tree", "gallery", theme="Dark", width=420)``."""
    opened = []

    def opens(app: str, name: str, theme: str = "Light", width: int = 1150) -> Opened:
        server.configure(folder, theme)
        page = browser.new_page(viewport={"width": width, "height": 1000})
        opened.append(Opened(page, jupyter.url(f"{app}/{name}.ipynb")))
        return opened[-1]

    yield opens
    for each in opened:
        each.page.close()


@pytest.fixture
def opens_served(
    served: server.Server, browser: "Browser", place: Path
) -> Iterator[Callable[..., Opened]]:
    """Opens a notebook of a module's `place`."""
    opened = []

    def opens(app: str, name: str, theme: str = "Light") -> Opened:
        server.configure(place, theme)
        page = browser.new_page(viewport={"width": 1300, "height": 800})
        opened.append(Opened(page, served.url(f"{app}/{name}.ipynb")))
        return opened[-1]

    yield opens
    for each in opened:
        each.page.close()
