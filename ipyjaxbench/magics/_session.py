"""What the magics of one shell share."""

from dataclasses import dataclass, field

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.graph import Graph
from ipyjaxbench.magics._await import Awaiter
from ipyjaxbench.magics._settings import IpyJaxBench
from ipyjaxbench.magics._watcher import Watcher
from ipyjaxbench.measurement import Measurement


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

    @property
    def records_history(self) -> bool:
        """Whether measurements are kept in the history."""
        history: bool = self.settings.history
        return history

    @classmethod
    def of(cls, shell: InteractiveShell) -> "Session":
        """A new one for a shell, with what its configuration says."""
        settings, watcher = IpyJaxBench(config=shell.config), Watcher(shell)
        watcher.switch(on=settings.watch)
        settings.observe(lambda change: watcher.switch(on=change["new"]), "watch")
        return cls(shell, settings, watcher, Awaiter(shell))
