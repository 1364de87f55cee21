"""The benchmark of accuracy can be believed: its expressions run, its verdicts are what it says.

No figure of the benchmark is held against a bar here: that is for a machine with nothing to do.
"""

import io
import itertools
import math
import platform
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ipyjaxbench
from ipyjaxbench.frameworks import registry
from tests.accuracy import markdown, ready, text
from tests.accuracy.case import Case
from tests.accuracy.cases import GROUPS
from tests.accuracy.left import CELLS
from tests.accuracy.left.portrait import Portrait
from tests.accuracy.looks import loop
from tests.accuracy.section import Row, joined, sentences
from tests.accuracy.sections import SECTIONS, equal, left, verdicts
from tests.accuracy.sections.peers import better
from tests.accuracy.sections.precision import spread
from tests.accuracy.sections.truth import is_right

ROOT = Path(__file__).parents[1]
#: What the blog post "JAX Basics" measures, as it is typed there.
POST = {
    "jax": ("jax.numpy.dot(x, x.T)", "jax.numpy.dot(x, x.T).block_until_ready()",
            "np.array(jax.numpy.dot(x, x.T).block_until_ready())",
            "jax_dot(x).block_until_ready().device", "selu(x).block_until_ready()",
            "jax.jit(selu)(x).block_until_ready()"),
    "torch": ("torch.matmul(a, a)", "torch.matmul(a, a).cpu()"),
    "tensorflow": ("tf.matmul(a, a)", "tf.matmul(a, a).numpy()"),
}  # fmt: skip
LOOK = {"ratio": 1.5, "spent": 3.0}
TRUTH = {"truth": 1e-3, "first": False, "ours": [1.0, 1.02, 1.01], "why": "", "place": "cpu"}
#: A row of each section, as its process tells it.
ROWS: dict[str, Row] = {
    "programs": {"instructions": 14, "differ": 9, "right": 9, "wrong": 0, "twins": 3, "alike": 3},
    "traces": {"busy": 1.0, "wall": 1.002, "operations": 1.0, "inside": 1.0, "calls": 9},
    "truth": {**TRUTH, "typed": "f(x)", "spent": [0.5, 0.4, 0.6], "verdicts": ["QUIET"] * 3},
    "peers": {"peers": {"%timeit": LOOK, "%time": LOOK, "timeit": LOOK, "Timer": None}},
    "precision": {"truth": 1e-3, "ours spread": 0.01, "ours spent": 0.5, "theirs spread": 0.02,
                  "theirs spent": 2.0, "repetitions": 9},
    "coverage": {"middle": 1e-3, "runs": 21, "covered": 20, "half width": 0.01, "off": 0.005},
    "verdicts": {"name": "ours", "trials": 36, "false": 1, "found": 36},
    "equal": {"name": "16 other programs", "trials": 36, "false": 0, "found": 9},
    "turns": {"name": "jax 512", "size": 512, "alone": 1e-3, "off": 1.02, "spent": 8.9},
    "hidden": {"load": 16, "truth": 5e-3, "ours": 5.1e-3, "ratio": 1.02},
    "platform": {"typed": "f(x)", "truth": 5e-3, "ours": [1.0, 1.07, 1.06]},
    "background": {"typed": "f(x)", "truth": 5e-3, "ours": [1.0, 1.02, 1.01]},
    "noisy": {"group": "python", "name": "driver", "hides": True, "driver": True,
              "measured": 1008, "found": 900, "large": 800, "large_found": 799, "off": 1},
    "decisions": {"name": "long, dropped", "load": 16, "calls": 3, "wrong": 1, "decisions": 1002},
    "ordinary": {"typed": "f(x)", "first": False, "truth": 2e-4, "ours": [1.02], "load": 0.4,
                 "loops": [2e-4, 2.1e-4], "verdicts": ["OK"], "notes": {}},
    "benchmarks": {"group": "python", "name": "a loop, 2 other programs", "programs": 2,
                   "rounds": 3, "alarms": 0, "found": 1},
    "passes": {"sum": 356.0, "whole": 356.1, "ratio": 1.0, "low": 0.99, "high": 1.0},
    "held": {"name": "a closure", "bytes": 1_000_000, "right": 3, "let_go": 3, "rounds": 3},
    "misses": {"name": "the code", "said": "code differs", "right": 3, "rounds": 3},
    "peaks": {"name": "jax float32", "rate": 490e9, "by hand": 500e9, "ratio": 0.98,
                 "apart": 0.02, "by hand apart": 0.01, "others": 0.05, "spent": 8.4},
    "memory": {"group": "torch", "name": "standin: all kept", "truth": 80e6, "by": "counter",
               "ratio": 1.001, "results": 5.0, "expected": 5.0},
    "network": {"group": "torch", "name": "all-reduce", "ours": 0.7e9, "by hand": 0.72e9,
                "ratio": 0.98, "apart": 0.04},
    "ranks": {"group": "torch", "name": "50 ms in one rank", "wanted": "it is named",
              "found": "named in 20 of 21", "reached": False},
    "engines": {"group": "torch", "name": "Ctrl-C", "works": 36, "runs": 36, "longest": 1.25,
                "within": 10.0, "reached": True},
    "loops": {"group": "jax", "name": "slow loader", "off": 0.01, "worst": 0.02, "right": 3,
              "asked": 3, "wanted": "DATA-BOUND", "added": None},
    "claims": {"figure": 1.7, "least": 1.15, "most": math.inf},
    "overhead": {"typed": "f()", "truth": 30.0, "ours": 40.0, "extra": 10.0, "low": 1.0,
                 "high": 20.0},
    "graphs": {"equations": 10_000, "plain": 0.4, "ours": 0.36, "ratio": 0.9, "lines": 64,
               "kilobytes": 8.2},
    "watched": {"bare": 3.8, "watched": 11.6, "added": 7.8, "looking": 1.8, "seconds": 0.078,
                "lines": 4},
    "stale": {"cells": 90, "cached": 80, "stale": []},
    "left": {"as once": 9, "told": 2, "silent": 1, "untrue": 0, "failed": 0, "wrong": ["`f()`"]},
    "places": {"seconds": 0.24, "bare": 0.1, "bytes": 11_700},
    "loading": {"import": 20.0, "load": 3.0, "heavy": "none"},
    "history": {"append": 5.7, "whole": 77.0, "first": 0.6, "read": 0.24, "size": 2009},
    "live": {"without": 1.0, "with": 1.01, "ratio": 1.01, "low": 0.99, "high": 1.02},
}  # fmt: skip
#: Of some sections, a row of the page and a sentence below it.
EXPECTED = {
    "truth": ("| jax: step: `f(x)` | 1000.000 | 1.01 | 1.00-1.02 | 0.90-1.10 | ok |",
              "- 1 of 1 figures are inside of the bars."),
    "coverage": ("| jax: step | 1000.00 | 1.0% | 0.5% | 20 of 21 | 95% |",
                 "- All together 20 of 21, 95%; 80% wanted: reached."),
    "ranks": ("| torch: 50 ms in one rank | it is named | named in 20 of 21 | MISSED |",
              "- 0 of 1 targets are reached; missed: torch: 50 ms in one rank."),
    "left": ("| jax: step | 9 | 2 | 1 | 0 | 0 |",
             ("- 12 cells: 9 as after one run, 2 told, 1 changed in silence, 0 untrue, 0 of both"
              " wanted: NOT REACHED.")),
}  # fmt: skip


def one_row_each() -> dict[str, list[Row]]:
    """One row in every section, joined as the benchmark joins them."""
    rows: dict[str, list[Row]] = {}
    for name, section in SECTIONS.items():
        row = {"group": "jax", "name": "step", **ROWS.get(name, {})}
        rows[name] = [joined(row, rows[section.needs]) if section.needs else row]
    return rows


def test_there_are_forty_expressions_with_names_of_their_own() -> None:
    assert sum(map(len, GROUPS.values())) >= 40
    for cases in GROUPS.values():
        assert len({case.name for case in cases}) == len(cases)


@pytest.mark.parametrize("group", POST)
def test_every_measurement_of_the_post_is_there(group: str) -> None:
    assert set(POST[group]) <= {case.typed for case in GROUPS[group]}


@pytest.mark.parametrize("group", sorted(GROUPS.keys() - POST.keys()))
def test_every_expression_runs_as_typed_and_by_hand(group: str) -> None:
    """Those of frameworks run in the benchmark alone, which says what it had to leave out."""
    command = [sys.executable, "-m", "tests.accuracy.check", group]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [case.name for case in GROUPS[group]]


def test_there_are_cells_of_all_libraries_and_each_has_its_code() -> None:
    cells = [cell for libraries in CELLS.values() for library in libraries for cell in library]
    assert len(cells) >= 160
    assert all(compile(part, "cell", "exec") for cell in cells for part in cell[:3])


PUT_BACK = {"put-back": "Restored to the state after the first call: a, b."}


@pytest.mark.parametrize(("differ", "notes", "expected"), [
    ([], PUT_BACK, "as once"), (["b"], PUT_BACK, "untrue"), (["c"], PUT_BACK, "silent"),
    (["b"], {**PUT_BACK, "state-advanced": "'b' advanced by 6 calls."}, "told"),
    (["c"], {"state-advanced": "'c' advanced by 6 calls."}, "told"),
])  # fmt: skip
def test_a_cell_is_worth_what_its_report_tells(
    differ: list[str], notes: dict[str, str], expected: str
) -> None:
    assert left.outcome(differ, notes) == expected


def test_portraits_differ_where_anything_inside_does() -> None:
    def made(change: str) -> Any:
        held: dict[str, Any] = {"x": [1, {"a": np.zeros(3)}], "p": SimpleNamespace(n=[0])}
        held |= {"it": iter([1, 2]), "f": io.StringIO("ab"), "e": threading.Event()}
        exec(change, {}, held)
        return Portrait().draw(held)

    changes = ("", "x[1]['a'][2] = -0.0", "p.n.append(1)", "next(it)", "f.read(1)", "e.set()",
               "x[1]['a'].flags.writeable = False", "p.m = 1", "x.append(p)")  # fmt: skip
    drawn = [made(each) for each in changes]
    assert drawn[0] == made("")
    assert all(a != b for a, b in itertools.combinations(drawn, 2))


def test_waiting_by_hand_is_left_out_where_nothing_runs_on() -> None:
    case = Case("", "f(x)", "f(x); sync()")
    assert case.by_hand({}) == "f(x)"
    assert case.by_hand({"sync": print}) == "f(x); sync()"


def test_the_loop_of_the_truth_runs_every_statement_and_binds_globals() -> None:
    names: dict[str, Any] = {"seen": []}
    assert loop("y = len(seen); seen.append(y)", names)(range(3)) > 0
    assert names["seen"] == [0, 1, 2]
    assert names["y"] == 2


@pytest.mark.parametrize(
    ("row", "right"),
    [({"ours": [1.11, 1.09, 1.08]}, True), ({"ours": [1.11, 1.12, 1.08]}, False),
     ({"ours": [0.82], "truth": 9e-6}, True), ({"ours": [0.76], "first": True}, True),
     ({"ours": [0.74], "first": True}, False)],
)  # fmt: skip
def test_a_figure_is_right_between_its_bars(row: Row, right: bool) -> None:
    assert is_right({**TRUTH, **row}) is right


@pytest.mark.parametrize(
    ("ours", "theirs", "nearer"),
    [
        ([1.10, 1.08, 1.09], 1.01, True),
        ([0.90, 0.92, 0.91], 1.01, True),
        ([1.10, 1.00, 1.09], 1.01, False),  # not in every round
        ([1.04, 1.05, 1.04], 1.00, False),  # by less than 5 %
        ([1.10, 1.08, 1.09], 1.20, False),
        ([1.10, 1.08, 1.09], math.nan, False),
        ([1.10, 1.08, 1.09], 0.0, False),
    ],
)
def test_a_peer_is_nearer_by_more_than_the_noise(
    ours: list[float], theirs: float, nearer: bool
) -> None:
    row = {"ours": ours, "peers": {"timeit": {"ratio": theirs}, "Timer": None}}
    assert better(row) == (["timeit"] if nearer else [])


def test_one_outlier_does_not_change_the_spread() -> None:
    steady = [1.00, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07]
    assert spread([*steady, 50.0]) == pytest.approx(spread([*steady, 1.08]), rel=0.2)
    assert spread([f * 7 for f in steady]) == pytest.approx(spread(steady))


PEERS = """
import sys
if {alone}: sys.modules.update(torch=None)
from tests.accuracy import peer_looks
from tests.accuracy.case import Case
peer_looks.start()
case = Case("", "y = y + 1", setup="y = 0", first={first})
for peer in peer_looks.PEERS:
    look = peer_looks.look_of(peer, case, case.names())
    print(peer, "none" if look is None else "time" if look.figure > 0 else "fails")
"""


@pytest.mark.parametrize(
    ("alone", "told"),
    [
        (False, "%timeit fails\n%time time\ntimeit fails\nTimer fails\n"),
        (True, "%timeit fails\n%time time\ntimeit fails\nTimer none\n"),
    ],
)
def test_what_a_peer_cannot_time_fails_and_what_is_not_installed_is_left_out(
    alone: bool, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    command = [sys.executable, "-c", PEERS.format(alone=alone, first=False)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == told, done.stderr


def test_the_framework_that_does_nothing_is_found_and_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "_TABLE", dict(registry._TABLE))
    monkeypatch.setattr(registry, "_made", dict(registry._made))
    ready.register()
    array = ready.array()
    result = ipyjaxbench.measure_code("f()", {"f": lambda: array}, number=2, repeat=2)
    assert result.waited
    assert result.frameworks == {"ready": "1.0"}


def test_a_row_stands_under_its_heading() -> None:
    section = SECTIONS["loading"]
    (row,) = one_row_each()["loading"]
    left_out = {"group": "jax", "name": "scan", "left_out": "no reason"}
    lines = [text.heading(section), text.line(section, row), text.line(section, left_out)]
    assert "\n".join(lines).splitlines() == [
        "",
        "loading: What does loading cost?",
        "expression                         import, ms %load_ext, ms heavy modules",
        "jax: step                                20.0           3.0          none",
        "jax: scan                          left out: no reason",
    ]


def test_the_page_has_every_row_and_what_the_rows_come_to() -> None:
    page = markdown.page(one_row_each(), SECTIONS, [], 3).splitlines()
    assert [line for lines in EXPECTED.values() for line in lines if line not in page] == []
    for name, rows in one_row_each().items():
        told = [*sentences(SECTIONS[name], rows)]
        assert told, name
        assert [each for each in told if f"- {each}" not in page] == []


@pytest.mark.parametrize(
    ("ours", "loops", "verdict"),
    [
        (1.02, [2e-4, 6e-4], "ok"),
        (2.5, [2e-4, 6e-4], "by hand 200–600"),
        (4.0, [2e-4, 6e-4], "OUT"),
        (1.15, [2e-4, 2.1e-4], "OUT"),  # loops by hand agree
    ],
)
def test_a_figure_between_loops_that_disagree_is_told_apart(
    ours: float, loops: list[float], verdict: str
) -> None:
    row = {**one_row_each()["ordinary"][0], "ours": [ours], "loops": loops}
    assert text.line(SECTIONS["ordinary"], row).split("  ")[-1].strip().endswith(verdict)


def test_the_page_says_what_was_left_out_and_why_and_names_no_machine() -> None:
    page = markdown.page(one_row_each(), SECTIONS, [], 3)
    assert platform.node() not in page
    assert str(ROOT) not in page
    assert "python -m tests.accuracy --write" in page
    rows = [{"group": "jax", "name": "step", "left_out": "ValueError: no compiler"}]
    page = markdown.page({"truth": rows}, SECTIONS, ["tensorflow"], 3)
    assert "- Left out: jax: step, ValueError: no compiler.\n" in page
    assert "- Left out, since it is not installed here: tensorflow\n" in page
    assert list(sentences(SECTIONS["truth"], rows)) == []


def test_sections_that_were_not_measured_stay_on_the_page() -> None:
    old = "# Head\n\n## One\n\nfirst\n\n## Two\n\nsecond\n"
    new = "# New head\n\n## Two\n\nrenewed\n\n## Three\n\nthird\n"
    assert markdown.renewed(old, new) == (
        "# New head\n\n## One\n\nfirst\n\n## Two\n\nrenewed\n\n## Three\n\nthird\n"
    )


def test_each_rule_judges_the_same_trials_and_whole_comparisons_are_judged_beside_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module, name, value in (
        (verdicts, "_SECONDS", 0.3), (verdicts, "_PAIRS", 8), (verdicts, "_TRIALS", 1),
        (equal, "_LOADS", (0, 1)), (equal, "_TRIALS", 1), (equal, "_SECONDS", 0.1),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    judged, whole = ([*section.measure("python", 1)] for section in (verdicts, equal))
    assert [row["name"] for row in judged] == ["ours", "mean ± sd apart", "t-test"]
    assert [row["name"] for row in whole] == ["0 other programs", "1 other programs"]
    assert {row["trials"] for row in [*judged, *whole]} == {1}
