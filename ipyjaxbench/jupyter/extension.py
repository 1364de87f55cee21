"""What is entered into a shell's registries, and taken out of them again."""

from collections.abc import Iterator

from ipyjaxbench.jupyter.autoawait import Awaiter
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
        self._session, self._shell = session, session.shell
        self._manager = session.shell.magics_manager
        self._magics = {kind: dict(named) for kind, named in self._manager.magics.items()}
        self._registry = dict(self._manager.registry)
        self._mine = FrameworkMagics(session)
        awaiter, completer = Awaiter(session.shell, self._is_ours), Completer(session)
        self._hooks = (session.watcher, awaiter, session.last_error, completer)

    def enter(self) -> None:
        """Register all, and say whose magics that replaces."""
        self._shell.configurables.append(self._session.settings)
        self._shell.register_magics(self._mine)
        for hook in self._hooks:
            hook.enter()
        self._show_replaced()

    def leave(self) -> None:
        """Take all out: what others had entered before comes back, what they have since stays."""
        for kind, name in self._registered():
            _restore(self._manager.magics[kind], name, self._magics[kind])
        for name, verb in list(self._manager.registry.items()):
            if verb is self._mine:
                _restore(self._manager.registry, name, self._registry)
        mine = (self._session.settings, self._mine)
        self._shell.configurables[:] = [
            each for each in self._shell.configurables if each not in mine
        ]
        for hook in self._hooks:
            hook.leave()
        self._session.journal.close()

    def _is_ours(self, magic: object) -> bool:
        return getattr(magic, "__self__", None) is self._mine

    def _registered(self) -> Iterator[tuple[str, str]]:
        """Find kinds and names of magics that are registered and ours."""
        for kind, names in self._mine.magics.items():
            yield from (
                (kind, n) for n in names if self._is_ours(self._manager.magics[kind].get(n))
            )

    def _show_replaced(self) -> None:
        """Show one line for magics of others that have the same name."""
        others = {
            name: before.__module__
            for kind, name in self._registered()
            if (before := self._magics[kind].get(name)) is not None
        }
        if others:
            replaced = ", ".join(f"%{name} of {module}" for name, module in others.items())
            line = f"ipyjaxbench takes the place of {replaced} until %unload_ext ipyjaxbench"
            show({"text/plain": line}, raw=True)


def _restore(named: dict[str, object], name: str, before: dict[str, object]) -> None:
    if name in before:
        named[name] = before[name]
    else:
        del named[name]
