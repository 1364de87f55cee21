"""Reports as text: exact, and never wider than a page."""

import contextlib
import dataclasses
import io
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.reports import text
from ipyjaxbench.reports.blocks import Code, Facts, Headline, Notes, Report, Table
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.measurement import Measurement
from tests.results import measured

ARRAY = Placement("x", "jax", 1, "float32", (3000, 3000), ("cpu:0",), 36_000_000)
JITTED = measured(
    [], frameworks={"jax": "0.10.2"}, first_call=0.096, compilations=3,
    phases={"trace": 0.004, "lower": 0.009, "compile": 0.081},
    batches=tuple((1, 2_100_000 + i % 7 * 4000) for i in range(40)), rounds=(20, 20),
    waited=True, inputs=(ARRAY,), outputs=(dataclasses.replace(ARRAY, name=""),), elapsed=1.1,
    notes=(notes.elsewhere(0.003), notes.unsynchronised(38e-6, 56.1)),
)  # fmt: skip
SCATTERED = tuple((100, 200_000 + (i % 2) * 140_000 + i * 7919 % 9973) for i in range(60))
NOISY = measured(
    [], code="np.dot(a, a)", frameworks={"numpy": "2.4.6"}, first_call=2.2e-6, loops=100,
    batches=(*SCATTERED, (100, 9_000_000)), rounds=(20, 20, 21), elapsed=1.02,
    inputs=(Placement("a", "numpy", 1, "float64", (3, 3), (), 72),),
)  # fmt: skip
EXPECTED: list[tuple[Measurement, str]] = [
    (
        NOISY,
        """\
np.dot(a, a)  2.01 µs   5th percentile, per call                         ▲ NOISY
spread        2.00 µs █▅                     ▄█ 3.50 µs +1 slower, up to 90.0 µs
                      ├─────────────────────┼─┤ 5 %, median, 95 %
over time             ▄▁▅█▅▁▅█▅▄▁▄█▄▁▄▅█▅▁▅█▅▁█
noise         two speeds, 2.05 µs and 3.46 µs
samples       61 of 100 calls each in 1.0 s, 2.01–3.49 µs (5–95 %), median
              3.40 µs
a f64[3,3] · numpy 2.4.6""",
    ),
    (
        JITTED,
        """\
f(x)         2.11 ms ± 2.5 %   median ± rerun, including the wait        ✓ QUIET
first call   ▒▒▓▓▓▓▓▓█████████████████████████████████████████████████░ 96.0 ms
later calls  ░ 2.11 ms
             ▒ trace 4.0 ms · ▓ lower 9.0 ms · █ compile 81 ms · ░ run 2.0 ms
samples      40 in 1.1 s, 2.10–2.12 ms (5–95 %)
!  Without waiting for the result, a timer would show 38.0 µs: 56× too low.
·  The code starts 3.00 ms of work that its value does not depend on; the time
   includes it.
x f32[3000,3000] cpu:0 → f32[3000,3000] cpu:0 · jax 0.10.2""",
    ),
]


@contextlib.contextmanager
def standard_output(encoding: str | None) -> Iterator[None]:
    """Standard output that can show some signs only."""
    stream: Any = io.TextIOWrapper(io.BytesIO(), encoding=encoding) if encoding else None
    with contextlib.redirect_stdout(stream):
        yield


@pytest.mark.parametrize(("measurement", "expected"), EXPECTED)
def test_a_report_reads_exactly_so(measurement: Measurement, expected: str) -> None:
    for encoding in ("utf-8", None):  # without a standard output all signs are shown
        with standard_output(encoding):
            assert str(measurement) == expected
    with standard_output("latin-1"):  # what it can show is left as it is
        assert str(measurement).count("µs") == expected.count("µs")


@pytest.mark.parametrize(("measurement", "expected"), EXPECTED)
def test_without_unicode_every_sign_is_written_out(measurement: Measurement, expected: str) -> None:
    signs = {"±": "+-", "µ": "u", "→": "->", "×": "x", "·": "-", "…": "..."}
    for sign, plain in {
        **signs,
        **dict(zip("▁▂▃▄▅▆▇█▒▓░✓▲○↻├┼┤─–", ".:-=+*#@:=.+!o@|+|--", strict=True)),
    }.items():
        expected = expected.replace(sign, plain)
    with standard_output("ascii"):
        assert " ".join(str(measurement).split()) == " ".join(expected.split())


def columns(line: str) -> int:
    """How wide a terminal shows it."""
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in line)
    return len(line) + wide - sum(unicodedata.combining(sign) > 0 for sign in line)


ODD = st.text("ab (.\n\t<&>'\"[]µ±→…×-語漢字かなＦ🙂é\u0301", max_size=200)


def report_of(title: str, words: list[str]) -> Report:
    """A report that says the same odd things everywhere."""
    headline = Headline(title, "2.12 ms ± 1.1 %", "per call, waited for", "RECOMPILES", "steady")
    remarks = Notes(tuple(Note("copies", word, word) for word in words))
    facts = Facts(tuple(("with", word) for word in words))
    tables = [Table(word, (word, "count"), ((word, "1.00"),)) for word in words]
    return Report((headline, facts, *tables, remarks))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@settings(max_examples=25)
@given(title=ODD, words=st.lists(ODD, max_size=3))
def test_no_line_is_wider_than_eighty_columns(encoding: str, title: str, words: list[str]) -> None:
    with standard_output(encoding):
        shown = text.render(report_of(title, words))
    assert max(map(columns, shown.split("\n"))) <= 80
    assert encoding != "ascii" or shown.isascii()


@given(ODD.map("f".__add__))
def test_a_title_is_shown_to_its_last_letter(title: str) -> None:
    with standard_output("utf-8"):
        shown = text.render(report_of(title, []))
    rest = shown.replace("2.12 ms ± 1.1 %   per call, waited for", "").replace("↻ RECOMPILES", "")
    assert "".join(rest.split()) == "".join(title.split())


NAMES = st.text("ab:語Ｆ", min_size=1, max_size=99)


@given(st.lists(st.tuples(NAMES, st.sampled_from(["1", "12.5 ms"])), min_size=1, max_size=4))
def test_a_table_lines_up_and_keeps_both_ends_of_each_name(rows: list[tuple[str, str]]) -> None:
    table = Table("caption", ("name", "time"), tuple(rows))
    with standard_output("utf-8"):
        caption, *lines = text.render(Report((table,))).split("\n")
    assert caption == "caption"
    assert len({columns(line) for line in lines}) == 1
    for (name, number), line in zip(rows, lines[1:], strict=True):
        shown = line.removesuffix(number).strip()
        start, _, end = shown.partition("…")
        assert name.startswith(start.strip())
        assert name.endswith(end)
        assert shown == name or columns(shown) >= 60


@pytest.mark.parametrize(
    ("is_terminal", "no_colour", "coloured"),
    [(True, "", True), (True, "1", False), (False, "", False), (False, "1", False)],
)
def test_colours_are_for_terminals_whose_user_wants_them(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, no_colour: str, coloured: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", no_colour)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    assert text.is_coloured() is coloured


def test_a_notebook_in_a_terminal_shows_programs_in_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = Report((Code("jaxpr", "{ lambda ; a:f32[3]. let b:f32[3] = tanh a in (b,) }"),))
    with standard_output("utf-8"):
        plain, coloured = text.render(report), text.render(report, coloured=True)
    assert "\x1b[35mlambda\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert text.render(report) == plain


def test_no_sign_that_a_terminal_obeys_is_shown() -> None:
    with standard_output("utf-8"):
        for number in range(161):
            shown = text.render(Report((Facts((("a", f"b{chr(number)}c"),)),)))
            assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]
        assert text.render(Report((Code("text", "a\tb\n\tc"),))) == "a   b\n    c"
        assert text.render(Report((Facts((("a", "b\xa0c"),)),))) == "a  b\xa0c"
        assert text.render(Report((Facts((("a", "b\x1b[2J\u202ec"),)),))) == r"a  b\x1b[2J\u202ec"


def test_a_page_is_as_wide_as_the_terminal_or_eighty_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    for encoding in ("utf-8", None):
        with standard_output(encoding):
            assert text.width() == 80
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    for columns, width in {10: 30, 30: 30, 31: 31, 99: 99, 199: 110}.items():
        size = os.terminal_size((columns, 24))
        monkeypatch.setattr("shutil.get_terminal_size", lambda fallback, size=size: size)
        assert text.width() == width


@pytest.mark.parametrize(("letters", "lines"), [(22, 1), (23, 2)])
def test_a_title_stands_beside_its_figure_as_long_as_it_is_short(letters: int, lines: int) -> None:
    headline = Headline("x" * letters, "2.12 ms", "per call", "QUIET", "")
    with standard_output("utf-8"):
        shown = text.render(Report((headline,))).splitlines()
    assert len(shown) == lines
    assert "".join(shown).startswith("x" * letters)


def test_the_first_report_leaves_random_numbers_as_they_are() -> None:
    code = (
        "import random; random.seed(0); state = random.getstate()\n"
        "from ipyjaxbench.reports import Report, text\n"
        "print(repr(text.render(Report(()))), random.getstate() == state)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "'' True\n"
