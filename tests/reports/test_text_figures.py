"""Each kind of block as text, to the letter; worked out by hand."""

import pytest

from ipyjaxbench.reports import text
from ipyjaxbench.reports.blocks import (
    Bars,
    Block,
    Calls,
    Code,
    Distribution,
    Facts,
    Grid,
    Headline,
    Report,
    Table,
)


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A page that shows all signs."""
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setenv("COLUMNS", "80")
    return monkeypatch


def lines(block: Block) -> list[str]:
    return text.render(Report((block,))).splitlines()


def test_a_grid_has_a_box_for_each_part() -> None:
    assert lines(Grid("x", ("0", "1"), (("0", "cpu:0", "cpu:1"), ("1", "cpu:2", "cpu:3")))) == [
        "x",
        "+-------------------+",
        "|   | 0     | 1     |",
        "|---+-------+-------|",
        "| 0 | cpu:0 | cpu:1 |",
        "|---+-------+-------|",
        "| 1 | cpu:2 | cpu:3 |",
        "+-------------------+",
    ]
    assert lines(Grid("x", ("",), (("rows 0-1", "cpu:0"),))) == [
        "x",
        "+------------------+",
        "| rows 0-1 | cpu:0 |",
        "+------------------+",
    ]


def test_the_longest_bar_takes_what_names_and_figures_leave() -> None:
    rows = (("numpy", 0.5, "42.5 ms"), ("jax", 0.1, "8.5 ms"), ("c", 0.001, "85 µs"))
    assert lines(Bars(rows)) == [
        "  numpy  " + "█" * 62 + " 42.5 ms",
        "  jax    " + "█" * 12 + " 8.5 ms",
        "  c      " + "█ 85 µs",
    ]
    assert lines(Bars((("a", 0.0, "0 s"),))) == ["  a  █ 0 s"]


def test_a_name_has_a_quarter_of_the_page_beside_its_bar() -> None:
    line, other = lines(Bars((("n" * 20, 1.0, "1 s"), ("o" * 21, 1.0, "1 s"))))
    assert line.split()[0] == "n" * 20
    assert other.split()[0] == "o" * 8 + "…" + "o" * 8


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        (18, ["  name      " + " " * 17 + "n", "  ab…st     " + "1" * 18]),
        (19, ["  abcdefghijklmnopqrst", "n     " + "1" * 19]),
    ],
)
def test_a_table_whose_names_have_no_room_becomes_rows(
    eighty_columns: pytest.MonkeyPatch, digits: int, expected: list[str]
) -> None:
    """Eight columns are enough for both ends of a name."""
    eighty_columns.setenv("COLUMNS", "30")
    table = Table("", ("name", "n"), (("abcdefghijklmnopqrst", "1" * digits),))
    assert lines(table) == expected


def test_short_names_need_no_more_room_than_they_have(
    eighty_columns: pytest.MonkeyPatch,
) -> None:
    eighty_columns.setenv("COLUMNS", "30")
    table = Table("times", ("", "n"), (("abc", "1" * 23),))
    assert lines(table) == ["times", f"{'n':>30}", "  abc  " + "1" * 23]


CALLS = Calls(("line", "call", "why"), (("3", "f(x)", "first call"),))
HEADLINE = Headline("f(x)", "2.12 ms", "per call", "QUIET", "")


def test_words_stand_beside_calls_from_sixty_columns_on(
    eighty_columns: pytest.MonkeyPatch,
) -> None:
    eighty_columns.setenv("COLUMNS", "60")
    assert lines(CALLS) == ["line  call  why", "3     f(x)  first call"]
    assert lines(HEADLINE) == ["f(x)  2.12 ms   per call" + " " * 31 + "QUIET"]
    eighty_columns.setenv("COLUMNS", "59")
    assert lines(CALLS) == ["line  call", "    why", "3  f(x)", "    first call"]
    assert lines(HEADLINE) == ["f(x)", "2.12 ms", "per call", "QUIET"]


def test_a_distribution_is_a_row_of_bars() -> None:
    block = Distribution("spread", "1 ms", "2 ms", (0, 1, 2, 8), ", slowest 9 ms")
    assert lines(block) == ["spread  1 ms  ▁▂█ 2 ms, slowest 9 ms"]


def test_a_line_of_a_program_is_cut_where_it_is_very_long() -> None:
    assert [len(line) for line in lines(Code("jaxpr", "x" * 200 + "\n" + "x" * 201))] == [200, 200]


def test_no_line_breaks_between_a_number_and_its_unit() -> None:
    assert [line.strip() for line in lines(Facts((("a", "x" * 73 + " 12 ms"),)))] == [
        "a  " + "x" * 73,
        "12 ms",
    ]
