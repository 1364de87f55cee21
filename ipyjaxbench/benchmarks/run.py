"""One run of pytest: what was measured, what it is held against, and where it is kept."""

import dataclasses
import os
from functools import cached_property
from pathlib import Path

from ipyjaxbench import units
from ipyjaxbench.benchmarks.settings import LAST, Settings
from ipyjaxbench.host import Clock, revision
from ipyjaxbench.records import (
    Baseline,
    Benchmark,
    Benchmarks,
    HistoryEntry,
    HistoryOptions,
    Journal,
    Location,
    RelativeTime,
    make_entries,
    make_history_notice,
    query_history,
    write_benchmarks,
)
from ipyjaxbench.reports import to_printable
from ipyjaxbench.timing import Measurement

_MAGIC = "fwbench"
_FOR_WHAT, _OFF = (
    "--fwbench-compare last and %fwhistory",
    "IPYJAXBENCH_HISTORY=0 in the environment",
)


class Run:
    """Collects what the tests of one run measure.

    Args:
        settings: what was asked for.
        root: the folder that the names of tests begin at.

    Attributes:
        called: how many functions were called without being measured.
        among: how many tests ask for the fixture.
    """

    def __init__(self, settings: Settings, root: Path) -> None:
        self.settings = settings
        self.called = 0
        self.among = 1
        self._root = root
        self._kept: list[Benchmark] = []
        self._journal = Journal()
        self._trouble = ""

    def judge(self, test: str, measured: Measurement, relative: RelativeTime | None) -> Benchmark:
        """Return a measurement of a test, with what it is held against."""
        turn = 1 + sum(each.entry.label.partition("#")[0] == test for each in self._kept)
        label = f"{test}#{turn}" if turn > 1 else test
        entry = dataclasses.replace(
            next(
                make_entries(
                    measured,
                    label,
                    when=Clock.calendar().now() * 1e-9,
                    where=Location(str(self._root)),
                    revision=revision(str(self._root)),
                )
            ),
            magic=_MAGIC,
            relative=relative,
        )
        why = next((note.text for note in measured.notes if measured.verdict == "INVALID"), "")
        before = self._before.get(entry.name)
        base = None if before is None else Baseline.of(before, entry)
        return Benchmark(entry, why, base)

    @cached_property
    def _before(self) -> dict[str, HistoryEntry]:
        """What benchmarks are held against, by name."""
        if self.settings.base is not None:
            return {entry.name: entry for entry in self.settings.base.entries}
        if self.settings.against != LAST:
            return {}
        found = query_history(HistoryOptions(last=None), Location())
        here = str(self._root)
        mine = [e for e in found if e.magic == _MAGIC and e.where.directory == here]
        return {entry.name: entry for entry in reversed(mine)}  # the newest of a name stays

    def is_slower(self, benchmark: Benchmark) -> bool:
        """Whether a benchmark is slower for sure by more than it may be."""
        change = self.found.change(benchmark)
        limit = self.settings.limit
        return limit is not None and change is not None and change.is_slower_by(limit)

    def keep(self, benchmark: Benchmark) -> str:
        """Keep a benchmark; return why its test fails, in words, or ""."""
        self._kept.append(benchmark)
        if os.environ.get("IPYJAXBENCH_HISTORY") != "0":
            self._journal.append([benchmark.entry])
        change = self.found.change(benchmark)
        if not self.is_slower(benchmark) or change is None or change.ratio is None:
            return ""
        base, limit = change.base.figure.headline, f"{100 * (self.settings.limit or 0.0):g} %"
        return (
            f"{benchmark.entry.name} is {change.ratio.versus(self.settings.against)}:"
            f" {benchmark.entry.headline.words()}, before {base.words()};"
            f" --fwbench-fail-slower allows {limit}"
        )

    @property
    def found(self) -> Benchmarks:
        """What was measured until now."""
        return Benchmarks(
            tuple(self._kept),
            against=self.settings.against,
            limit=self.settings.limit,
            among=max(self.among, len(self._kept), 1),
        )

    def write(self) -> bool:
        """Write the file that was asked for; return whether that went well."""
        try:
            if self.settings.json:
                write_benchmarks(self.settings.json, self.found)
        except OSError as error:
            self._trouble = f"{self.settings.json} was not written: {error.strerror}"
        return not self._trouble

    def summary(self) -> str:
        """Return what is shown after all tests; empty where nothing was asked for."""
        lines = []
        if self._kept:
            lines.append(str(self.found))
        if self.called:
            calls = units.count(self.called, "function")
            why = self.settings.called_only
            lines.append(f"{calls} called once and not measured {why}".rstrip())
        lines += [self._trouble] if self._trouble else []
        if self._journal.trouble:
            lines.append(f"not saved in the history: {self._journal.trouble}")
        elif self._journal.run and (notice := make_history_notice(_FOR_WHAT, _OFF)):
            lines.append(notice)
        return to_printable("\n".join(lines))

    def close(self) -> None:
        """Close the file of the history."""
        self._journal.close()
