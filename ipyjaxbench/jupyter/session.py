"""What the magics of one shell share."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.jupyter.last_error import LastError
from ipyjaxbench.jupyter.settings import IpyJaxBench
from ipyjaxbench.jupyter.trace_watcher import TraceWatcher

if TYPE_CHECKING:
    from ipyjaxbench.graphs import Graph
    from ipyjaxbench.records import Journal
    from ipyjaxbench.reports import Result
    from ipyjaxbench.timing import Measurement


class Session:
    """What the magics of one shell share; it outlives unloading and loading again.

    Args:
        shell: where they are typed.

    Attributes:
        settings: what the user configured.
        watcher: says below cells what they traced.
        last_error: knows what stopped a cell last.
        measurements: those that were kept, by name.
        graphs: programs by the code that was looked at, and in which form.

    Raises:
        TraitError: what the shell's configuration says breaks a rule.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.settings = IpyJaxBench(config=shell.config)
        self.watcher = TraceWatcher()
        self.last_error = LastError()
        self.measurements: dict[str, Measurement] = {}
        self.graphs: dict[tuple[str, str], Graph] = {}
        self._just_kept: object = None
        if self.settings.watch:
            self.watcher.switch(on=True)
        self.settings.observe(lambda change: self.watcher.switch(on=change["new"]), "watch")

    @cached_property
    def journal(self) -> Journal:
        """Keeps measurements beside the notebook."""
        from ipyjaxbench.records import Journal

        return Journal()

    @property
    def records_history(self) -> bool:
        """Whether measurements are kept in the history."""
        history: bool = self.settings.history
        return history and os.environ.get("IPYJAXBENCH_HISTORY") != "0"

    def keep(self, result: Result, name: str = "") -> None:
        """Keep what was measured: under its name in this session, and in the history.

        Args:
            result: of a magic.
            name: that it was given; empty for none.
        """
        from ipyjaxbench.host import Clock, revision
        from ipyjaxbench.jupyter.location import find_location
        from ipyjaxbench.records import entries
        from ipyjaxbench.timing import Measurement

        if name and isinstance(result, Measurement):
            self.measurements[name] = result
        if not self.records_history:
            return
        try:
            here, now = find_location(self.shell), Clock.calendar().now() * 1e-9
            git = revision(here.directory)
            self.journal.append(entries(result, name, when=now, where=here, revision=git))
            self._just_kept = result
        except Exception as error:  # noqa: BLE001  a measurement never fails because of its history
            self.journal.trouble = f"{type(error).__name__}: {error}"

    def show_where_kept(self, shown: object) -> None:
        """Show below the first report of a new home where measurements are kept, and how not to."""
        if shown is self._just_kept and not self.journal.trouble:
            from ipyjaxbench.jupyter.display import show
            from ipyjaxbench.records import unsaid

            self._just_kept = None
            if words := unsaid():
                show({"text/plain": words}, raw=True)
