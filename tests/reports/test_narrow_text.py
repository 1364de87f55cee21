"""Reports in a narrow terminal, and in one without Unicode: every kind of block."""

import contextlib
import io
import sys
from collections.abc import Iterator

import pytest

from ipyjaxbench.reports import text
from ipyjaxbench.reports.blocks import Calls, Headline, Report, Table
from tests.samples import BLOCKS

WORDS = "one two three four five six seven eight nine ten µ ± → × · – … └ é"
TITLE = Headline("step(params, batch)", "2.12 ms", "per call, including the wait", "QUIET", "")
WIDE = Table("", ("name", *"abcd"), (("x" * 40, *(["123,456 per call"] * 4)),))
TRIED = BLOCKS | {"title": TITLE, "wide table": WIDE}


@contextlib.contextmanager
def output(encoding: str) -> Iterator[None]:
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding=encoding)):
        yield


@pytest.mark.parametrize("columns", [30, 40, 60, 80])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize("name", TRIED)
def test_a_block_keeps_to_the_columns_and_to_the_signs(
    monkeypatch: pytest.MonkeyPatch, name: str, encoding: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with output(encoding):
        shown = text.render(Report((TRIED[name],)))
    # The lines of code stay whole: a terminal may break them, and copies what it was given.
    assert (name == "Code" and columns >= 60) or max(map(len, shown.splitlines())) <= columns
    shown.encode(encoding)


@pytest.mark.parametrize("columns", [30, 40, 60])
def test_no_word_is_lost(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    wide = str(render(monkeypatch, 80)).split()
    narrow = "".join(render(monkeypatch, columns).split())
    assert [word for word in wide if word not in narrow] == []


def test_empty_cells_of_a_table_take_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    rows = (("numpy", "2.12 ms ± 1.1 %", "", "baseline"), ("jax", "failed", "", ""))
    table = Table("", ("arm", "per call", "first call", "against numpy"), rows, folded=False)
    shown = [" ".join(line.split()) for line in text.render(Report((table,))).splitlines()]
    assert shown == [
        "numpy", "per call 2.12 ms ± 1.1 %", "against numpy baseline", "jax", "per call failed",
    ]  # fmt: skip


def render(monkeypatch: pytest.MonkeyPatch, columns: int) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    words = ("Headline", "title", "Facts", "Notes", "Table", "Calls", "Footer", "Details")
    with output("utf-8"):
        return text.render(Report(tuple(TRIED[name] for name in words)))


@pytest.mark.parametrize(
    ("words", "shown"),
    [("cpu:0", "o.opt_state[0].mu['kernel'].value"), (WORDS, "o.opt_sta…l'].value")],
)
def test_a_name_is_whole_where_the_line_has_room(
    monkeypatch: pytest.MonkeyPatch, words: str, shown: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    row = ("o.opt_state[0].mu['kernel'].value", "f32[300,200]", words)
    with output("utf-8"):
        _, line, *_ = text.render(Report((Calls(("name", "type", "where"), (row,)),))).splitlines()
    assert line.split()[0] == shown


def test_without_a_terminal_a_page_has_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    with output("utf-8"):
        assert text.width() == 80
    monkeypatch.setattr(sys, "stdout", None)
    assert text.width() == 80
