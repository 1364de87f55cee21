"""One of each report, in real pages: light and dark, trusted and not, wide and narrow."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.pages import notebooks
from tests.pages.opened import Opened, hard_to_read

BUNDLES = notebooks.bundles()
SOURCES = [bundle["text/html"] for bundle in BUNDLES.values()]
PAGES = [
    ("lab/tree", "gallery", "Light"),
    ("lab/tree", "trusted", "Dark"),
    ("notebooks", "gallery", "Dark"),
    ("notebooks", "trusted", "Light"),
]


@pytest.mark.parametrize(("app", "name", "theme"), PAGES)
def test_every_report_is_whole_and_can_be_read(
    opens: Callable[..., Opened], app: str, name: str, theme: str
) -> None:
    opened = opens(app, name, theme)
    opened.wait_for_cards(len(SOURCES))
    opened.photograph(f"{name}-{app.split('/')[0]}-{theme.lower()}")
    assert opened.own_errors == []
    assert opened.looks("trusted") is _keeps_labels(opened) is (name == "trusted")
    changed = dict(zip(BUNDLES, opened.looks("changed", SOURCES), strict=True))
    changed.pop("probe")
    assert {each: how for each, how in changed.items() if how} == {}
    for each, card in _cards(opened).items():
        assert (each, hard_to_read(card), card["wide"] <= 0) == (each, [], True)


def test_in_a_narrow_page_what_is_too_wide_can_be_scrolled(opens: Callable[..., Opened]) -> None:
    opened = opens("lab/tree", "gallery", width=420)
    opened.page.evaluate("window.jupyterapp.shell.collapseLeft()")
    opened.wait_for_cards(len(SOURCES))
    opened.photograph("gallery-narrow")
    cards = _cards(opened)
    assert [each for each, card in cards.items() if card["wide"] > 0 and not card["scrolls"]] == []
    # Words go to the next line there, and so do programs.
    blocks = ("Headline", "Facts", "Notes", "Chart", "Code", "Calls")
    for each in (*blocks, "jax_basics-0", "jax_tracing-0"):
        assert (each, cards[each]["wide"] <= 0) == (each, True)


def test_a_screen_reader_is_told_what_tables_and_pictures_are(opens: Callable[..., Opened]) -> None:
    opened = opens("lab/tree", "gallery")
    opened.wait_for_cards(len(SOURCES))
    opened.show_all()
    nodes = _accessible(opened)
    tables = [node for node in nodes if node["role"] == "table"]
    assert len(tables) > len(BUNDLES) / 2
    assert [node for node in tables if not node["name"]] == []
    images = [node["name"] for node in nodes if node["role"] == "image"]
    assert "numpy 300 ms; jax 100 ms · 3.0× faster" in images
    assert [name for name in images if not name or name == "Image"] == []
    roles = {node["role"] for node in nodes}
    assert {"rowheader", "columnheader", "DisclosureTriangle"} <= roles


def _keeps_labels(opened: Opened) -> bool:
    return bool(opened.page.query_selector('[aria-label="trusted"]'))


def _cards(opened: Opened) -> dict[str, Any]:
    return dict(zip(BUNDLES, opened.looks("cards"), strict=True))


def _accessible(opened: Opened) -> list[dict[str, str]]:
    """Roles and names of what is in the notebook, as Chromium tells them to screen readers."""
    session = opened.page.context.new_cdp_session(opened.page)
    root = session.send(
        "Runtime.evaluate", {"expression": "document.querySelector('.jp-Notebook')"}
    )
    found = session.send("Accessibility.queryAXTree", {"objectId": root["result"]["objectId"]})
    return [
        {"role": node["role"]["value"], "name": node.get("name", {}).get("value", "")}
        for node in found["nodes"]
        if not node["ignored"]
    ]
