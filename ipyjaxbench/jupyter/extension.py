"""What is entered into a shell's registries, and taken out of them again."""

from collections.abc import Iterator

from ipyjaxbench.jupyter.completer import Completer
from ipyjaxbench.jupyter.display import show
from ipyjaxbench.jupyter.magics import FrameworkMagics
from ipyjaxbench.jupyter.session import Session


class Extension:
    """The magics in one shell, while they are loaded.

    Args:
        session: what they share.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._manager = session.shell.magics_manager
        self._magics = {kind: dict(named) for kind, named in self._manager.magics.items()}
        self._registry = dict(self._manager.registry)
        self._completer = Completer(session)
        self._mine = FrameworkMagics(session)

    def enter(self) -> None:
        """Register all, and say whose magics that replaces."""
        session = self._session
        session.shell.configurables.append(session.settings)
        session.shell.register_magics(self._mine)
        session.watcher.enter()
        session.awaiter.enter()
        session.last_error.enter()
        self._completer.enter()
        self._tell_replaced()

    def leave(self) -> None:
        """Take all out: what others had entered before comes back, what they have since stays."""
        session = self._session
        for kind, name in self._registered():
            _restore(self._manager.magics[kind], name, self._magics[kind])
        for name, verb in list(self._manager.registry.items()):
            if verb is self._mine:
                _restore(self._manager.registry, name, self._registry)
        mine = (session.settings, self._mine)
        session.shell.configurables[:] = [
            each for each in session.shell.configurables if each not in mine
        ]
        session.watcher.leave()
        session.awaiter.leave()
        session.last_error.leave()
        session.journal.close()
        self._completer.leave()

    def _registered(self) -> Iterator[tuple[str, str]]:
        """Kinds and names of magics that are registered and ours."""
        for kind, names in self._mine.magics.items():
            named = self._manager.magics[kind]
            for name in names:
                if getattr(named.get(name), "__self__", None) is self._mine:
                    yield kind, name

    def _tell_replaced(self) -> None:
        """One line for magics of others that have the same name."""
        others = {
            name: before.__module__
            for kind, name in self._registered()
            if (before := self._magics[kind].get(name)) is not None
        }
        if others:
            told = ", ".join(f"%{name} of {module}" for name, module in others.items())
            line = f"ipyjaxbench takes the place of {told} until %unload_ext ipyjaxbench"
            show({"text/plain": line}, raw=True)


def _restore(named: dict[str, object], name: str, before: dict[str, object]) -> None:
    if name in before:
        named[name] = before[name]
    else:
        del named[name]
