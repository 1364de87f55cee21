"""What the magics of one shell share."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.clock import Clock
from ipyjaxbench.magics._await import Awaiter
from ipyjaxbench.magics._settings import IpyJaxBench
from ipyjaxbench.magics._watcher import Watcher
from ipyjaxbench.magics._where import where

if TYPE_CHECKING:
    from ipyjaxbench.graphs import Graph
    from ipyjaxbench.history_files import Journal
    from ipyjaxbench.measurement import Measurement
    from ipyjaxbench.result import Result


@dataclass(frozen=True)
class Session:
    """What the magics of one shell share; it outlives unloading and loading again.

    Attributes:
        shell: where they are typed.
        settings: what the user configured.
        watcher: tells of traces below cells.
        awaiter: puts ``await`` before magics.
        kept: measurements by the name under which they were kept.
        looked_at: programs by what was looked at, and in which form.
    """

    shell: InteractiveShell
    settings: IpyJaxBench
    watcher: Watcher
    awaiter: Awaiter
    kept: dict[str, Measurement] = field(default_factory=dict)
    looked_at: dict[tuple[str, str], Graph] = field(default_factory=dict)

    @cached_property
    def journal(self) -> Journal:
        """Keeps measurements beside the notebook."""
        from ipyjaxbench.history_files import Journal

        return Journal()

    @property
    def records_history(self) -> bool:
        """Whether measurements are kept in the history."""
        history: bool = self.settings.history
        return history and os.environ.get("IPYJAXBENCH_HISTORY") != "0"

    @classmethod
    def of(cls, shell: InteractiveShell) -> Session:
        """A new one for a shell, with what its configuration says."""
        settings, watcher = IpyJaxBench(config=shell.config), Watcher(shell)
        if settings.watch:
            watcher.switch(on=True)
        settings.observe(lambda change: watcher.switch(on=change["new"]), "watch")
        return cls(shell, settings, watcher, Awaiter(shell))

    def keep(self, result: Result, name: str = "") -> None:
        """Keep what was measured: under its name in this session, and in the history.

        Args:
            result: of a magic.
            name: that it was given; empty for none.
        """
        from ipyjaxbench.measurement import Measurement
        from ipyjaxbench.past import entries
        from ipyjaxbench.revision import revision

        if name and isinstance(result, Measurement):
            self.kept[name] = result
        if not self.records_history:
            return
        try:
            here, now = where(self.shell), Clock.calendar().now() * 1e-9
            git = revision(here.directory)
            self.journal.append(entries(result, name, when=now, where=here, revision=git))
        except Exception as error:  # noqa: BLE001  a measurement never fails because of its history
            self.journal.trouble = f"{type(error).__name__}: {error}"
