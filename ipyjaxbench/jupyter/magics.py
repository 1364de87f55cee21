"""The magics as IPython knows them: what they do and take is loaded when one is first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)

from ipyjaxbench.purposes import PURPOSES

if TYPE_CHECKING:
    from ipyjaxbench.jupyter.session import Session
    from ipyjaxbench.usercode import Namespace


#: Magic -> the module that does what it is there for, where that has another name.
_MODULES = {"fxgraph": "jaxpr", "tfgraph": "jaxpr", "explain": "jaxpr", "ipyjaxbench": "about"}


def _magic(name: str, kind: Callable[..., Any]) -> Any:
    def magic(
        self: FrameworkMagics,
        line: str,
        cell: str | None = None,
        local_ns: Namespace | None = None,
    ) -> Any:
        __tracebackhide__ = True
        from ipyjaxbench.jupyter.commands import COMMANDS
        from ipyjaxbench.jupyter.invocation import Invocation

        invocation = Invocation.of(self.session, COMMANDS[name], line, cell, local_ns)
        # Each brings its room along, so it is loaded by name.
        module = import_module(f"ipyjaxbench.jupyter.{_MODULES.get(name, name)}")
        return invocation.run(getattr(module, name))

    magic.__name__, magic.__doc__ = name, PURPOSES[name]
    return no_var_expand(needs_local_scope(kind(magic)))


@magics_class
class FrameworkMagics(Magics):
    """All magics.

    Args:
        session: what they share.
    """

    fwtime = _magic("fwtime", line_cell_magic)
    fwcompare = _magic("fwcompare", line_cell_magic)
    jaxpr = _magic("jaxpr", line_cell_magic)
    fxgraph = _magic("fxgraph", line_cell_magic)
    tfgraph = _magic("tfgraph", line_cell_magic)
    trace_cached = _magic("trace_cached", line_cell_magic)
    fwdevices = _magic("fwdevices", line_cell_magic)
    explain = _magic("explain", line_magic)
    fwhistory = _magic("fwhistory", line_magic)
    ipyjaxbench = _magic("ipyjaxbench", line_magic)

    def __init__(self, session: Session) -> None:
        super().__init__(session.shell)
        self.session = session
        for name in PURPOSES:
            # What IPython asks for a help that is made when it is read.
            getattr(type(self), name).getdoc = partial(self._help, name)

    def _help(self, name: str) -> str:
        from ipyjaxbench.jupyter.commands import COMMANDS

        return COMMANDS[name].help(self.session.settings.chosen())
