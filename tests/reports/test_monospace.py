"""Text by the cells that it takes in a terminal."""

import pytest

from ipyjaxbench.reports import monospace, text
from ipyjaxbench.reports.blocks import Block, Calls, Facts, Report, Table
from ipyjaxbench.reports.pictures import Bar, Bars, Flow, Flows, Segment, Stack

WIDE = "行列の積を計算する関数🚀e\u0301" * 3
PREFIX = "train_step_of_the_encoder_with_attention"
HOSTILE = (WIDE, "\u202eabc" * 20, "x" * 3000, "<script>\"'&\n</script>", "\u0301" * 50, "")
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


@pytest.mark.parametrize("columns", [30, 40, 59, 60, 80, 110])
@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:12])
def test_no_name_cuts_off_a_unit_or_leaves_the_page(
    monkeypatch: pytest.MonkeyPatch, name: str, columns: int
) -> None:
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setenv("COLUMNS", str(columns))
    for block in block_of_names((name, "jax")):
        shown = text.render(Report((block,))).splitlines()
        assert max(map(monospace.width, shown)) <= columns
        if isinstance(block, Bars):
            assert sum(line.endswith(FIGURE) for line in shown) == 2
        elif isinstance(block, Stack | Table):
            assert sum(line.endswith("2.12 ms") for line in shown) == 2
        elif isinstance(block, Flows):
            assert sum(line.endswith("1000 B") for line in shown) == 2


@pytest.mark.parametrize("columns", [40, 80, 110])
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
