"""Long names, figures and changes in windows and panels that are narrow."""

import json
from typing import TYPE_CHECKING

import pytest

from tests.pages import server, timings
from tests.pages.opened import Opened, photograph
from tests.pages.test_page import WIDE
from tests.pages.timings import Timings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

NOTEBOOK = "what attention costs with long sequences and many heads.ipynb"
#: Codes with their median, the half width of its interval, and its verdict.
WORDY = [
    ("attention(queries, keys, values, mask=causal(queries.shape[1]))", 2.71e-6, 0.11, "OK"),
    ("jax.vmap(train_step)(params, batch)", 1.05e-6, 0.5, "NOISY"),
    ("model.fit(images, labels)", 9.7e-4, 0.3, "RECOMPILES"),
    ("np.linalg.svd(covariance)", 0.66, 0.4, "NOISY"),
]  # fmt: skip
#: Numbers that are parted from their units, icons from their words, and dates that are broken.
PARTED = r"""root => {
    const lines = (range) => new Set(
        [...range.getClientRects()].filter(r => r.width).map(r => r.top)).size;
    const whole = /[\d.]+ (?:s|ms|µs|ns|%)|[\d.]+× \w+|\d{4}-\d\d-\d\d \d\d:\d\d/g;
    const found = [];
    for (const e of document.querySelectorAll(root + ' :is(strong, td, a, .fw-verdict)')) {
        for (const n of [...e.childNodes].filter(n => n.nodeType === 3)) {
            for (const m of n.data.matchAll(whole)) {
                const range = document.createRange();
                range.setStart(n, m.index);
                range.setEnd(n, m.index + m[0].length);
                if (lines(range) > 1) found.push(m[0]);
            }
        }
    }
    for (const icon of document.querySelectorAll(root + ' .fw-icon')) {
        const range = document.createRange(), last = icon.parentElement.lastChild;
        range.setStart(last, 0);
        range.setEnd(last, 1);
        const [a, b] = [icon.getBoundingClientRect(), range.getBoundingClientRect()];
        if (b.top > a.bottom - 4) found.push(icon.parentElement.textContent);
    }
    return found;
}"""


#: Of windows, on both sides of those at which the page changes.
WIDTHS = (1001, 1000, 901, 900, 420, 320)


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[server.Server]":
    """A server with a history whose names, figures and changes are long."""
    place = tmp_path_factory.mktemp("wordy")
    timings.keep(place, 0, notebook="")
    server.configure(place, "Light")
    notebook = str(place / NOTEBOOK)
    timings.write(
        place / NOTEBOOK, {f"cell-{n}": f"%fwtime {each[0]}" for n, each in enumerate(WORDY)}
    )
    for run, kept in enumerate(sorted(place.glob(".jupyter/data/ipyjaxbench/history/*.jsonl"))):
        lines = []
        for number, (code, median, half_width, verdict) in enumerate(WORDY):
            entry = timings.entry(number, run, notebook=notebook, code=code)
            slower = 1.5 if run == 2 else 1
            entry["figure"] |= {
                "median": median * slower, "half_width": half_width, "verdict": verdict,
            }  # fmt: skip
            lines.append(json.dumps(entry))
        kept.write_text("\n".join(lines) + "\n")
    running = server.Server(place, timings.options(place))
    yield running
    running.stop()


def test_long_words_fit_and_parts_stay_together(wordy: server.Server, browser: "Browser") -> None:
    page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
    page.goto(wordy.url("ipyjaxbench"))
    page.wait_for_selector("tbody tr")

    def look(view: str) -> None:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            photograph(page, f"page-wordy-{view}-{width}")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert (view, wide, page.evaluate(WIDE)) == (view, width, [])
            if width >= 420:
                assert (view, width, page.evaluate(PARTED, "main")) == (view, width, [])
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})

    assert "(rerun " in page.inner_text("tbody tr:has-text('model.fit') >> nth=0")
    assert "(5th percentile)" in page.inner_text("tbody tr:has-text('NOISY') >> nth=0")
    assert "slower (1." in page.inner_text("tbody tr >> nth=0")
    look("list")
    page.click("tbody th a >> nth=0")
    page.wait_for_selector(".fw-chart")
    look("code")
    page.check("tbody tr:nth-child(1) input")
    page.check("tbody tr:nth-child(3) input")
    page.click("text=Compare the two chosen")
    page.wait_for_selector("text=What differs around them")
    look("compare")
    page.click("tbody a >> nth=0")
    page.wait_for_selector("pre")
    look("one")
    page.goto(wordy.url("ipyjaxbench?view=machine"))
    page.wait_for_selector("text=Peaks")
    look("machine")
    page.close()


def test_parts_of_a_figure_stay_together_in_the_panel(
    wordy: server.Server, browser: "Browser"
) -> None:
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    opened = Opened(page, wordy.url(f"lab/tree/{NOTEBOOK}"))
    panel = Timings(opened)
    panel.show()
    panel.wait_for_rows(len(WORDY))
    photograph(page.locator(".fw-panel"), "panel-wordy")
    assert page.evaluate(PARTED, ".fw-panel") == []
    assert page.eval_on_selector(".fw-panel", "p => p.scrollWidth - p.clientWidth") <= 0
    page.close()
