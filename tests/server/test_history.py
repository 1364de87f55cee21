"""``api/history``: filters, order, pages, files, and what an answer that has not changed costs."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from ipyjaxbench.frameworks import Placement
from ipyjaxbench.records import Location
from tests.server.conftest import NOW, Keep

JAX = {"jax": "0.10.2"}


@pytest.fixture
def _some(keep: Keep) -> None:
    keep(1e-3, "alpha", days=3, frameworks=JAX, code="a(x)")
    keep(2e-3, "alpha", days=2, frameworks=JAX, code="a(x)")
    keep(5e-3, days=1, code="beta(x)", where=Location("/p", "/p/b.ipynb", "c", 1))


@pytest.mark.usefixtures("_some")
async def test_it_tells_what_was_measured_newest_first_against_the_run_before(ask: Any) -> None:
    found = await ask("history")
    beta, second, first = measured = found["measured"]
    assert [m["name"] for m in measured] == ["beta(x)", "alpha", "alpha"]
    assert [round(m["median"], 6) for m in measured] == [5e-3, 2e-3, 1e-3]
    assert (found["found"], found["kept"], found["message"]) == (3, 3, "")
    assert second["when"] == pytest.approx(NOW - 2 * 86400)
    assert found["names"]["frameworks"] == ["jax", "python"]
    assert (beta["change"], first["change"]) == (None, None)
    assert second["change"]["verdict"] == "SLOWER"
    assert second["change"]["words"].startswith("2× slower") or "2.0" in second["change"]["words"]
    assert second["change"]["low"] < 2 < second["change"]["high"]
    assert second["trend"] == pytest.approx([1e-3, 2e-3], rel=1e-3)
    assert second["series"] == first["series"] != beta["series"]


async def test_runs_on_other_data_are_another_series_as_are_those_elsewhere(
    keep: Keep, ask: Any
) -> None:
    for rows in (10, 20):
        x = Placement("x", "jax", 1, "float32", (rows,), ("cpu:0",), 4 * rows)
        keep(rows * 1e-3, code="f(x)", inputs=(x,), days=3)
    both = (await ask("history"))["measured"]
    assert [m["change"] for m in both] == [None, None]
    assert both[0]["series"] != both[1]["series"]
    # The newest of those that match is shown, not only where it is the newest of all.
    keep(1e-3, code="g(x)", days=2, where=Location("/p", "/p/b.ipynb"))
    keep(2e-3, code="g(x)", days=1, where=Location("/p", "/p/c.ipynb"))
    (one,) = (await ask("history", newest="1", notebook="b.ipynb"))["measured"]
    assert one["median"] == pytest.approx(1e-3, rel=1e-3)


@pytest.mark.usefixtures("_some")
async def test_a_query_chooses(ask: Any) -> None:
    queries: list[tuple[dict[str, str], list[str]]] = [
        ({"text": "BETA"}, ["beta(x)"]),
        ({"text": "a(x)"}, ["beta(x)", "alpha", "alpha"]),
        ({"notebook": "b.ipynb"}, ["beta(x)"]),
        ({"framework": "jax"}, ["alpha", "alpha"]),
        ({"device": "tpu"}, []),
        ({"since": "36h"}, ["beta(x)"]),
        ({"since": "2000-01-01", "until": "2000-01-02"}, []),
        ({"since": "0001-01-01", "until": "9999-12-31"}, ["beta(x)", "alpha", "alpha"]),
        ({"since": "9999-12-31"}, []),
        ({"until": "0001-01-01"}, []),
        ({"newest": "1"}, ["beta(x)", "alpha"]),
        ({"newest": "1", "sort": "regressions"}, ["alpha", "beta(x)"]),
        ({"sort": "name"}, ["alpha", "alpha", "beta(x)"]),
        ({"sort": "time"}, ["beta(x)", "alpha", "alpha"]),
        ({"limit": "1", "offset": "1"}, ["alpha"]),
        ({"offset": "99"}, []),
    ]
    for query, names in queries:
        found = await ask("history", **query)
        assert [m["name"] for m in found["measured"]] == names, query


async def test_a_bad_query_is_one_clear_line_and_what_is_not_there_not_found(
    keep: Keep, jp_fetch: Any
) -> None:
    for name, value, words in (
        ("limit", "0", "must be a whole number from 1 to 1000"),
        ("limit", "1001", "must be a whole number from 1 to 1000"),
        ("limit", "1e9", "must be a whole number"),
        ("offset", "-1", "must be a whole number, 0 or more"),
        ("sort", "x", "must be one of newest, regressions, name, time"),
        ("since", "yesterday", "must be a date such as 2026-11-01"),
        ("until", "7d", "must be a date"),
        ("until", "9999-12-32", "must be a date"),
        ("format", "xml", "must be one of json, csv, jsonl"),
    ):
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("ipyjaxbench", "api", "history", params={name: value})
        assert refused.value.code == 400
        assert f"{name}: {words}" in json.loads(refused.value.response.body)["message"]
    keep()
    for own_id in ("nothing", "2026-11-01-1-aa.99", "..%2F..%2Fetc%2Fpasswd", "%00"):
        with pytest.raises(HTTPClientError) as missing:
            await jp_fetch("ipyjaxbench", "api", "history", own_id)
        assert missing.value.code == 404


@pytest.mark.usefixtures("_some")
async def test_what_has_not_changed_is_not_sent_again(jp_fetch: Any, keep: Keep) -> None:
    first = await jp_fetch("ipyjaxbench", "api", "history")
    known = {"If-None-Match": first.headers["Etag"]}
    with pytest.raises(HTTPClientError) as unchanged:
        await jp_fetch("ipyjaxbench", "api", "history", headers=known)
    assert unchanged.value.code == 304
    keep(1e-3, "gamma")
    again = await jp_fetch("ipyjaxbench", "api", "history", headers=known)
    assert json.loads(again.body)["kept"] == 4


@pytest.mark.usefixtures("_some")
async def test_files_hold_all_that_match_and_a_spreadsheet_runs_nothing(
    jp_fetch: Any, keep: Keep
) -> None:
    query = {"text": "alpha", "limit": "1"}
    answer = await jp_fetch("ipyjaxbench", "api", "history", params={**query, "format": "csv"})
    assert answer.headers["Content-Disposition"] == "attachment; filename=history.csv"
    rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
    assert [float(row["median_s"]) for row in rows] == pytest.approx([2e-3, 1e-3], rel=1e-3)
    answer = await jp_fetch("ipyjaxbench", "api", "history", params={**query, "format": "jsonl"})
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert [line["name"] for line in lines] == ["alpha", "alpha"]
    keep(1e-3, code="=HYPERLINK(1)")
    query = {"format": "csv", "text": "HYPER"}
    answer = await jp_fetch("ipyjaxbench", "api", "history", params=query)
    (row,) = csv.DictReader(io.StringIO(answer.body.decode()))
    assert row["code"] == "'=HYPERLINK(1)"


async def test_one_measurement_has_its_samples_and_a_picture_and_none_is_a_calm_line(
    keep: Keep, ask: Any, folder: Path
) -> None:
    folder.rmdir()
    found = await ask("history")
    assert found["measured"] == []
    assert found["message"].startswith(f"No measurements in {folder}")
    assert not folder.exists()
    folder.mkdir()
    own_id = keep(1e-3, code="f(x)\ng(x)", phases={"compile": 0.0015}, first_call=0.002)
    found = await ask("history", own_id)
    assert (len(found["samples"]), found["code"]) == (100, "f(x)\ng(x)")
    assert found["picture"].startswith("data:image/svg+xml;base64,")
    assert found["first_call"] == [
        {"phase": "compile", "seconds": 0.0015}, {"phase": "run", "seconds": pytest.approx(0.0005)}
    ]  # fmt: skip


async def test_broken_lines_are_counted_and_a_file_that_is_removed_is_gone(
    keep: Keep, ask: Any, folder: Path
) -> None:
    keep(1e-3, run="2026-11-01-1-aa")
    keep(1e-3, run="2026-11-01-2-bb")
    broken = [b"{", b'{"schema": 99}', b"\xff", b'{"when": 1e400}']
    (folder / "bad.jsonl").write_bytes(b"\n".join(broken) + b"\n")
    found = await ask("history")
    assert (found["kept"], found["unread"]) == (2, {"bad.jsonl": 4})
    (folder / "2026-11-01-1-aa.jsonl").unlink()
    assert (await ask("history"))["kept"] == 1


async def test_arms_of_one_label_are_runs_of_one_code_where_their_code_is_the_same(
    folder: Path, keep: Keep, ask: Any
) -> None:
    for days, code in ((3, "f(x)"), (2, "g(x)"), (1, "f(x)")):
        keep(1e-3, "a", code=code, days=days)
    (last,) = (await ask("history", newest="1"))["measured"]  # a name that was given
    assert last["change"]["words"].endswith(", edited code")
    (path,) = folder.glob("*.jsonl")
    path.write_text(path.read_text().replace('"fwtime"', '"fwcompare"'))
    found = (await ask("history"))["measured"]
    assert [each["change"] is not None for each in found] == [True, False, False]


async def test_a_figure_that_cannot_be_true_is_no_change(
    folder: Path, keep: Keep, ask: Any
) -> None:
    keep(1e-3, code="f(x)", days=2)
    for days, seconds, verdicts in (
        (1, 5e-324, {None, "CAN'T TELL"}), (3, 1e-30, {None, "CAN'T TELL"}),
        (1, 9e8, {None, "SLOWER"}), (3, 9e8, {None, "FASTER"}), (1, 1e308, {None}),
    ):  # fmt: skip
        path = folder / "2026-11-01-2-bb.jsonl"
        path.unlink(missing_ok=True)
        keep(1e-3, code="f(x)", days=days, run=path.stem)
        entry = json.loads(path.read_text())
        entry["figure"]["median"] = seconds
        path.write_text(json.dumps(entry))
        found = (await ask("history"))["measured"]
        assert len(found) == (1 if seconds > 1e9 else 2)
        assert {each["change"] and each["change"]["verdict"] for each in found} == verdicts


async def test_among_many_changes_each_has_to_be_surer(keep: Keep, ask: Any) -> None:
    for number in range(40):
        for days, seconds in ((2, 1.00e-3), (1, 1.04e-3)):
            keep(seconds, code=f"f({number})", days=days)
    many = (await ask("history", newest="1"))["measured"][0]["change"]
    one = (await ask("history", newest="1", text="f(7)"))["measured"][0]["change"]
    assert many["ratio"] == one["ratio"]
    assert many["low"] < one["low"] < one["high"] < many["high"]
