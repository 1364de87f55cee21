"""The magics as IPython knows them: what they do and take is loaded when one is first used."""

from __future__ import annotations

from collections.abc import Container
from functools import partial
from importlib import import_module
from typing import Any

from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)

from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.purposes import PURPOSES

#: Magic -> the module of its work, where that has another name.
_MODULES = {"fxgraph": "jaxpr", "tfgraph": "jaxpr", "ipyjaxbench": "about"}
_WITHOUT_CELL = ("explain", "fwhistory", "ipyjaxbench")


def _magic(name: str) -> Any:
    def magic(
        self: FrameworkMagics,
        line: str,
        cell: str | None = None,
        local_ns: dict[str, Any] | None = None,
    ) -> Any:
        __tracebackhide__ = True
        if _asks_for_help(line, {**self.session.shell.user_ns, **(local_ns or {})}):
            from ipyjaxbench.jupyter.screen import show

            return show({"text/plain": self._help(name)}, raw=True)
        work = _load(f"ipyjaxbench.jupyter.{_MODULES.get(name, name)}", name)
        from ipyjaxbench.jupyter.commands import COMMANDS
        from ipyjaxbench.jupyter.invocation import Invocation

        invocation = Invocation.from_line(self.session, COMMANDS[name], line, cell, local_ns)
        return invocation.run(work)

    magic.__name__, magic.__doc__ = name, PURPOSES[name]
    kind = line_magic if name in _WITHOUT_CELL else line_cell_magic
    return no_var_expand(needs_local_scope(kind(magic)))


def _asks_for_help(line: str, names: Container[str]) -> bool:
    """Whether an option asks what the magic takes; ``-h`` is code where the user has an ``h``."""
    words = line.split(maxsplit=1)
    return words[:1] == ["--help"] or (words == ["-h"] and "h" not in names)


def _load(module: str, name: str) -> Any:
    """Return the work of a magic; each brings its room along, so it is loaded by name."""
    __tracebackhide__ = True
    try:
        return getattr(import_module(module), name)
    except KeyboardInterrupt:
        stopped: Any = KeyboardInterrupt(f"interrupted while {name} was loaded; nothing has run")
        # What IPython shows in place of a traceback, which would lead through our imports.
        stopped._render_traceback_ = lambda: [f"KeyboardInterrupt: {stopped}"]
        raise stopped from None


@magics_class
class FrameworkMagics(Magics):
    """All magics: a method for each name in `PURPOSES`."""

    vars().update({name: _magic(name) for name in PURPOSES})

    def __init__(self, session: Session) -> None:
        super().__init__(session.shell)
        self.session = session
        for name in PURPOSES:
            # What IPython asks for a help that is made when it is read.
            getattr(type(self), name).getdoc = partial(self._help, name)

    def _help(self, name: str) -> str:
        from ipyjaxbench.jupyter.commands import COMMANDS

        return COMMANDS[name].help(self.session.settings.option_values())
