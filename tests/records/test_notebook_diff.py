"""Two runs of the same notebook are held against each other."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ipyjaxbench import Comparison, RecordError, Rerun, Sweep, compare_notebooks, read_notebook
from ipyjaxbench.comparison.comparison import ArmResult
from ipyjaxbench.comparison.sweep import Point
from ipyjaxbench.host.conditions import Conditions
from ipyjaxbench.records.notebook_diff import Pair
from ipyjaxbench.reports.blocks import Headline, Table
from ipyjaxbench.timing.figure_change import Figure
from ipyjaxbench.timing.measurement import Measurement
from tests.notebook_files import cell, notebook
from tests.results import STEADY, blocks, measured, rows


def slowed(times: float, **changes: Any) -> Measurement:
    return measured([round(ns * times) for ns in STEADY], **changes)


M = slowed(1)
SLOW, FAST = slowed(1.5), slowed(0.5)


@pytest.fixture
def a(tmp_path: Path) -> Path:
    return tmp_path / "a.ipynb"


@pytest.fixture
def b(tmp_path: Path) -> Path:
    return tmp_path / "b.ipynb"


def test_it_is_the_rule_of_fwcompare_for_kept_measurements(a: Path, b: Path) -> None:
    notebook(a, cell("%fwtime f(x)", M, cell_id="one"))
    for times, word in (
        (1.5, "SLOWER"), (1.1, "SLOWER"), (1.04, "CAN'T TELL"), (1.0, "CAN'T TELL"),
        (0.97, "CAN'T TELL"), (0.5, "FASTER"),
    ):  # fmt: skip
        after = slowed(times)
        found = compare_notebooks(a, notebook(b, cell("%fwtime f(x)", after, cell_id="one")))
        compared = Comparison((ArmResult("a", M), ArmResult("b", after)), "a", interleaved=False)
        (change,) = found.changes
        assert change.verdict == word == compared.verdict("b")
        assert change.ratio == compared.ratio("b")
        assert (len(found.slower), len(found.faster)) == (word == "SLOWER", word == "FASTER")


G, EDITED = slowed(3, code="g(x)"), [slowed(times, code="f(x, 2)") for times in (1, 0.5)]
NAMED = ["%fwtime --name one f(x)", "%fwtime --name two g(x)"]
LOOP = "for n in y:\n    %fwtime --name step "


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        # Code that moved is found by what it says,
        ([cell("%fwtime f(x)", M, cell_id="0"), cell("%fwtime g(x)", G, cell_id="1")],
         [cell("x = 1", cell_id="0"), cell("%fwtime f(x)", M, cell_id="1"),
          cell("%fwtime g(x)", G, cell_id="2")],
         [("f(x)", 2, False), ("g(x)", 3, False)]),
        # that was edited by its cell, and that moved and was edited by its name.
        ([cell("%fwtime f(x)", M, cell_id="1")], [cell("%fwtime f(x, 2)", EDITED[0], cell_id="1")],
         [("f(x, 2)", 1, True)]),
        ([cell("%fwtime --name step f(x)", M, cell_id="1")],
         [cell("%fwtime --name step f(x, 2)", EDITED[0], cell_id="2")], [("step", 1, True)]),
        # In the same cell the name decides: of the first one there was no record before.
        ([cell("\n".join(NAMED), G, cell_id="1")], [cell("\n".join(NAMED), M, G, cell_id="1")],
         [("two", 1, False)]),
        ([cell("\n".join(NAMED), M, G, cell_id="1")],
         [cell("\n".join(NAMED[::-1]), G, M, cell_id="1")],
         [("two", 1, False), ("one", 1, False)]),
        # Turns under one name are paired in order where the cell moved.
        ([cell(LOOP + "f(x)", M, FAST, cell_id="1")],
         [cell(LOOP + "f(x, 2)", *EDITED, cell_id="2")], [("step", 1, True)] * 2),
    ],
)  # fmt: skip
def test_measurements_of_the_same_are_paired(
    a: Path, b: Path, before: list[Any], after: list[Any], pairs: list[tuple[str, int, bool]]
) -> None:
    found = compare_notebooks(notebook(a, *before), notebook(b, *after))
    assert [(pair.name, pair.cell, pair.edited) for pair in found.pairs] == pairs
    assert [change.ratio.value for change in found.changes if change.ratio] == [1.0] * len(pairs)
    assert ("(edited)" in str(found)) is any(edited for *_, edited in pairs)


def test_turns_of_a_loop_and_arms_and_points_are_paired_in_order(a: Path, b: Path) -> None:
    loop = "for n in y:\n    %fwtime f(x)"
    compared = Comparison(
        (ArmResult("a", M), ArmResult("b", None, "failed"), ArmResult("c", M)), "a"
    )
    again = dataclasses.replace(compared, sides=(ArmResult("a", SLOW), *compared.sides[1:]))
    swept = [Sweep(("n",), ("a", "c"), (Point(("1",), each),)) for each in (compared, again)]
    notebook(a, cell(loop, M, FAST, cell_id="1"), cell("%%fwcompare", compared), cell("", swept[0]))
    notebook(b, cell(loop, M, SLOW, cell_id="1"), cell("%%fwcompare", again), cell("", swept[1]))
    found = compare_notebooks(a, b)
    both = zip(found.pairs, found.changes, strict=True)
    ratios = [(p.name, round(c.ratio.value, 1)) for p, c in both if c.ratio]
    assert ratios == [
        ("f(x)", 1.0), ("f(x)", 3.0), ("a", 1.5), ("c", 1.0), ("a.n=1", 1.5), ("c.n=1", 1.0)
    ]  # fmt: skip


def test_what_is_shown_again_counts_once(a: Path, b: Path) -> None:
    arms = Comparison((ArmResult("a", M), ArmResult("b", SLOW)), "a")
    for path in (a, b):
        cells = cell("r = %fwtime --name f f(x)\nr", M, M), cell("c", arms), cell("c\nr", arms, M)
        notebook(path, *cells)
    assert [pair.name for pair in compare_notebooks(a, b).pairs] == ["f", "a", "b"]


def test_what_differs_around_them_is_said_first(a: Path, b: Path) -> None:
    here = Conditions(wall=1.0, cpu=1.0, cpus=4, usable=4, model="Abacus")
    there = dataclasses.replace(here, cpus=8, model="Zuse")
    one, two = ("0.9.1", here), ("0.10.2", there)
    both = [slowed(1, frameworks={"jax": v}, conditions=c) for v, c in (one, two)]
    notebook(a, cell("%fwtime f(x)", both[0]), cell("%fwtime f(x)", both[0]))
    info = {"language_info": {"version": "3.12.1"}}
    notebook(b, cell("%fwtime f(x)", both[1]), cell("%fwtime f(x)", both[1]), metadata=info)
    found = compare_notebooks(a, b)
    assert found.differs == (
        "jax 0.9.1 → 0.10.2",
        "Python 3.11.7 → 3.12.1",
        "machine 4 × Abacus → 8 × Zuse",
    )
    labels = [line.split()[0] for line in str(found).splitlines()]
    assert labels.index("changed") < labels.index("name")


def test_it_is_saved_and_read_back_with_what_has_no_partner_and_cannot_be_read(
    a: Path, b: Path, tmp_path: Path
) -> None:
    alone = [cell(f"%fwtime {code}", slowed(1, code=code)) for code in ("g(x)", "h(x)")]
    bad = cell("", {"kind": "other"})
    notebook(a, cell("%fwtime f(x)", M), alone[0], bad)
    notebook(b, cell("%fwtime f(x)", SLOW), alone[1], bad, bad)
    found = compare_notebooks(a, read_notebook(b))
    assert (found.only_before, found.only_after, found.refused) == (("g(x)",), ("h(x)",), 3)
    assert rows(found)["unreadable"] == "3 records"
    assert "a.ipynb: g(x)" in str(found)
    assert "b.ipynb: h(x)" in str(found)
    again = read_notebook(notebook(tmp_path / "c.ipynb", cell("", found)))[0].result
    assert again == found
    assert str(again) == str(found)


SOUND = Figure(1.0, 0.03, 50, "QUIET")
PAIRS = {
    "slower": Pair("f(x)", 1, SOUND, Figure(2.0, 0.03, 50, "QUIET")),
    "faster": Pair("a name that takes many letters", 12, SOUND, Figure(0.5, 0.03, 50, "OK"), True),
    "same": Pair("h(x)", 3, SOUND, SOUND),
    "once": Pair("once()", 4, SOUND, Figure(9.0, None, 0, "ONCE")),
}  # fmt: skip


@pytest.mark.parametrize(("names", "figure", "detail", "verdict"), [
    (["slower", "faster", "same", "slower"], "2 of 4 slower", "1 faster", "SLOWER"),
    (["slower", "same"], "1 of 2 slower", "", "SLOWER"),
    (["faster", "same", "once"], "1 of 3 faster", "", "FASTER"),
    (["same", "once"], "no clear change", "in 2 measurements", ""),
    ([], "nothing", "measured in both", ""),
])  # fmt: skip
def test_the_headline_counts_what_is_slower_and_faster(
    names: list[str], figure: str, detail: str, verdict: str
) -> None:
    found = Rerun("a.ipynb", "b.ipynb", tuple(PAIRS[name] for name in names))
    headline = found.report().blocks[0]
    assert isinstance(headline, Headline)
    assert (headline.title, headline.figure) == ("a.ipynb → b.ipynb", figure)
    assert (headline.detail, headline.verdict) == (detail, verdict)
    assert repr(found) == (
        f"<Rerun of {len(names)}: {names.count('slower')} slower, {names.count('faster')} faster>"
    )


def test_each_pair_is_a_row_and_a_sure_change_has_a_word() -> None:
    found = Rerun("a.ipynb", "b.ipynb", tuple(PAIRS.values()))
    (table,) = blocks(found, Table)
    assert table.head == ("name", "median before", "median after", "ratio [95 % CI]", "")
    assert [(*row[:3], row[4]) for row in table.rows] == [
        ("[1] f(x)", "1.00 s", "2.00 s", "SLOWER"),
        ("[12] a name that takes many… (edited)", "1.00 s", "500 ms", "FASTER"),
        ("[3] h(x)", "1.00 s", "1.00 s", ""),
        ("[4] once()", "1.00 s", "9.00 s", "ONCE"),
    ]
    assert [row[3].split(" ")[0] for row in table.rows] == ["2.0", "0.50", "1.00", ""]


@pytest.mark.parametrize(("count", "end"), [(8, "x7"), (9, "x7 · and 1 more")])
def test_of_very_many_differences_the_first_are_named(count: int, end: str) -> None:
    names = tuple(f"x{n}" for n in range(count))
    found = Rerun("a.ipynb", "b.ipynb", (PAIRS["same"],), names, names)
    assert rows(found)["changed"].startswith("x0 · x1 · ")
    assert rows(found)["changed"].endswith(end)
    assert rows(found)["only in"].endswith(end.replace(" · ", ", "))
    assert "verdicts" in rows(found)
    assert rows(Rerun("a", "b", (), only_after=("f(x)",))) == {"only in": "b: f(x)"}


def test_two_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    paths = []
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        paths.append(notebook(tmp_path / name / "a.ipynb", cell("%fwtime f(x)", M)))
    assert "old/a.ipynb → new/a.ipynb" in str(compare_notebooks(*paths))


@pytest.mark.parametrize("empty", ["before", "after", "both apart"])
def test_nothing_to_compare_is_one_clear_line(a: Path, b: Path, empty: str) -> None:
    some, none = cell("%fwtime f(x)", M), cell("x = 1")
    other = cell("%fwtime g(y)", slowed(1, code="g(y)"))
    notebook(a, none if empty == "before" else some)
    notebook(b, {"before": some, "after": none, "both apart": other}[empty])
    with pytest.raises(RecordError) as raised:
        compare_notebooks(a, b)
    apart = f"{a} and {b} have no measurement in common"
    assert (apart if empty == "both apart" else "holds no measurements") in str(raised.value)


def test_it_runs_as_a_module_where_output_is_ascii(a: Path, b: Path) -> None:
    paths = [notebook(a, cell("%fwtime f(x)", M)), notebook(b, cell("%fwtime f(x)", SLOW))]
    command = [sys.executable, "-X", "utf8=0", "-m", "ipyjaxbench", "diff", *map(str, paths),
               "--fail-slower"]  # fmt: skip
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "a.ipynb -> b.ipynb" in done.stdout
