"""What is entered into a shell's registries, and taken out of them again."""

from collections.abc import Iterator, Sequence

from ipyjaxbench.magics._completer import Completer
from ipyjaxbench.magics._display import show
from ipyjaxbench.magics._session import Session
from ipyjaxbench.magics._verb import Verb


class Extension:
    """The magics in one shell, while they are loaded.

    Args:
        session: what they share.
        kinds: the classes of magics.
    """

    def __init__(self, session: Session, kinds: Sequence[type[Verb]]) -> None:
        self._session = session
        self._manager = session.shell.magics_manager
        self._magics = {kind: dict(named) for kind, named in self._manager.magics.items()}
        self._registry = dict(self._manager.registry)
        self._completer = Completer(session)
        self._verbs = [kind(session) for kind in kinds]

    def enter(self) -> None:
        """Register all, and say whose magics that replaces."""
        session = self._session
        session.shell.configurables.append(session.settings)
        for verb in self._verbs:
            session.shell.register_magics(verb)
        self._document()
        session.settings.observe(self._document)
        session.watcher.enter()
        session.awaiter.enter()
        self._completer.enter()
        self._tell_replaced()

    def leave(self) -> None:
        """Take all out: what others had entered before comes back, what they have since stays."""
        session = self._session
        for kind, name in self._mine():
            _restore(self._manager.magics[kind], name, self._magics[kind])
        for name, verb in list(self._manager.registry.items()):
            if verb in self._verbs:
                _restore(self._manager.registry, name, self._registry)
        mine = [session.settings, *self._verbs]
        session.shell.configurables[:] = [
            each for each in session.shell.configurables if each not in mine
        ]
        session.settings.unobserve(self._document)
        session.watcher.leave()
        session.awaiter.leave()
        session.journal.close()
        self._completer.leave()

    def _mine(self) -> Iterator[tuple[str, str]]:
        """Kinds and names of magics that are registered and ours."""
        for verb in self._verbs:
            for kind, names in verb.magics.items():
                named = self._manager.magics[kind]
                for name in names:
                    if getattr(named.get(name), "__self__", None) is verb:
                        yield kind, name

    def _document(self, *_: object) -> None:
        for verb in self._verbs:
            verb.document()

    def _tell_replaced(self) -> None:
        """One line for magics of others that have the same name."""
        others = {
            name: before.__module__
            for kind, name in self._mine()
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
