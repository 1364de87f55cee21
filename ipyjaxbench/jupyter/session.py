"""What the magics of one shell share."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.jupyter.after_cell import LastError, TraceWatcher
from ipyjaxbench.jupyter.known_notes import KnownNotes
from ipyjaxbench.jupyter.settings import IpyJaxBench

if TYPE_CHECKING:
    from ipyjaxbench.comparison import Comparison
    from ipyjaxbench.graphs import Graph
    from ipyjaxbench.records import Heartbeat, Journal, Location
    from ipyjaxbench.reports import Result
    from ipyjaxbench.timing import Measurement


_ADVISED_ONCE = ("needs-longer",)  # codes of notes whose advice a session gives once
_TOLD_ONCE = ("warm-cpu-cache",)  # codes of notes that a session gives once
_NO_PROGRAMS: Mapping[str, str] = MappingProxyType({})


class Session:
    """What the magics of one shell share; it outlives unloading and loading again.

    Attributes:
        settings: what the user configured.
        cells: the execution number of each cell, by the file name that its code has.
        watcher: shows below cells what they traced.
        last_error: of the cells.
        measurements: those that were kept, by name; arms of others by their labels.
        programs: digests of their compiled programs, by the same names.
        interleaved: for each of them that is an arm, the comparison that it is of, and its label.
        warned_renames: magic, old and new name of each renamed option that a warning was shown for.
        noted_ranks: magics that have said that other ranks take no part.
        known_notes: what was told of the defaults of frameworks.
        graphs: by their code and the options that make another graph of it.

    Raises:
        TraitError: what the shell's configuration says breaks a rule.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.settings = IpyJaxBench(config=shell.config)
        # From IPython 8 on.
        self.cells: Mapping[str, int] = getattr(shell.compile, "_filename_map", {})
        self.watcher = TraceWatcher(shell.user_ns, self.cells)
        self.last_error = LastError()
        self.measurements: dict[str, Measurement] = {}
        self._named: set[str] = set()  # those that were asked for
        self.programs: dict[str, dict[str, str]] = {}
        self.interleaved: dict[str, tuple[Comparison, str]] = {}
        self.warned_renames: set[tuple[str, str, str]] = set()
        self.noted_ranks: set[str] = set()
        self.known_notes = KnownNotes()
        self.graphs: dict[tuple[str, str], Graph] = {}
        self._advised: set[str] = set()
        self._just_kept: object = None
        if self.settings.watch:
            self.watcher.switch(on=True)
        self.settings.observe(lambda change: self.watcher.switch(on=change["new"]), "watch")

    @cached_property
    def journal(self) -> Journal:
        """Keeps measurements beside the notebook."""
        from ipyjaxbench.records import Journal

        return Journal()

    def close(self) -> None:
        """Close what holds a file or an error; results and settings stay."""
        self.last_error.forget()
        self.watcher.forget()
        self.known_notes.forget()
        if "journal" in vars(self):  # it was needed
            self.journal.close()

    @property
    def records_history(self) -> bool:
        """Whether measurements are kept in the history."""
        history: bool = self.settings.history
        return history and os.environ.get("IPYJAXBENCH_HISTORY") != "0"

    @property
    def location(self) -> Location:
        """Where the code that runs now was typed.

        Jupyter's server passes the notebook's path in the kernel's environment, VS Code in a name,
        and JupyterLab the cell's identifier in its messages; others pass neither.
        """
        from ipyjaxbench.records import Location

        try:
            directory = os.getcwd()
        except OSError:  # it was removed
            directory = ""
        named = self.shell.user_ns.get("__vsc_ipynb_file__")
        notebook = named if isinstance(named, str) else os.environ.get("JPY_SESSION_NAME", "")
        return Location(directory, notebook, _cell_id(self.shell), self.shell.execution_count)

    def heartbeat(self, code: str) -> Heartbeat | None:
        """Return what says in a file that this code is measured; nothing without a history."""
        if not self.records_history:
            return None
        from ipyjaxbench.host import Clock
        from ipyjaxbench.records import Heartbeat
        from ipyjaxbench.usercode import first_line

        here, line = self.location, first_line(code)
        return Heartbeat(self.journal.run, here.notebook, here.cell, line, Clock.calendar())

    def keep(
        self, result: Result, name: str = "", programs: Mapping[str, str] = _NO_PROGRAMS
    ) -> None:
        """Keep what was measured: under its name in this session, and in the history.

        Texts of its compiled programs are kept with that, where there are some.
        """
        from ipyjaxbench.host import Clock, revision
        from ipyjaxbench.records import (
            find_comparisons,
            find_measurements,
            keep_programs,
            make_entries,
        )
        from ipyjaxbench.validation import kept_name

        arms = {
            kept_name(*filter(None, (name, arm.label)), **at): (compared, arm.label)
            for at, compared in find_comparisons(result)
            for arm in compared.sides
        }
        found = [*find_measurements(result, name)]
        for own_name, at, measurement in found:
            # One measurement of many ranks has the name that was asked for, whatever their number.
            kept = kept_name(own_name, **(at if len(found) > 1 else {}))
            if name:
                self._named.add(kept)
            elif not kept or kept in self._named:
                continue
            self.measurements[kept] = measurement
            self.interleaved.pop(kept, None)
            if kept in arms:
                self.interleaved[kept] = arms[kept]
        if not self.records_history:
            return
        try:
            here, now = self.location, Clock.calendar().now() * 1e-9
            git = revision(here.directory)
            digests = keep_programs(programs) if programs else {}
            if name:
                self.programs[kept_name(name)] = digests
            self.journal.append(
                make_entries(result, name, when=now, where=here, revision=git, programs=digests)
            )
            self._just_kept = result
        except Exception as error:  # noqa: BLE001  a measurement never fails because of its history
            self.journal.trouble = f"{type(error).__name__}: {error}"

    def advise_once(self, result: Measurement) -> Measurement:
        """Return a measurement without what this session has said before and holds for all reports.

        It is the advice on noise, since a machine that is never quiet is so in each report, and
        that the CPU's cache keeps data between calls, as it does in most.
        """
        notes = tuple(
            dataclasses.replace(note, advice="") if note.code in self._advised else note
            for note in result.notes
            if not (note.code in _TOLD_ONCE and note.code in self._advised)
        )
        once = (*_ADVISED_ONCE, *_TOLD_ONCE)
        self._advised |= {note.code for note in notes if note.code in once}
        return dataclasses.replace(result, notes=notes)

    def show_history_notice(self, shown: object) -> None:
        """Show below the first report of a new home where measurements are kept, and how not to."""
        if shown is self._just_kept and not self.journal.trouble:
            from ipyjaxbench.jupyter.screen import show
            from ipyjaxbench.records import make_history_notice

            self._just_kept = None
            if notice := make_history_notice():
                show({"text/plain": notice}, raw=True)


def _cell_id(shell: InteractiveShell) -> str:
    request = shell.get_parent() if getattr(shell, "kernel", None) is not None else {}
    metadata = request.get("metadata") if isinstance(request, Mapping) else None
    cell_id = metadata.get("cellId") if isinstance(metadata, Mapping) else None
    return cell_id if isinstance(cell_id, str) else ""
