"""What keeping a history costs."""

import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

from ipyjaxbench.host.git import revision
from ipyjaxbench.records import store
from ipyjaxbench.records.entry import Location, make_entries
from ipyjaxbench.records.store import Journal
from ipyjaxbench.timing.measurement import Measurement
from tests.accuracy.looks import spent
from tests.accuracy.section import Column, Row, Section, reached

_SAMPLES, _ENTRIES = 2_000, 10_000
_APPEND, _READ = 100.0, 1.0  # µs and s that are wanted


def _measured() -> Measurement:
    """As many samples as two seconds of code of a millisecond give."""
    nanoseconds = [1_234_567 + i * 7919 % 9999 for i in range(_SAMPLES)]
    rounds = (20,) * (_SAMPLES // 20)
    batches = tuple((1, ns) for ns in nanoseconds)
    return Measurement("step(params, batch)", {"jax": "0.10.2"}, 0.1, {}, 1, 1, batches, rounds)


def _keep(journal: Journal, m: Measurement, when: float) -> None:
    """All that a magic does for it."""
    here = os.getcwd()
    where = Location(here, "work/a.ipynb", "cell-1")
    journal.append(make_entries(m, "step", when=when, where=where, revision=revision(here)))


def _round(m: Measurement, place: str) -> Row:
    """One file that is filled and read."""
    journal = Journal()
    first = spent(lambda: _keep(journal, m, 0.0))[1]
    half = _ENTRIES // 2
    wholes = [spent(lambda: _keep(journal, m, 1.0))[1] for _ in range(half)]
    ready = list(make_entries(m, "step", when=2.0, where=Location(), revision=""))
    appends = [spent(lambda: journal.append(ready))[1] for _ in range(_ENTRIES - 1 - half)]
    read = spent(store.read_store)[1]
    journal.close()
    return {
        "append": statistics.median(appends) * 1e6,
        "whole": statistics.median(wholes) * 1e6,
        "first": first * 1e3,
        "read": read,
        "size": sum(path.stat().st_size for path in Path(place).rglob("*.jsonl")) / _ENTRIES,
    }


def measure(group: str, rounds: int) -> Iterator[Row]:
    """One row."""
    m, found = _measured(), []
    m.report()  # what a magic shows computes what is kept
    for _ in range(rounds):
        with (
            tempfile.TemporaryDirectory() as place,
            mock.patch.dict(os.environ, {"JUPYTER_DATA_DIR": place}),
        ):
            found.append(_round(m, place))
    yield {
        "group": group,
        "name": f"{_ENTRIES:,} entries",
        **{name: statistics.median(each[name] for each in found) for name in found[0]},
    }


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield f"Appending: under {_APPEND:.0f} µs wanted, {reached(row['append'] < _APPEND)}."
        yield f"Reading {_ENTRIES:,}: under {_READ:.0f} s wanted, {reached(row['read'] < _READ)}."


HISTORY = Section(
    name="history",
    title="What does keeping a history cost?",
    method=f"A measurement of {_SAMPLES:,} samples, of which 120 are kept, {_ENTRIES:,} times in"
    " one file. Medians.",
    columns=(
        Column("append, µs", 10, "encoded and written", "{append:.1f}"),
        Column("in all, µs", 10, "with Git's revision and what is kept of it", "{whole:.1f}"),
        Column("first, ms", 9, "with making the file", "{first:.1f}"),
        Column("read all, s", 11, "and checked", "{read:.2f}"),
        Column("bytes each", 10, "in the file", "{size:,.0f}"),
    ),
    summary=_summary,
    measure=measure,
    groups=("python",),
)  # fmt: skip
