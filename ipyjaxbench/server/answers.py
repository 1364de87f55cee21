"""What the API answers: functions of plain values, each called in a thread."""

import getpass
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import IO, Any

from ipyjaxbench.ipynb import Limits, decode_apart
from ipyjaxbench.records import LiveReader, StoreIndex, to_csv, to_json_lines
from ipyjaxbench.reports import MIME, Distribution
from ipyjaxbench.server import history, machine, notebook, saved
from ipyjaxbench.server.errors import NotFoundError
from ipyjaxbench.server.live import describe_live
from ipyjaxbench.server.measured import describe_change, describe_measured
from ipyjaxbench.server.query import HistoryQuery
from ipyjaxbench.server.series import AllSeries
from ipyjaxbench.timing import gc_paused

_NO_HISTORY = (
    "No measurements in {folder}. Kernels that run elsewhere, or with another"
    " JUPYTER_DATA_DIR, save theirs there."
)
_ELSEWHERE = (
    "No history of this notebook in {folder}: these figures are those saved in it, and earlier"
    " runs are unknown."
)
_NOTHING = "Nothing is measured here yet. Run a cell with %fwtime or %%fwcompare."


class Answers:
    """Answers requests from what kernels wrote; runs nothing and writes nothing."""

    def __init__(self) -> None:
        self._index = StoreIndex()
        self._series = AllSeries({})
        self._version = ""
        self._live = LiveReader()

    def refresh(self) -> str:
        """Read what is new in the history; return its version."""
        contents = self._index.refresh()
        if contents.version != self._version:
            self._series = AllSeries(contents.heads, self._series.placed)
            self._version = contents.version
        return self._version

    def history(self, query: HistoryQuery) -> dict[str, Any]:
        """Return a page of what matches."""
        page = history.describe_page(self._series, history.find(self._series, query), query)
        folder = str(self._index.folder)
        message = "" if page["kept"] else _NO_HISTORY.format(folder=folder)
        unread = self._index.contents.unread
        return page | {"folder": folder, "owner": _owner(), "unread": unread, "message": message}

    def export(self, query: HistoryQuery) -> str:
        """Return all that match as the text of a file."""
        heads = (head for _, head in history.find(self._series, query))
        return to_csv(heads) if query.format == "csv" else to_json_lines(heads)

    def details(self, own_id: str) -> dict[str, Any]:
        """Return one measurement with its samples and their picture.

        Raises:
            NotFoundError: there is none of this id.
        """
        series = self._series
        series.head(own_id)
        entry = self._index.read(own_id)
        if entry is None:
            raise NotFoundError(f"{own_id[:80]}: no longer in its file")
        around = entry.environment
        return describe_measured(own_id, entry, series.before(own_id), series.trend(own_id)) | {
            "code": entry.code,
            "samples": entry.samples,
            "data": around.data,
            "directory": entry.where.directory,
            "cpu": around.cpu,
            "cpus": around.cpus,
            "gpus": around.gpus,
            "picture": _picture(entry.samples),
        }

    # Collecting garbage would look at each cell of a large notebook, and nobody else would run.
    @gc_paused()
    def notebook(
        self, path: str, file: IO[bytes], places: tuple[str, ...], baseline: str, limits: Limits
    ) -> dict[str, Any]:
        """Return the measured cells of a notebook.

        Raises:
            RecordError: it is not a notebook.
        """
        found = decode_apart(path, file, MIME, limits)
        cells = saved.cells_of(found)
        executions = notebook.find_cells(cells, self._series.newest_first, places)
        runs = notebook.runs_of(executions)
        pinned = next((run for run in runs if run.name == baseline), None)
        described = notebook.describe_cells(cells, executions, runs, pinned)
        message = ""
        if not described:
            described = saved.describe_saved(path, found)
            message = _ELSEWHERE.format(folder=self._index.folder) if described else _NOTHING
        return {
            "path": path,
            "cells": described,
            "runs": notebook.describe_runs(runs),
            "baseline": pinned and pinned.name,
            "message": message,
        }

    def compare(self, before: str, after: str) -> dict[str, Any]:
        """Return two measurements, one held against the other.

        Raises:
            NotFoundError: one of them does not exist.
        """
        base, now = self._series.head(before), self._series.head(after)
        described = [describe_measured(own_id, head, None, self._series.trend(own_id))
                     for own_id, head in ((before, base), (after, now))]  # fmt: skip
        pair = {
            "name": now.name,
            "before": described[0],
            "after": described[1],
            "change": describe_change(base, now),
            "edited": base.code != now.code,
        }
        differs = base.environment.differences(now.environment)
        return {"before": before, "after": after, "differs": differs, "pairs": [pair],
                "only_before": [], "only_after": []}  # fmt: skip

    @gc_paused()
    def compare_notebooks(
        self, names: tuple[str, str], files: tuple[IO[bytes], IO[bytes]], limits: Limits
    ) -> dict[str, Any]:
        """Return two saved notebooks, one held against the other.

        Raises:
            RecordError: one is not a notebook, or they have no measurement in common.
        """
        limits = limits._replace(records=limits.records and limits.records // 2)
        with ThreadPoolExecutor(len(names)) as threads:  # two large ones take no longer than one
            found = [*threads.map(decode_apart, names, files, repeat(MIME), repeat(limits))]
        return saved.describe_rerun(saved.compare_saved(names, found))

    def machine(self) -> dict[str, Any]:
        """Return the machine of the server."""
        return machine.describe(measuring=any(not live.died for live in self._live.read()))

    def live(self) -> dict[str, Any]:
        """Return what is measured now, and the version of the history."""
        return {"measuring": describe_live(self._live.read()), "version": self.refresh()}


def _owner() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user without a name, as in containers
        return ""


def _picture(samples: tuple[float, ...]) -> str:
    """Return the distribution of samples as a data URI; empty where there are too few."""
    return Distribution("spread", samples).draw().address() if len(samples) > 1 else ""
