"""Reports in a narrow terminal, and in one without Unicode: every kind of block."""

import pytest

from ipyjaxbench.reports import monospace, text
from ipyjaxbench.reports.blocks import Block, Calls, Facts, Headline, Report, Table
from ipyjaxbench.reports.pictures import Bar, Bars, Flow, Flows, Segment, Stack
from tests.reports.test_text import standard_output as output
from tests.samples import BLOCKS

WORDS = "one two three four five six seven eight nine ten µ ± → × · – … └ é"
TITLE = Headline("step(params, batch)", "2.12 ms", "per call, including the wait", "QUIET", "")
WIDE = Table("", ("name", *"abcd"), (("x" * 40, *(["123,456 per call"] * 4)),))
TRIED = BLOCKS | {"title": TITLE, "wide table": WIDE}


@pytest.mark.parametrize("columns", [30, 59, 60])
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
    wide = render(monkeypatch, 80).split()
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


LETTERS = "行列の積を計算する関数🚀e\u0301" * 3
PREFIX = "train_step_of_the_encoder_with_attention"
HOSTILE = (LETTERS, "\u202eabc" * 20, "x" * 3000, "<script>\"'&\n</script>", "\u0301" * 50, "")
FIGURE = "2.12 ms · 3.8× faster"


def block_of_names(names: tuple[str, ...]) -> list[Block]:
    return [
        Bars(tuple(Bar(name, 1e-3, 9e-4, 2e-3, "2.12 ms", "3.8× faster") for name in names)),
        Stack(tuple((name, (Segment("run", 1e-3),), "2.12 ms") for name in names)),
        Flows(tuple(Flow(name, "gpu:0", 1000, "1000 B") for name in names)),
        Table("", ("name", "per call"), tuple((name, "2.12 ms") for name in names), folded=False),
        Calls(("name", "time", "why"), tuple((name, "2.12 ms", "because") for name in names)),
        Facts(tuple(("name", name) for name in names)),
    ]


@pytest.mark.parametrize("columns", [30, 59, 60, 110])
@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:12])
def test_no_name_cuts_off_a_unit_or_leaves_the_page(
    monkeypatch: pytest.MonkeyPatch, name: str, columns: int
) -> None:
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setenv("COLUMNS", str(columns))
    for block in block_of_names((name, "jax")):
        shown = text.render(Report((block,))).splitlines()
        assert max(map(monospace.width, shown)) <= columns
        ends = {Bars: FIGURE, Stack: "2.12 ms", Table: "2.12 ms", Flows: "1000 B"}
        if end := ends.get(type(block)):
            assert sum(line.endswith(end) for line in shown) == 2


@pytest.mark.parametrize("columns", [40, 80])
def test_names_that_share_a_beginning_stay_distinct(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setenv("COLUMNS", str(columns))
    names = tuple(f"{PREFIX}_{n}_of_the_model_in_training" for n in range(3))
    for block in block_of_names(names)[:2]:
        shown = text.render(Report((block,))).splitlines()
        starts = [line.split()[0] for line in shown if "…" in line.split()[0]]
        assert len({*starts}) == 3


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:12])
def test_a_text_is_never_wider_than_it_may_be(name: str) -> None:
    for most in range(1, 40):
        assert monospace.width(monospace.shorten(name, most)) <= most
        assert monospace.width(monospace.cut(name, most)) <= most
    for most in range(5, 40):
        assert max(map(monospace.width, monospace.shorten_all([name, name + "b"], most))) <= most
