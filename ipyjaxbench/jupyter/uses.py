"""What the magics do, by their names."""

from collections.abc import Callable
from typing import Any

from ipyjaxbench.jupyter import about, fwcompare, fwdevices, fwhistory, fwtime, jaxpr, trace_cached
from ipyjaxbench.jupyter.commands import COMMANDS
from ipyjaxbench.jupyter.invocation import Typed
from ipyjaxbench.jupyter.session import Session
from ipyjaxbench.usercode.snippet import Namespace

_WORK: dict[str, Callable[[Typed[Any]], Any]] = {
    "fwtime": fwtime.fwtime,
    "fwcompare": fwcompare.fwcompare,
    "jaxpr": jaxpr.jaxpr,
    "fxgraph": jaxpr.fxgraph,
    "tfgraph": jaxpr.tfgraph,
    "trace_cached": trace_cached.trace_cached,
    "fwdevices": fwdevices.fwdevices,
    "explain": jaxpr.explain,
    "fwhistory": fwhistory.fwhistory,
    "ipyjaxbench": about.ipyjaxbench,
}


def use(
    session: Session, name: str, line: str, cell: str | None, local_ns: Namespace | None
) -> Any:
    """Do what a magic is there for.

    Args:
        session: of the shell into which it was typed.
        name: of the magic.
        line: all that follows its name.
        cell: what stands below; None where the magic is a line.
        local_ns: the names of the function in which it stands, if it stands in one.
    """
    __tracebackhide__ = True
    return Typed.of(session, COMMANDS[name], line, cell, local_ns).done(_WORK[name])
