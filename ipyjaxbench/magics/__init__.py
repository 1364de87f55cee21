"""The magics: parse, call, show. All that knows IPython is in this folder."""

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.magics._await import Awaiter
from ipyjaxbench.magics._session import Session
from ipyjaxbench.magics._verb import Verb
from ipyjaxbench.magics._watcher import Watcher
from ipyjaxbench.magics.compare import FwCompare
from ipyjaxbench.magics.graph import Programs
from ipyjaxbench.magics.place import FwDevices
from ipyjaxbench.magics.time import FwTime
from ipyjaxbench.magics.trace import TraceCached

_KINDS: tuple[type[Verb], ...] = (FwTime, FwCompare, Programs, TraceCached, FwDevices)


def load(shell: InteractiveShell) -> None:
    """Register the magics."""
    session = Session(shell, Watcher(shell), Awaiter(shell))
    for kind in _KINDS:
        shell.register_magics(kind(session))


def unload(shell: InteractiveShell) -> None:
    """Remove the magics, and listen to the shell's cells no longer."""
    mine = shell.magics_manager.registry.get(FwTime.__name__)
    if isinstance(mine, FwTime):
        mine.session.watcher.leave()
        mine.session.awaiter.leave()
    for each in _KINDS:
        for kind, names in each.magics.items():
            for name in names:
                shell.magics_manager.magics[kind].pop(name, None)
