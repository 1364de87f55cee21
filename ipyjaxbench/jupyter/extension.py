"""What is entered into a shell's registries, and taken out of them again."""

import sys
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.import_hook import LEARNED_FROM, ImportHook
from ipyjaxbench.jupyter.completer import Completer
from ipyjaxbench.jupyter.insert_await import AwaitInserter
from ipyjaxbench.jupyter.magics import FrameworkMagics
from ipyjaxbench.jupyter.session import Session


class Extension:
    """The magics in one shell, while they are loaded."""

    def __init__(self, session: Session) -> None:
        self._session, self._shell = session, session.shell
        self._manager = session.shell.magics_manager
        self._magics = {kind: dict(named) for kind, named in self._manager.magics.items()}
        self._registry = dict(self._manager.registry)
        self._own = FrameworkMagics(session)
        completer = Completer(session)
        self._entries: tuple[tuple[list[Any], Any], ...] = (
            (self._shell.configurables, session.settings),
            (self._shell.input_transformers_post, AwaitInserter(self._shell, self._is_ours)),
            (completer.registry, completer.matcher),
        )
        self._import_hook = ImportHook(LEARNED_FROM, session.watcher.on_import)
        self._on_cell_end = (session.watcher.on_cell_end, session.last_error.on_cell_end)

    def enter(self) -> None:
        """Register all, and show whose magics that replaces."""
        for registry, entry in self._entries:
            registry.append(entry)
        self._shell.register_magics(self._own)
        for callback in self._on_cell_end:
            self._shell.events.register("post_run_cell", callback)
        sys.meta_path.insert(0, self._import_hook)
        if self._session.watcher.is_on:  # what was traced before is not shown
            self._session.watcher.switch(on=True)
        self._show_replaced()

    def leave(self) -> None:
        """Take all out: what others had entered before comes back, what they have since stays."""
        for kind, name in self._registered():
            _restore(self._manager.magics[kind], name, self._magics[kind])
        for name, verb in list(self._manager.registry.items()):
            if verb is self._own:
                _restore(self._manager.registry, name, self._registry)
        for registry, entry in (*self._entries, (self._shell.configurables, self._own)):
            if entry in registry:
                registry.remove(entry)
        for callback in self._on_cell_end:
            self._shell.events.unregister("post_run_cell", callback)
        if self._import_hook in sys.meta_path:
            sys.meta_path.remove(self._import_hook)
        self._session.close()

    def _is_ours(self, magic: object) -> bool:
        return getattr(magic, "__self__", None) is self._own

    def _registered(self) -> Iterator[tuple[str, str]]:
        """Yield kinds and names of magics that are registered and ours."""
        for kind, names in self._own.magics.items():
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
            from ipyjaxbench.jupyter.screen import show

            replaced = ", ".join(f"%{name} of {module}" for name, module in others.items())
            line = f"ipyjaxbench replaces {replaced}. %unload_ext ipyjaxbench restores it."
            show({"text/plain": line}, raw=True)


def _restore(named: dict[str, object], name: str, earlier: dict[str, object]) -> None:
    if name in earlier:
        named[name] = earlier[name]
    else:
        del named[name]
