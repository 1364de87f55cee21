"""The page of all measurements, in a browser tab of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pages import server, timings
from tests.pages.opened import LOOKS, faint, photograph

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CODES = 240
SCHEMES = [("light", 1100), ("dark", 420)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a history of many codes, each measured three times."""
    place = tmp_path_factory.mktemp("page")
    timings.keep(place, CODES, notebook=str(place / "train.ipynb"))
    return place


@pytest.fixture
def page(served: server.Server, browser: "Browser") -> "Iterator[Page]":
    """The page, with the whole history in it."""
    opened = browser.new_page(viewport={"width": 1100, "height": 800})
    opened.set_default_timeout(10_000)
    said: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda told: said.append(told.text))
    opened.on("pageerror", lambda error: said.append(error.message))
    opened.on("request", lambda sent: asked.append(sent.url))
    opened.goto(served.url("ipyjaxbench"))
    opened.wait_for_selector("tbody tr")
    yield opened
    own = f"http://127.0.0.1:{served.port}/"
    assert [told for told in said if "404 (Not Found)" not in told] == []  # that is the browser's
    assert [url for url in asked if not url.startswith((own, "data:"))] == []
    opened.close()


def names(page: "Page") -> list[str]:
    return page.locator("tbody th code").all_inner_texts()


def test_regressions_come_first_and_filters_are_in_the_address(page: "Page") -> None:
    assert f"1–100 of {CODES} codes" in page.inner_text("caption")
    assert "slower" in page.inner_text("tbody tr >> nth=0")
    page.fill("[name=text]", "step_23")
    page.wait_for_selector("caption >> text=11 codes")
    assert "text=step_23" in page.url
    assert page.evaluate("document.activeElement.name") == "text"
    page.uncheck("[name=newest]")
    page.wait_for_selector("caption >> text=33 measurements")
    page.fill("[name=since]", "2200-01-01")
    page.wait_for_selector("text=None matches.")
    page.go_back()
    page.wait_for_selector("caption >> text=33 measurements")
    page.reload()
    page.wait_for_selector("caption >> text=33 measurements")
    assert page.input_value("[name=text]") == "step_23"
    page.select_option("[name=framework]", "numpy")
    page.wait_for_selector("caption >> text=33 measurements")
    assert "framework=numpy" in page.url


def test_who_types_is_not_disturbed_by_answers(page: "Page") -> None:
    for key in "step_23":
        page.locator("[name=text]").press(key)
        page.wait_for_timeout(330)
    page.wait_for_selector("caption >> text=11 codes")
    assert page.input_value("[name=text]") == "step_23"


def test_all_pages_of_the_history_are_reached(page: "Page") -> None:
    seen = set(names(page))
    for first in (101, 201):
        page.click("text=Next →")
        page.wait_for_selector(f"caption >> text={first}–")
        seen |= set(names(page))
    assert len(seen) == CODES
    assert page.query_selector("text=Next →") is None


def test_a_code_has_a_chart_with_what_changed(page: "Page") -> None:
    page.click("tbody a >> nth=0")
    page.wait_for_selector(".fw-chart")
    assert page.locator(".fw-point, .fw-slower").count() == 3
    assert page.locator(".fw-slower").count() == 1
    assert "numpy 2.3.0 → 2.4.0" in page.inner_text("figcaption")
    assert page.locator(".fw-chart text").count() > 4
    page.click("tbody tr:first-child td:last-child a")
    page.wait_for_selector("pre")
    assert "abcdef0123" in page.inner_text("dl")
    assert page.eval_on_selector("dl img", "image => image.naturalWidth") > 0
    page.go_back()
    page.wait_for_selector(".fw-chart")


def test_two_measurements_are_compared(page: "Page") -> None:
    page.click("tbody a >> nth=0")
    page.wait_for_selector(".fw-chart")
    page.check("tbody tr:nth-child(1) input")
    assert page.locator("text=Compare the two chosen").count() == 0
    page.check("tbody tr:nth-child(3) input")
    page.click("text=Compare the two chosen")
    page.wait_for_selector("h3")
    assert page.inner_text("h3 >> nth=0") == "What differs around them"
    assert "numpy 2.3.0" in page.inner_text("section >> nth=0")
    assert "1.50× slower" in page.inner_text(".fw-headline")


def test_what_cannot_be_compared_is_said(page: "Page") -> None:
    page.click("nav >> text=Compare")
    page.fill("[name=before]", "a.ipynb")
    page.fill("[name=after]", "none.ipynb")
    page.press("[name=after]", "Enter")
    page.wait_for_selector("main [role=alert]")
    assert "a.ipynb" in page.inner_text("main [role=alert]")
    assert page.input_value("[name=after]") == "none.ipynb"
    page.click("nav >> text=Machine")
    page.wait_for_selector("text=Peaks")
    assert page.is_hidden("[role=alert]")


def test_it_is_used_by_keyboard_alone(page: "Page") -> None:
    reached: list[str] = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(
            "(e => e.name || e.textContent || e.type)(document.activeElement)"))  # fmt: skip
    assert {"Measurements", "Compare", "Machine", "text", "notebook", "sort", "newest"} <= set(
        reached
    )
    page.focus("tbody th a >> nth=0")
    assert (
        page.eval_on_selector("tbody th a", "link => getComputedStyle(link).outlineStyle") != "none"
    )
    page.keyboard.press("Enter")
    page.wait_for_selector(".fw-chart")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_what_is_shown_is_downloaded(page: "Page", format: str) -> None:
    page.fill("[name=text]", "step_23")
    page.wait_for_selector("caption >> text=11 codes")
    page.hover(f"a[href*='format={format}']")
    with page.expect_download() as started:
        page.mouse.down()
        page.wait_for_timeout(300)  # as slowly as people click, who leave the field with it
        page.mouse.up()
    text = started.value.path().read_text("utf-8")
    rows = text.splitlines()[1 if format == "csv" else 0 :]
    assert len(rows) == 11
    assert all("step_23" in row for row in rows)


@pytest.mark.parametrize(("scheme", "width"), SCHEMES)
def test_it_is_read_in_light_and_dark_wide_and_narrow(
    page: "Page", scheme: Any, width: int
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    for view in ("list", "code", "one"):
        photograph(page, f"page-{view}-{scheme}-{width}")
        assert (view, page.evaluate(WIDE)) == (view, [])
        texts = page.evaluate(f"() => {LOOKS.rstrip()}.texts('.fw-icon, option, title')")
        assert (view, faint(texts)) == (view, [])
        if view == "list":
            page.click("tbody a >> nth=0")
            page.wait_for_selector(".fw-chart")
        elif view == "code":
            page.click("tbody td:last-child a >> nth=0")
            page.wait_for_selector("pre")


#: What is wider than the page.
WIDE = """[...document.querySelectorAll('body *')]
    .filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest('pre, option'))
    .map(e => e.outerHTML.slice(0, 80))"""


def test_it_prints_without_what_is_clicked(page: "Page") -> None:
    page.emulate_media(media="print")
    for each in (".fw-filters", "nav", ".fw-choice", "tbody input >> nth=0"):
        assert page.is_hidden(each)
    assert page.is_visible("tbody tr >> nth=0")


def test_hostile_names_are_text(browser: "Browser", tmp_path: Path) -> None:
    hostile = timings.HOSTILE + "x" * 3000
    timings.keep(tmp_path, 2, notebook=f"/{hostile[:200]}.ipynb", code=hostile, cell=hostile)
    running = server.Server(tmp_path, timings.options(tmp_path))
    try:
        page = browser.new_page(viewport={"width": 700, "height": 800})
        page.goto(running.url("ipyjaxbench"))
        page.wait_for_selector("tbody tr")
        for selector in ("tbody a >> nth=0", "tbody td:last-child a >> nth=0"):
            page.click(selector)
            page.wait_for_selector("h2")
            page.wait_for_timeout(300)
            tags = set(page.eval_on_selector_all("main *", "all => all.map(e => e.localName)"))
            assert not tags & {"script", "iframe", "object", "embed", "style"}
            assert page.locator("img:not([src^='data:'])").count() == 0
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("window.__hit") is None
        page.close()
    finally:
        running.stop()
