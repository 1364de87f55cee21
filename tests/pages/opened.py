"""A page with a notebook in it."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

#: Where pictures go that people want to look at; else none is taken: each takes its time.
_SCREENSHOTS = os.environ.get("IPYJAXBENCH_SCREENSHOTS", "")
LOOKS = Path(__file__).with_name("looks.js").read_text("utf-8")
#: What Notebook 7.6.5 and 7.0.8 say of themselves with any notebook.
_OWN = ("Cannot read properties of undefined (reading 'schema')",
        "Cannot read properties of undefined (reading 'last_modified')",
        "Command 'filebrowser:open-path' not registered.")  # fmt: skip


LEAST_CONTRAST = 4.5  # of WCAG 2 AA, for texts


def faint(texts: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """Texts that are too much like what is behind them."""
    return [(text, ratio) for text, ratio in texts if ratio < LEAST_CONTRAST]


def hard_to_read(card: dict[str, Any]) -> list[Any]:
    """What of a report is faint, lies over something else, or is a picture that is not there."""
    images = [image for image in card["images"] if not image["wide"] > 0]
    return [*faint(card["texts"]), *card["overlaps"], *images]


def photograph(shown: "Page | Locator", name: str, **options: Any) -> None:
    """Take a picture, where somebody wants to look at it."""
    if _SCREENSHOTS:
        shown.screenshot(path=Path(_SCREENSHOTS, f"{name}.png"), **options)


class Opened:
    """A notebook that is open in a page.

    Args:
        page: a new one.
        url: of the notebook.
    """

    def __init__(self, page: "Page", url: str) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("console", lambda told: told.type == "error" and self.errors.append(told.text))
        page.on("pageerror", lambda error: self.errors.append(error.message))
        page.goto(url)
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_function("window.jupyterapp.shell.currentWidget?.context?.isReady")

    @property
    def own_errors(self) -> list[str]:
        """Errors that are not those of the page with any notebook."""
        return [error for error in self.errors if error not in _OWN]

    def looks(self, call: str, *args: Any) -> Any:
        """What is seen of the reports: see looks.js."""
        return self.page.evaluate(f"args => {LOOKS.rstrip()}.{call}(...args)", list(args))

    def wait_for_cards(self, count: int) -> None:
        """Until so many reports are shown."""
        self.page.wait_for_function(
            "count => document.querySelectorAll('.jp-RenderedHTMLCommon.jp-OutputArea-output')"
            ".length >= count", arg=count,
        )  # fmt: skip

    def run_all(self) -> None:
        """Run all cells, and save."""
        self.page.evaluate("""async () => {
            const app = window.jupyterapp;
            const panel = app.shell.currentWidget;
            await panel.sessionContext.ready;
            await app.commands.execute('notebook:run-all-cells');
            await panel.context.save();
        }""")

    def show_all(self) -> int:
        """Make the page as high as the notebook: what is out of sight is not drawn.

        Returns:
            That height in pixels.
        """
        bottom = (
            "(() => { document.querySelector('.jp-WindowedPanel-outer').scrollTop = 0;"
            " const cells = [...document.querySelectorAll('.jp-Notebook .jp-Cell')];"
            " return Math.max(...cells.map(cell => cell.getBoundingClientRect().bottom)); })()"
        )
        size = self.page.viewport_size or {"width": 1150, "height": 1000}
        for _ in range(2):  # what comes into sight is drawn, and may be higher
            size["height"] = int(self.page.evaluate(bottom)) + 200
            self.page.set_viewport_size(size)
            self.page.wait_for_timeout(300)
        return size["height"]

    def photograph(self, name: str) -> None:
        """Show all of it, and take pictures of it, one below the other."""
        high = self.show_all()
        wide = self.page.evaluate("window.innerWidth")
        for number, top in enumerate(range(0, high, 1600)):
            clip = {"x": 0, "y": top, "width": wide, "height": min(1600, high - top)}
            photograph(self.page, f"{name}-{number:02}", clip=clip)
