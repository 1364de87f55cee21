"""Past measurements are looked up by what they are, when and where they were made."""

import dataclasses
import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ipyjaxbench.records import History, HistoryOptions, Location, make_entries, query_history
from tests.results import measured

DAY = 86400.0
HERE = Location("/project", "a.ipynb", "cell-1")
NOW = time.time()


def keep(place: Path, label: str, days: float, where: Location = HERE, **facts: Any) -> None:
    """A measurement in a file of its own, as old as that."""
    m = measured([1000] * 20, **facts)
    when = NOW - days * DAY
    (entry,) = make_entries(m, label, when=when, where=where, revision="")
    path = place / f"{label}.jsonl"
    path.write_bytes(msgspec.json.encode(entry) + b"\n")
    os.utime(path, (when, when))


@pytest.fixture(autouse=True)
def _kept(place: Path) -> None:
    keep(place, "one", 1, code="Alpha(x)", frameworks={"jax": "0.10"})
    keep(place, "two", 10, dataclasses.replace(HERE, notebook="b.ipynb"), code="beta(x)")
    keep(place, "three", 100, Location("/other", "a.ipynb"), frameworks={"numpy": "2.1"})


def query(place: Location = HERE, /, **options: Any) -> list[str]:
    return [entry.label for entry in query_history(HistoryOptions(**options), place)]


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({}, ["one", "two", "three"]),
        ({"text": "T"}, ["two", "three"]),
        ({"text": "beta("}, ["two"]),
        ({"last": 2}, ["one", "two"]),
        ({"since": 2 * DAY}, ["one"]),
        ({"since": 11 * DAY}, ["one", "two"]),
        ({"framework": "jax"}, ["one"]),
        ({"here": True}, ["one", "three"]),
        ({"here": True, "since": 2 * DAY, "text": "one"}, ["one"]),
    ],
)
def test_what_is_asked_for_is_found_the_newest_first(
    options: dict[str, Any], labels: list[str]
) -> None:
    assert query(**options) == labels


def test_where_no_notebook_is_known_here_is_the_directory() -> None:
    assert query(Location("/project"), here=True) == ["one", "two"]


def test_how_many_match_and_how_many_are_kept_is_counted() -> None:
    history = query_history(HistoryOptions(since=11 * DAY, last=1), HERE, "no room")
    assert isinstance(history, History)
    assert (len(history), history.found, history.kept) == (1, 2, 3)
    assert (history.trouble, history.removed, history.plotted) == ("no room", None, False)
    assert history.now == pytest.approx(time.time(), abs=600)
    assert query_history(HistoryOptions(plot=True), HERE).plotted


def test_what_is_old_is_removed_first() -> None:
    history = query_history(HistoryOptions(prune=5 * DAY), HERE)
    assert history.removed == (2, 2)
    assert [entry.label for entry in history] == ["one"]
    assert query() == ["one"]
