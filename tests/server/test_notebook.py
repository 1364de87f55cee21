"""``api/notebook``: the cells of a notebook, what they measured, and what it is compared with."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from ipyjaxbench.comparison import ArmResult, Comparison
from ipyjaxbench.records import Location
from ipyjaxbench.server import contents
from tests.results import measured
from tests.server.conftest import Keep, write_notebook

FIRST, SECOND = "2026-11-01-1-aa", "2026-11-02-2-bb"


@pytest.fixture
def path(jp_root_dir: Path) -> Path:
    path = jp_root_dir / "work" / "a b.ipynb"
    write_notebook(path, ("one", "%fwtime f(x)"), ("two", "y = 1"), ("three", "%fwtime g(x)"))
    return path


def here(path: Path, cell: str, execution: int) -> Location:
    return Location(str(path.parent), str(path), cell, execution)


def compared(arms: dict[str, int]) -> Comparison:
    """Arms of these nanoseconds per call."""
    sides = (ArmResult(label, measured([ns] * 100)) for label, ns in arms.items())
    return Comparison(tuple(sides), next(iter(arms)))


async def get(ask: Any, **query: str) -> Any:
    return await ask("notebook", "work", "a b.ipynb", **query)


async def test_cells_come_in_the_order_of_the_notebook(path: Path, keep: Keep, ask: Any) -> None:
    keep(2e-3, code="g(x)", where=here(path, "three", 4), days=2)
    keep(1e-3, code="f(x)", where=here(path, "one", 5), days=1)
    keep(1e-3, code="h(x)", where=here(path, "new", 7))
    found = await get(ask)
    assert [(c["cell"], c["number"], c["line"]) for c in found["cells"]] == [
        ("one", 1, "%fwtime f(x)"),
        ("three", 3, "%fwtime g(x)"),
        ("new", 0, "h(x)"),  # the notebook is not saved yet
    ]
    assert (found["message"], found["path"]) == ("", "work/a b.ipynb")


async def test_the_last_execution_is_held_against_the_one_before(
    path: Path, keep: Keep, ask: Any
) -> None:
    keep(1e-3, code="f(x)", where=here(path, "one", 1), days=3)
    keep(2e-3, code="f(x)", where=here(path, "one", 2), days=2)
    keep(1e-3, code="f(x, 2)", where=here(path, "one", 3), days=1)  # the cell was edited
    (cell,) = (await get(ask))["cells"]
    (now,) = cell["measured"]
    assert now["line"] == "f(x, 2)"
    assert now["change"]["verdict"] == "FASTER"
    assert now["trend"] == pytest.approx([1e-3, 2e-3, 1e-3], rel=1e-3)


async def test_each_magic_and_arm_of_a_cell_is_a_figure(path: Path, keep: Keep, ask: Any) -> None:
    for execution, factor in ((1, 1), (2, 2)):
        keep(1e-3 * factor, code="f(x)", where=here(path, "one", execution), days=3 - execution)
        keep(9e-3, code="g(x)", where=here(path, "one", execution), days=2.999 - execution)
    keep(result=compared({"a": 1000, "b": 2000}), where=here(path, "three", 3), days=0.8)
    keep(result=compared({"a": 1000, "c": 3000}), where=here(path, "three", 4), days=0.7)
    one, three = ([*cell["measured"]] for cell in (await get(ask))["cells"])
    assert [m["line"] for m in one] == ["f(x)", "g(x)"]
    assert one[0]["change"]["verdict"] == "SLOWER"
    assert one[1]["change"]["ratio"] == pytest.approx(1)
    assert [m["name"] for m in three] == ["a", "c"]  # b is gone
    assert three[0]["change"]["ratio"] == pytest.approx(1)
    assert three[1]["change"] is None


async def test_a_run_is_a_baseline_for_all(path: Path, keep: Keep, ask: Any) -> None:
    for days, run, seconds in ((3, FIRST, 1e-3), (2, SECOND, 4e-3), (1, SECOND, 4e-3)):
        keep(seconds, code="f(x)", where=here(path, "one", int(9 - days)), days=days, run=run)
    plain, pinned = await get(ask), await get(ask, baseline=f"{FIRST}@1")
    assert plain["cells"][0]["measured"][0]["change"]["ratio"] == pytest.approx(1)
    assert pinned["cells"][0]["measured"][0]["change"]["verdict"] == "SLOWER"
    assert pinned["baseline"] == f"{FIRST}@1"
    runs = [(run["run"], run["count"]) for run in plain["runs"]]
    assert runs == [(f"{SECOND}@2", 1), (f"{SECOND}@1", 1), (f"{FIRST}@1", 1)]
    assert (await get(ask, baseline="none"))["baseline"] is None


async def test_a_baseline_stays_while_its_kernel_goes_on(path: Path, keep: Keep, ask: Any) -> None:
    for execution, (cell, seconds) in enumerate([("one", 1e-3), ("three", 2e-3)], 1):
        keep(seconds, code=cell, where=here(path, cell, execution), days=9 - execution)
    (run,) = {m["run"] for c in (await get(ask))["cells"] for m in c["measured"]}
    keep(4e-3, code="one", where=here(path, "one", 3), days=5)
    keep(9e-3, code="one", where=here(path, "one", 4), days=4)
    found = await get(ask, baseline=run)
    one, three = (cell["measured"][0] for cell in found["cells"])
    assert one["change"]["ratio"] == pytest.approx(9, rel=1e-3)
    assert (three["run"], three["change"]["ratio"]) == (run, pytest.approx(1))
    later = await get(ask, baseline=found["runs"][1]["run"])
    assert later["cells"][0]["measured"][0]["change"]["ratio"] == pytest.approx(9 / 4, rel=1e-3)
    # The third cell did not run again: its figure was known then, too.
    assert later["cells"][1]["measured"][0]["run"] == later["baseline"]


async def test_a_renamed_notebook_is_known_by_its_cells(path: Path, keep: Keep, ask: Any) -> None:
    keep(1e-3, where=here(path.with_name("old.ipynb"), "one", 1))
    assert len((await get(ask))["cells"]) == 1
    write_notebook(path.with_name("old.ipynb"), ("one", "%fwtime f(x)"))  # this one is a copy
    assert (await get(ask))["cells"] == []


async def test_without_a_history_what_is_saved_in_it_is_shown(
    path: Path, folder: Path, ask: Any
) -> None:
    found = await get(ask)
    assert (found["cells"], found["runs"]) == ([], [])
    assert "Run a cell with %fwtime" in found["message"]  # nothing was measured
    write_notebook(path, ("one", "%fwtime f(x)"), results={"one": measured([1000] * 100)})
    found = await get(ask)
    (cell,) = found["cells"]
    assert cell["measured"][0]["median"] == pytest.approx(1e-6)
    assert cell["measured"][0]["id"] == ""
    assert found["message"].startswith(f"No history of this notebook in {folder}")


async def test_what_may_not_be_read_is_refused(jp_root_dir: Path, jp_fetch: Any) -> None:
    write_notebook(jp_root_dir / ".hidden" / "a.ipynb", ("one", "1"))
    write_notebook(jp_root_dir.parent / "outside.ipynb", ("one", "1"))
    (jp_root_dir / "text.txt").write_text("{}")
    (jp_root_dir / "broken.ipynb").write_text("{")
    (jp_root_dir / "folder.ipynb").mkdir()
    for code, *names in (
        (404, "none.ipynb", "b" * 300 + ".ipynb", "../outside.ipynb", ".hidden/a.ipynb"),
        (400, "text.txt", "folder.ipynb"),
        (422, "broken.ipynb"),
    ):
        for name in map(str, names):
            with pytest.raises(HTTPClientError) as refused:
                await jp_fetch("ipyjaxbench", "api", "notebook", *name.split("/"))
            assert (name, refused.value.code) == (name, code)


@pytest.fixture
def _small(jp_server_config: dict[str, Any]) -> None:
    jp_server_config["IpyJaxBenchServer"] = {"max_notebook": 1000, "max_cells": 2}


@pytest.mark.usefixtures("_small")
async def test_a_notebook_that_is_too_large_is_not_read(jp_root_dir: Path, jp_fetch: Any) -> None:
    write_notebook(jp_root_dir / "large.ipynb", ("one", "1" * 2000))
    write_notebook(jp_root_dir / "cells.ipynb", *((str(number), "1") for number in range(3)))
    for name, reason in (("large", "bytes: more than 1,000"), ("cells", "3 cells: more than 2")):
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("ipyjaxbench", "api", "notebook", f"{name}.ipynb")
        assert refused.value.code == 413
        assert reason in json.loads(refused.value.response.body)["message"]


async def test_a_notebook_that_cannot_be_opened_is_refused(
    jp_root_dir: Path, jp_fetch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_notebook(jp_root_dir / "there.ipynb", ("one", "1"))
    monkeypatch.setattr(contents, "file_path", lambda *_: str(jp_root_dir / "gone.ipynb"))
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch("ipyjaxbench", "api", "notebook", "there.ipynb")
    assert refused.value.code == 404
    said = json.loads(refused.value.response.body)["message"]
    assert said == "there.ipynb cannot be read: No such file or directory"


async def test_forged_records_are_left_out(path: Path, ask: Any) -> None:
    cells = [(name, "%fwtime f(x)") for name in ("one", "two", "three")]
    write_notebook(path, *cells, results={"one": measured([1000] * 100)})
    notebook = json.loads(path.read_text())
    (good,) = notebook["cells"][0]["outputs"]
    (mime,) = (m for m in good["data"] if "ipyjaxbench" in m)
    negative, named = copy.deepcopy(good), copy.deepcopy(good)
    negative["data"][mime]["facts"]["first_call"] = -1
    named["data"][mime]["facts"]["code"] = "<script>alert(1)</script>"
    outputs = ([negative, named, *[{"data": {mime: 1}}] * 900], [{"data": 3}, good], [good])
    for cell, each in zip(notebook["cells"], outputs, strict=True):
        cell["outputs"] = each
    text = json.dumps(notebook)
    start = text.rindex('"first_call": 0.002')  # of the third cell
    path.write_text(text[:start] + text[start:].replace("0.002", "1e400", 1))
    (cell,) = (await get(ask))["cells"]
    # What is left is a whole record, whose code is text.
    assert cell["cell"] == "one"
    assert [each["name"] for each in cell["measured"]] == ["<script>alert(1)</script>"]


async def test_two_saved_notebooks_or_measurements_are_compared(
    jp_root_dir: Path, keep: Keep, ask: Any
) -> None:
    for name, ns in (("a.ipynb", 1000), ("b.ipynb", 3000)):
        write_notebook(jp_root_dir / name, ("one", "%fwtime f(x)"),
                       results={"one": measured([ns] * 100)})  # fmt: skip
    (pair,) = (await ask("compare", before="a.ipynb", after="b.ipynb"))["pairs"]
    assert (pair["name"], pair["change"]["verdict"]) == ("f(x)", "SLOWER")
    before = keep(1e-3, code="f(x)", frameworks={"jax": "0.9"}, revision="a" * 40)
    after = keep(2e-3, code="g(x)", frameworks={"jax": "0.10"}, revision="b" * 40)
    found = await ask("compare", before=before, after=after)
    assert found["differs"] == ["jax 0.9 → 0.10", "git aaaaaaa → bbbbbbb"]
    assert found["pairs"][0]["change"]["verdict"] == "SLOWER"
    assert found["pairs"][0]["edited"]


@pytest.fixture
def _few(jp_server_config: dict[str, Any]) -> None:
    jp_server_config["IpyJaxBenchServer"] = {"max_records": 4}


@pytest.mark.usefixtures("_few")
async def test_an_answer_reads_so_many_results(jp_root_dir: Path, ask: Any) -> None:
    """Alone, or as many of each of two notebooks."""
    cells = [(name, f"%fwtime {name}(x)") for name in "abcdef"]
    results = {name: measured([1000] * 100, code=f"{name}(x)") for name, _ in cells}
    for path in ("one.ipynb", "two.ipynb"):
        write_notebook(jp_root_dir / path, *cells, results=results)
    assert len((await ask("notebook", "one.ipynb"))["cells"]) == 4
    both = await ask("compare", before="one.ipynb", after="two.ipynb")
    assert [pair["name"] for pair in both["pairs"]] == ["a(x)", "b(x)"]


async def test_what_cannot_be_compared_is_refused(jp_root_dir: Path, jp_fetch: Any) -> None:
    write_notebook(jp_root_dir / "50%.ipynb", ("one", "1"))
    for before, after, code in (
        ("", "", 400), ("x", "", 400), ("x", "y", 404), ("a.ipynb", "y", 404),
        ("a.ipynb", "b.ipynb", 404), ("50%.ipynb", "50%.ipynb", 422),
    ):  # fmt: skip
        query = {n: v for n, v in (("before", before), ("after", after)) if v}
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("ipyjaxbench", "api", "compare", params=query)
        assert refused.value.code == code, query
    message = json.loads(refused.value.response.body)["message"]
    assert "50%.ipynb" in message  # per cent signs are sent as they are
    assert "%fwtime or %%fwcompare" in message
