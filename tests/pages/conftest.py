"""A server and a browser for all tests of pages; without them the tests are skipped, in words."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
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
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for notebooks that measure, or what a module has in its stead."""
    place = tmp_path_factory.mktemp(request.module.__name__.rpartition(".")[2])
    server.configure(place, "Light")
    return place


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
def opens_at(browser: "Browser") -> Iterator[Callable[..., Opened]]:
    """Opens a notebook of a server: ``opens_at(served, "lab/tree", "gallery", theme="Dark")``."""
    opened = []

    def opens(
        at: server.Server,
        app: str,
        name: str,
        theme: str = "Light",
        width: int = 1150,
        height: int = 1000,
    ) -> Opened:
        server.configure(at.folder, theme)
        page = browser.new_page(viewport={"width": width, "height": height})
        opened.append(Opened(page, at.url(f"{app}/{name}.ipynb")))
        return opened[-1]

    yield opens
    for each in opened:
        each.page.close()


@pytest.fixture
def opens(opens_at: Callable[..., Opened], jupyter: server.Server) -> Callable[..., Opened]:
    """Opens a notebook of the folder with all of them."""
    return partial(opens_at, jupyter)


@pytest.fixture
def opens_served(opens_at: Callable[..., Opened], served: server.Server) -> Callable[..., Opened]:
    """Opens a notebook of a module's `place`."""
    return partial(opens_at, served, width=1300, height=800)
