"""The example, run in real pages, saved, and opened where it was not run."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

from ipyjaxbench.reports.result import MIME
from tests.pages.opened import Opened, hard_to_read


def test_the_example_runs_and_each_report_is_seen(
    opens: Callable[..., Opened], folder: Path
) -> None:
    app, name, theme = "notebooks", "notebook", "Dark"
    opened = opens(app, name, theme)
    opened.run_all()
    saved = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    shown = _reports(saved)
    assert len(shown) >= 13
    assert all(set(data) == {"text/plain", "text/html", MIME} for data in shown)
    assert _errors(saved) == []
    opened.wait_for_cards(len(shown))
    opened.photograph(f"run-{name}-{theme.lower()}")
    _assert_seen(opened, shown)
    assert opened.looks("trusted") is True

    saved.metadata["title"] = "a copy that came by mail"
    nbformat.write(saved, folder / f"{name}-copy.ipynb")
    copy = opens(app, f"{name}-copy", theme)
    copy.wait_for_cards(len(shown))
    copy.show_all()
    _assert_seen(copy, shown)
    assert copy.looks("trusted") is False


def _reports(notebook: Any) -> list[Any]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.data for output in outputs if "text/html" in output.get("data", {})]


def _errors(notebook: Any) -> list[Any]:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output for output in outputs if output.output_type == "error"]


def _assert_seen(opened: Opened, shown: list[Any]) -> None:
    sources = [data["text/html"] for data in shown]
    assert opened.own_errors == []
    assert [how for how in opened.looks("changed", sources) if how] == []
    for card, source in zip(opened.looks("cards"), sources, strict=True):
        figure = re.search(r"font-weight:600\">([^<]+)<", source)
        assert figure
        assert figure[1] in card["text"]
        assert hard_to_read(card) == []
        assert all(image["alt"] for image in card["images"])
