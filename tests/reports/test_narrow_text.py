"""Reports in a narrow terminal, and in one without Unicode: every kind of block."""

import contextlib
import io
import sys
from collections.abc import Iterator

import pytest

from ipyjaxbench import units
from ipyjaxbench.reports import text
from ipyjaxbench.reports.blocks import (
    Bars,
    Block,
    Calls,
    Chart,
    Code,
    Distribution,
    Facts,
    Grid,
    Headline,
    Notes,
    Report,
    Series,
    Table,
)
from ipyjaxbench.reports.note import Note

WORDS = "one two three four five six seven eight nine ten µ ± → × · – … └ é"
SERIES = tuple(
    Series(name, ((10, 1e-6, 9e-7, 2e-6), (1000, 1e-3, 9e-4, 2e-3))) for name in ("one", "other")
)
BLOCKS: dict[str, Block] = {
    "headline": Headline("f(x, y)", "2.12 ms ± 1.1 %", "per call, waited for", "QUIET", "steady"),
    "title": Headline("step(params, batch)", "2.12 ms", "latency: call and wait", "QUIET", ""),
    "facts": Facts((("samples", WORDS), ("a label of 22 columns.", WORDS))),
    "distribution": Distribution("spread", "2.11 ms", "4.09 ms", (1, 2, 8) * 5, ", slowest 9 ms"),
    "notes": Notes((Note("copies", WORDS, WORDS),)),
    "table": Table("caption", ("operation", "runs", "time"), (("dot_general", "12", "1.2 ms"),)),
    "wide table": Table("", ("name", *"abcd"), (("x" * 40, *(["123,456 per call"] * 4)),)),
    "bars": Bars((("numpy", 0.5, "42.5 ms"), ("a rather long name of it", 0.1, "6.32 µs"))),
    "chart": Chart("n", "time of a call", SERIES),
    "code": Code("jaxpr", "{ lambda ; a:f32[3]. let in (a,) }"),
    "calls": Calls(
        ("line", "call", "state", "why"), (("12", "a_function_of_it", "TRACED", WORDS),)
    ),
    "grid": Grid("x", ("0", "1"), (("0", "cpu:0", "cpu:1"), ("1", "cpu:2", "cpu:3"))),
}


@contextlib.contextmanager
def output(encoding: str) -> Iterator[None]:
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding=encoding)):
        yield


def test_every_kind_of_block_is_tried() -> None:
    assert {type(block) for block in BLOCKS.values()} == set(Block.__args__)


@pytest.mark.parametrize("columns", [30, 40, 60, 80])
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_keeps_to_the_columns_and_to_the_signs(
    monkeypatch: pytest.MonkeyPatch, name: str, encoding: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with output(encoding):
        shown = text.render(Report((BLOCKS[name],)))
    # The lines of a program stay whole: a terminal may break them, and copies what it was given.
    assert name == "code" or max(map(len, shown.splitlines())) <= columns
    shown.encode(encoding)


@pytest.mark.parametrize("columns", [30, 40, 60])
def test_no_word_is_lost(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    wide = str(render(monkeypatch, 80)).split()
    narrow = "".join(render(monkeypatch, columns).split())
    assert [word for word in wide if word not in narrow] == []


def render(monkeypatch: pytest.MonkeyPatch, columns: int) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    words = ("headline", "title", "facts", "notes", "table", "calls")
    with output("utf-8"):
        return text.render(Report(tuple(BLOCKS[name] for name in words)))


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


def test_a_page_is_never_wider_than_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert text.width() == 80


def test_without_a_terminal_a_page_has_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    with output("utf-8"):
        assert text.width() == 80
    monkeypatch.setattr(sys, "stdout", None)
    assert text.width() == 80


def test_no_sign_that_reports_use_becomes_a_question_mark() -> None:
    assert "?" not in units.plain(WORDS.replace("é", ""))
