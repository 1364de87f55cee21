"""Puts measurements of the past into the order of the commits at which they were made."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields

from ipyjaxbench.host import order_commits
from ipyjaxbench.records.benchmarks import has_no_figure
from ipyjaxbench.records.commits import AtCommit, CommitLine, Commits
from ipyjaxbench.records.entry import EntryHead

_FIELDS = tuple(field.name for field in fields(EntryHead))


def find_commits(entries: Sequence[EntryHead], directory: str = "") -> Commits:
    """Return the measurements by name and commit.

    Args:
        entries: measurements, newest first.
        directory: in the repository that knows the order; it is read only.

    Raises:
        RecordError: there is no Git, or no repository.
    """
    known = [entry for entry in entries if entry.environment.revision]
    order = order_commits(directory or os.getcwd(), {entry.environment.revision for entry in known})
    reached = [entry for entry in known if entry.environment.revision in order]
    by_name: dict[tuple[str, str], list[EntryHead]] = {}
    for entry in reached:
        if not has_no_figure(entry) and entry.median > 0:
            by_name.setdefault((entry.name, entry.clock), []).append(entry)
    lines = (_line(name, some, order) for (name, _), some in sorted(by_name.items()))
    return Commits(
        lines=tuple(lines),
        found=len(entries),
        without=len(entries) - len(known),
        unreachable=len(known) - len(reached),
    )


def _line(name: str, entries: Sequence[EntryHead], order: Mapping[str, str]) -> CommitLine:
    newest = entries[0].environment
    here = [entry for entry in entries if not entry.environment.elsewhere(newest)]
    points = []
    for commit, subject in order.items():
        runs = [entry for entry in here if entry.environment.revision == commit]
        if runs:
            middle = sorted(runs, key=lambda entry: entry.median)[(len(runs) - 1) // 2]
            points.append(AtCommit(commit, subject, _head(middle), len(runs)))
    return CommitLine(name, tuple(points), len(entries) - len(here))


def _head(entry: EntryHead) -> EntryHead:
    """Return an entry without its samples."""
    return EntryHead(**{name: getattr(entry, name) for name in _FIELDS})
