"""What the magics do, by their names."""

from collections.abc import Callable
from typing import Any

from ipyjaxbench.commands import BY_NAME
from ipyjaxbench.magics import about, compare, graph, history, place, time, trace
from ipyjaxbench.magics._session import Session
from ipyjaxbench.magics._typed import Typed
from ipyjaxbench.snippet import Namespace

_WORK: dict[str, Callable[[Typed[Any]], Any]] = {
    "fwtime": time.fwtime,
    "fwcompare": compare.fwcompare,
    "jaxpr": graph.jaxpr,
    "fxgraph": graph.fxgraph,
    "tfgraph": graph.tfgraph,
    "trace_cached": trace.trace_cached,
    "fwdevices": place.fwdevices,
    "explain": graph.explain,
    "fwhistory": history.fwhistory,
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
    return Typed.of(session, BY_NAME[name], line, cell, local_ns).done(_WORK[name])
