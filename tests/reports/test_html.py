"""Reports as HTML that survives an untrusted notebook."""

import base64
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from ipyjaxbench.reports import highlight, html, text
from ipyjaxbench.reports.badges import BADGES
from ipyjaxbench.reports.blocks import (
    Block,
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
from ipyjaxbench.reports.pictures import Picture
from tests.results import STEADY, measured
from tests.samples import BLOCKS
from tests.sanitiser import Page


def source(block: Block) -> str:
    return html.render(Report((block,)))


@pytest.mark.parametrize("name", BLOCKS)
def test_every_word_of_the_text_is_in_the_html(name: str) -> None:
    block = BLOCKS[name]
    found = set() if isinstance(block, Picture) else set(text.render(Report((block,))).split())
    signs = {"█░░░░", "████░", "→"} | {sign for sign in found if not sign.strip("+-|")}
    assert found - signs - set(Page(source(block)).text.split()) == set()


def test_a_verdict_is_explained_and_what_turns_text_around_is_written_out() -> None:
    turned = "user\u202enimda\x07"
    headline = Headline(turned, "2 ms", "", "QUIET", "steady: a rerun should be within 4 %")
    shown = html.render(Report((headline, Notes((Note("a", turned, turned),)), Footer((turned,)))))
    assert not re.search("[\u202e\x07]", shown)
    assert Page(shown).text.count(r"user\u202enimda\x07") == 4
    assert headline.explained in Page(shown).text


def test_three_notes_are_open_and_the_rest_fold() -> None:
    notes = tuple(Note(f"n{i}", f"note {i}") for i in range(5))
    folded = Page(source(Notes(notes))).folded
    assert [note.text in folded for note in notes] == [False, False, False, True, True]
    assert "2 more" in folded
    assert Page(source(Notes(notes[:3]))).folded == ""


def test_a_table_folds_unless_it_says_otherwise_and_its_numbers_stand_to_the_right() -> None:
    head, rows = ("name", "n"), (("a", "1"),)
    parsed = Page(source(Table("times", head, rows)))
    assert " ".join(parsed.folded.split()) == "times name n a 1"
    cells = [attributes["style"] or "" for tag, attributes in parsed.tags if tag in ("td", "th")]
    sides = [side for style in cells for side in ("left", "right") if f"text-align:{side}" in style]
    assert sides == ["left", "right"] * 2
    assert Page(source(Table("times", head, rows, folded=False))).folded == ""
    details = Details("3 calls", (Facts((("waited", "6 ms"),)),), printed=False)
    assert Page(source(details)).folded.split() == ["3", "calls", "waited", "6", "ms"]


def test_a_report_is_small() -> None:
    assert len(html.render(measured(STEADY[:40]).report()).encode()) < 5200


def test_a_picture_is_an_image_with_words() -> None:
    block = BLOCKS["Bars"]
    assert isinstance(block, Picture)
    shown = source(block)
    (address,) = re.findall(r'src="([^"]+)"', shown)
    drawing = ElementTree.fromstring(base64.b64decode(address.partition(",")[2]))
    assert int(drawing.get("width") or 0) == 640
    assert f'alt="{block.describe()}"' in shown


@pytest.mark.parametrize("word", BADGES)
def test_a_verdict_has_its_icon_and_its_colour(word: str) -> None:
    shown = source(Headline("f(x)", "2 ms", "", word, ""))
    assert "border-left" not in source(Headline("f(x)", "2 ms", "", "", ""))
    look = BADGES[word]
    assert look.colour in shown
    assert Page(shown).text.split("2 ms")[1].split() == [
        *([look.icon] if look.icon != word else []),
        *word.split(),
    ]


def test_heat_is_stronger_where_a_line_costs_more() -> None:
    rows = (("7", 1.0, "9 FLOP", "a"), ("8", 0.5, "5 FLOP", "b"), ("9", 0.0, "", "c"))
    heats = re.findall("background-color:#c8701a(..)", source(Listing("", rows)))
    assert [int(heat, 16) for heat in heats] == [170, 85, 0]


def test_parts_on_the_same_devices_have_the_same_tint() -> None:
    rows = (("a", *"01234567"), ("b", "8", *"0123456"))
    tints = re.findall("background-color:(#[0-9a-f]{6}55)", source(Grid("x", ("",) * 8, rows)))
    first, second = tints[:8], tints[8:]
    assert len(set(first)) == 8
    assert second == [first[0], *first[:7]]  # the ninth is as the first: there are no more


def test_a_long_word_may_be_broken_and_a_short_label_stays_on_one_line() -> None:
    for parts in ([24], [24, 1], [24, 24], [24, 24, 12]):
        shown = "<wbr>".join("x" * part for part in parts)
        assert f">{shown}</td>" in source(Facts((("a", "x" * sum(parts)),)))
    for letters, is_whole in ((14, True), (15, False)):
        assert ("white-space:nowrap" in source(Facts((("x" * letters, ""),)))) is is_whole


PAD = "Pad `x <y>` with `jnp.pad`."


@pytest.mark.parametrize(
    "block", [Facts((("fix", PAD),)), Notes((Note("a", PAD),)), Notes((Note("a", "", PAD),))]
)
def test_code_in_words_looks_like_code(block: Block) -> None:
    assert "Pad <code>x &lt;y&gt;</code> with <code>jnp.pad</code>." in source(block)
    assert ">5` long</td>" in source(Facts((("a", "5` long"),)))


@given(st.text(max_size=200))
def test_the_pieces_of_any_line_are_the_line(line: str) -> None:
    assert "".join(text for _, text in highlight.split_line(line)) == line


@pytest.mark.parametrize(("line", "kind", "piece"), [
    ("    d:f32[8,64] = tanh c", "operation", "tanh"),
    ("    d:f32[8,64] = tanh c", "type", "f32[8,64]"),
    ("{ lambda ; a:f32[]. let", "keyword", "lambda"),
    ("    b:key<fry>[] = random_wrap[impl=fry] a", "type", "key<fry>[]"),
    ("    %1 = stablehlo.tanh %0 : tensor<8x64xf32>", "operation", "stablehlo.tanh"),
    ("    %1 = stablehlo.tanh %0 : tensor<8x64xf32>", "type", "tensor<8x64xf32>"),
    ("  ROOT %t = f32[8,64]{1,0} fusion(%x), kind=kLoop", "operation", "fusion"),
    ("mm: f32[3,5] = aten.mm(x, w)", "operation", "aten.mm"),
    ("    ... 1,234 more equations ...", "comment", "    ... 1,234 more equations ..."),
    ("-    d:f32[8,64] = tanh c", "removed", "-    d:f32[8,64] = tanh c"),
    ("+    d:f32[8,64] = sin c", "added", "+    d:f32[8,64] = sin c"),
    ("  y = x  # why", "comment", "# why"),
    ('  %2 = "mhlo.copy"(%1)', "string", '"mhlo.copy"'),
    ("b:f32[3] = tanh a", "", " a"),
])  # fmt: skip
def test_pieces_are_told_by_their_kind(line: str, kind: str, piece: str) -> None:
    assert (kind, piece) in list(highlight.split_line(line))


def test_a_text_in_no_language_stays_whole() -> None:
    line = "- return f32[3]"
    assert list(highlight.split_line(line, "text")) == [("", line)]
    assert list(highlight.split_line("", "text")) == [("", "")]
    assert list(highlight.split_line("return", "jaxpr")) == [("keyword", "return")]
    assert list(highlight.split_line("", "jaxpr")) == []
