"""Reports as HTML that survives an untrusted notebook."""

import base64
import dataclasses
import re
from xml.etree import ElementTree

import pytest

from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.reports import html, text
from ipyjaxbench.reports.badges import BADGES
from ipyjaxbench.reports.blocks import (
    Block,
    Details,
    Facts,
    Grid,
    Headline,
    Listing,
    Notes,
    Report,
    Table,
)
from ipyjaxbench.reports.note import Note
from ipyjaxbench.reports.pictures import Bars
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.device_time import DeviceTime, Operation, ProfiledPass
from ipyjaxbench.timing.measurement import Measurement
from ipyjaxbench.timing.validity import notes as validity_notes
from tests.samples import BLOCKS
from tests.sanitiser import Page, assert_survives

PLACE = Placement("x", "jax", 1, "float32", (3, 4), ("cpu:0",), 48)
FULL = Measurement(
    code="f(x)",
    frameworks={"jax": "0.10.2", "numpy": "2.4.6"},
    first_call=0.096,
    phases={"trace": 0.004, "lower": 0.009, "compile": 0.081, "cache load": None},
    compilations=3,
    loops=10,
    batches=tuple((10, 2_100_000 + i % 7 * 4000) for i in range(40)),
    rounds=(20, 20),
    waited=True,
    inputs=(PLACE,),
    outputs=(PLACE,),
    notes=(
        notes.elsewhere(0.003),
        notes.unsynchronised(38e-6, 56.1),
        notes.compiled_late(2),
        notes.interrupted(),
        validity_notes.not_called("f"),
    ),
    elapsed=1.1,
)
ONCE = dataclasses.replace(FULL, batches=(), rounds=(), notes=(notes.over_budget(9.0),))
PLAIN = dataclasses.replace(FULL, notes=(), phases={}, compilations=None, inputs=(), outputs=())
RECOMPILES = dataclasses.replace(FULL, notes=(validity_notes.recompiles(40, 40, 0.04),))
NOISY = dataclasses.replace(
    FULL,
    batches=tuple((1, 2_000_000 + (i % 2) * 900_000 + i * 7919 % 9973) for i in range(40)),
    throughputs=(1e-3,) * 5,
    dispatches=(2e-5,) * 5,
    notes=(),
)
SEEN = ProfiledPass("jax", 2, 0.02, 0.01, {"gpu:0": 0.01}, 6, 0.01, (Operation("<dot>", 4, 0.009),))
PROFILED = dataclasses.replace(PLAIN, device=DeviceTime((SEEN,), listed=True))
ALL = {
    "noisy": NOISY,
    "profiled": PROFILED,
    "full": FULL,
    "once": ONCE,
    "plain": PLAIN,
    "recompiles": RECOMPILES,
}


def page(m: Measurement) -> Page:
    """Its HTML, parsed."""
    return Page(html.render(m.report()))


@pytest.mark.parametrize("name", ALL)
def test_every_fact_of_the_text_is_in_the_html_and_the_verdict_is_explained(name: str) -> None:
    shown, report = page(ALL[name]).text, ALL[name].report()
    pictures = report.pictures()
    written = Report(tuple(block for block in report.blocks if block not in pictures))
    found = set(text.render(written).split())
    assert found - set(shown.split()) == set()
    explained = {
        "QUIET": "steady: a rerun should be within 4 %",
        "NOISY": "unsteady: a rerun may differ by more than 8 %",
        "INVALID": "not the time of the work that the code describes",
        "ONCE": "a single sample: the spread is unknown",
        "RECOMPILES": "compiles in every call: no steady state",
    }
    assert explained[ALL[name].verdict] in shown


INJECTED = "<img src=x onerror=1>"


def test_all_of_the_users_text_is_escaped() -> None:
    place = Placement(INJECTED, INJECTED, 1, INJECTED, (1,), (INJECTED,), 4)
    operation = Operation(INJECTED, 1, 0.001)
    seen = dataclasses.replace(
        SEEN, framework=INJECTED, devices={INJECTED: 0.01}, operations=(operation,)
    )
    hostile = dataclasses.replace(
        FULL,
        device=DeviceTime((seen,), {INJECTED: INJECTED}, listed=True),
        code=INJECTED,
        frameworks={INJECTED: INJECTED},
        phases={INJECTED: 0.001, INJECTED + "2": None},
        inputs=(place,),
        outputs=(place,),
        notes=(Note(INJECTED, INJECTED, INJECTED, INJECTED),) * 5,
    )
    parsed = page(hostile)
    assert_survives(parsed)
    images = [attributes["src"] for tag, attributes in parsed.tags if tag == "img"]
    assert all(image.startswith("data:") for image in images)
    # The title, two names and types and devices, two versions, two phases, five notes of two with
    # three advices, a profiler and a device, a reason, a caption and an operation.
    assert parsed.text.count(INJECTED) == 1 + 2 * 3 + 2 + 2 + 5 * 2 + 3 + 2 + 2 + 2


def test_what_turns_text_around_is_written_out() -> None:
    turned = "user\u202enimda\x07"
    hostile = dataclasses.replace(
        FULL, code=turned, frameworks={turned: turned}, notes=(Note("a", turned, turned),)
    )
    shown = html.render(hostile.report())
    assert not re.search("[\u202e\x07]", shown)
    assert page(hostile).text.count(r"user\u202enimda\x07") == 1 + 2 + 2


def test_three_notes_are_open_and_the_rest_fold() -> None:
    parsed = page(FULL)
    report = FULL.report()
    ordered = [note.text for block in report.blocks for note in getattr(block, "notes", ())]
    assert len(ordered) == 5
    assert [text in parsed.folded for text in ordered] == [False, False, False, True, True]
    assert "2 more" in parsed.folded
    few = dataclasses.replace(FULL, notes=FULL.notes[:3])
    assert [tag for tag, _ in page(few).tags].count("details") == 1  # the samples


def test_a_table_folds_and_its_numbers_stand_to_the_right() -> None:
    parsed = page(PROFILED)
    shown = "jax: operations of one call operation runs self time share <dot>"
    assert " ".join(parsed.folded.split()).startswith(shown)
    cells = [a["style"] or "" for tag, a in parsed.tags if tag in ("td", "th")]
    sides = [side for style in cells for side in ("left", "right") if f"text-align:{side}" in style]
    assert sides[-8:] == ["left", "right", "right", "right"] * 2


def test_a_table_is_for_those_who_want_the_details_unless_it_says_otherwise() -> None:
    head, rows = ("name", "n"), (("a", "1"),)
    assert "a 1" in " ".join(Page(source(Table("times", head, rows))).folded.split())
    assert Page(source(Table("times", head, rows, folded=False))).folded == ""
    details = Details("3 calls", (Facts((("waited", "6 ms"),)),), printed=False)
    assert Page(source(details)).folded.split() == ["3", "calls", "waited", "6", "ms"]


def test_a_report_is_small() -> None:
    assert len(html.render(FULL.report()).encode()) < 5000


def source(block: Block) -> str:
    return html.render(Report((block,)))


def test_a_picture_is_an_image_with_words() -> None:
    block = BLOCKS["Bars"]
    assert isinstance(block, Bars)
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


@pytest.mark.parametrize(
    ("letters", "parts"), [(24, [24]), (25, [24, 1]), (48, [24, 24]), (60, [24, 24, 12])]
)
def test_a_long_word_may_be_broken(letters: int, parts: list[int]) -> None:
    shown = "<wbr>".join("x" * part for part in parts)
    assert f">{shown}</td>" in source(Facts((("a", "x" * letters),)))


@pytest.mark.parametrize(("letters", "is_whole"), [(14, True), (15, False)])
def test_a_short_label_stays_on_one_line(letters: int, *, is_whole: bool) -> None:
    assert ("white-space:nowrap" in source(Facts((("x" * letters, ""),)))) is is_whole


PAD = "Pad `x <y>` with `jnp.pad`."


@pytest.mark.parametrize(
    "block", [Facts((("fix", PAD),)), Notes((Note("a", PAD),)), Notes((Note("a", "", PAD),))]
)
def test_code_in_words_looks_like_code(block: Block) -> None:
    assert "Pad <code>x &lt;y&gt;</code> with <code>jnp.pad</code>." in source(block)
    assert ">5` long</td>" in source(Facts((("a", "5` long"),)))
