"""Each kind of block as text, to the letter; worked out by hand."""

import pytest

from ipyjaxbench.reports import html, sparkline, text
from ipyjaxbench.reports.blocks import (
    Block,
    Calls,
    Code,
    Details,
    Facts,
    Footer,
    Grid,
    Headline,
    Listing,
    Notes,
    Report,
    Table,
)
from ipyjaxbench.reports.note import Note


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A page that shows all signs."""
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setenv("COLUMNS", "80")
    return monkeypatch


def lines(block: Block) -> list[str]:
    return text.render(Report((block,))).splitlines()


def test_a_grid_has_a_line_for_each_row() -> None:
    assert lines(Grid("x", ("0", "1"), (("0", "cpu:0", "cpu:1"), ("1", "cpu:2", "cpu:3")))) == [
        "x",
        "+-------------------+",
        "|   | 0     | 1     |",
        "|---+-------+-------|",
        "| 0 | cpu:0 | cpu:1 |",
        "| 1 | cpu:2 | cpu:3 |",
        "+-------------------+",
    ]
    assert lines(Grid("x", ("",), (("rows 0-1", "cpu:0"),))) == [
        "x",
        "+------------------+",
        "| rows 0-1 | cpu:0 |",
        "+------------------+",
    ]


def test_heads_of_a_grid_that_have_no_room_stay_distinct(
    eighty_columns: pytest.MonkeyPatch,
) -> None:
    tops = tuple(f"opt.param_groups[0]['params'][{number}]" for number in range(4))
    found = lines(Grid("", tops, (("rank:0", *["elements 0-63"] * 4),)))
    heads = [line for line in found if "…" in line]
    assert [len(set(line.split("|")[2:-1])) for line in heads] == [4]
    assert max(map(len, found)) <= 80


def test_a_table_whose_names_have_no_room_becomes_rows(
    eighty_columns: pytest.MonkeyPatch,
) -> None:
    """Sixteen columns are enough for both ends of a name; a short one needs no more than it has."""
    eighty_columns.setenv("COLUMNS", "30")
    long = "abcdefghijklmnopqrst"
    for name, digits, expected in (
        (long, 10, ["  name                       n", "  abcdef…opqrst     1111111111"]),
        (long, 11, [long, "  n  11111111111"]),
        ("abcd", 22, [f"  name{'n':>24}", f"  abcd  {'1' * 22}"]),
    ):
        assert lines(Table("", ("name", "n"), ((name, "1" * digits),))) == expected


def test_columns_that_have_no_room_are_left_out_and_named() -> None:
    head = ("name", "per call", "when", "version", "git")
    table = Table("", head, (("abcdefghijkl", "1" * 20, "2" * 20, "3" * 20, "4" * 20),))
    assert lines(table) == [
        "  name          " + " " * 12 + "per call" + " " * 18 + "when" + " " * 15 + "version",
        "  abcdefghijkl  " + "1" * 20 + "  " + "2" * 20 + "  " + "3" * 20,
        "  a wider terminal also shows: git",
    ]


CALLS = Calls(("line", "call", "why"), (("3", "f(x)", "first call"),))
HEADLINE = Headline("f(x)", "2.12 ms", "per call", "QUIET", "")


def test_words_stand_beside_calls_from_sixty_columns_on(
    eighty_columns: pytest.MonkeyPatch,
) -> None:
    eighty_columns.setenv("COLUMNS", "60")
    assert lines(CALLS) == ["line  call  why", "3     f(x)  first call"]
    assert lines(HEADLINE) == ["f(x)  2.12 ms   per call" + " " * 29 + "✓ QUIET"]
    eighty_columns.setenv("COLUMNS", "59")
    assert lines(CALLS) == ["line  call", "    why", "3  f(x)", "    first call"]
    assert lines(HEADLINE) == ["f(x)", "2.12 ms", "per call", "✓ QUIET"]


def test_a_listing_has_what_each_line_costs() -> None:
    rows = (
        ("7", 0.9, "250 MFLOP", "y = x @ x"),
        ("8", 0.01, "1 FLOP", "y += 1"),
        ("9", 0, "", "z"),
    )
    assert lines(Listing("FLOP by line", rows)) == [
        "FLOP by line",
        "7 ████░ 250 MFLOP  y = x @ x",
        "8 █░░░░    1 FLOP  y += 1",
        "9                  z",
    ]


def test_of_many_notes_three_are_whole() -> None:
    notes = tuple(Note(f"n{i}", f"note {i}{' long' * 20}", f"act {i}", "!") for i in range(5))
    shown = lines(Notes(notes))
    assert [line for line in shown if "act" in line] == [f"→  act {i}" for i in range(3)]
    assert [line[:9] for line in shown[-2:]] == ["!  note 3", "!  note 4"]
    assert all(line.endswith("long … +8 words") for line in shown[-2:])


@pytest.mark.parametrize(
    ("text", "shown"),
    [("is hidden; the time", "!  is hidden; the time"),
     ("is hidden; the time isn't", "!  is hidden; … +3 words"),
     ("what is wanted, isn't it", "!  what is … +3 words"),
     ("ipyjaxbench.measure_code(arguments)", "!  ipyjaxbench.measure_c…"),  # no word ends before
     ("行列 行列 行列 行列 行列", "!  行列 行列 … +3 words")],
)  # fmt: skip
def test_a_note_of_many_is_cut_at_a_word_and_says_how_many_more_there_are(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipyjaxbench.reports.text.width", lambda: 25)
    notes = (*(Note(f"n{i}", "short") for i in range(3)), Note("last", text, mark="!"))
    assert lines(Notes(notes))[-1] == shown


def test_what_several_notes_advise_is_said_once() -> None:
    notes = (Note("a", "one", "wait"), Note("b", "two", "wait"), Note("c", "three"))
    shown = lines(Notes(notes))
    assert shown == ["·  one", "·  two", "→  wait", "·  three"]
    page = html.render(Report((Notes(notes),)))
    assert page.count("→ wait") == 1


def test_a_footer_is_one_line_and_details_are_printed_where_they_say_so() -> None:
    assert lines(Footer(("x cpu:0", "", "jax 0.10.2"))) == ["x cpu:0 · jax 0.10.2"]
    inside = Facts((("a", "b"),))
    assert lines(Details("more", (inside,))) == ["a  b"]
    assert lines(Details("more", (inside,), printed=False)) == []


@pytest.mark.parametrize(("word", "shown"), [("QUIET", "✓ QUIET"), ("?", "?"), ("NEW", "○ NEW")])
def test_a_verdict_has_an_icon(word: str, shown: str) -> None:
    assert lines(Headline("f(x)", "2 ms", "", word, ""))[0].endswith(f" {shown}")
    assert lines(Headline("f(x)", "2 ms", "per call", "", "")) == ["f(x)  2 ms   per call"]


def test_a_line_of_a_program_is_cut_where_it_is_very_long() -> None:
    assert [len(line) for line in lines(Code("jaxpr", "x" * 200 + "\n" + "x" * 201))] == [200, 200]


def test_no_line_breaks_between_a_number_and_its_unit() -> None:
    assert [line.strip() for line in lines(Facts((("a", "x" * 73 + " 12 ms"),)))] == [
        "a  " + "x" * 73,
        "12 ms",
    ]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.0], ""),
        ([3.0], "▁"),
        ([1.0, 8.0], "▁█"),
        ([1.0, 2.0, 4.0, 8.0], "▁▃▆█"),
        ([1.0, 1.02, 0.99], "▁▂▁"),  # noise is no hill
        ([100.0, *[1.0] * 11, 2.0], f"{'▁' * 11}█"),  # the newest twelve
        ([1.0, 0.0, 2.0], "▁█"),
    ],
)
def test_equal_heights_are_equal_ratios(values: list[float], shown: str) -> None:
    assert sparkline(values) == shown
