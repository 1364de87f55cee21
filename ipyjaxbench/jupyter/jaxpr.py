"""``%jaxpr``, ``%fxgraph`` and ``%tfgraph``."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from ipyjaxbench import units
from ipyjaxbench.errors import OptionError
from ipyjaxbench.graphs import (
    MERMAID_MIME,
    Graph,
    GraphOptions,
    UntraceableError,
    difference,
    draw_mermaid,
    trace_program,
)
from ipyjaxbench.jupyter.errors import TraceFailedError, one_line_interrupt
from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.jupyter.screen import show

#: Magic -> the framework whose program it shows; %jaxpr takes the one that the call uses.
_FRAMEWORKS = {"fxgraph": "torch", "tfgraph": "tensorflow"}


def show_graph(magic: Invocation[GraphOptions]) -> Graph | None:
    """Show the program of a line or a cell, and draw it where that is asked for."""
    __tracebackhide__ = True
    source = magic.source(magic.body)
    calm = (
        nullcontext()
        if magic.options.tb
        else one_line_interrupt(f"tracing {units.heading(magic.body)}")
    )
    with calm, _diagnosis_shown(magic), magic.screen.progress("tracing"):
        result = trace_program(
            source, magic.names, magic.options, _FRAMEWORKS.get(magic.command.name)
        )
        before = _other_program(magic, result)
        magic.session.graphs[_form(result.code, magic.options)] = result.detach()
    result = result if before is None else difference(before, result)
    returned = magic.present(result)
    if magic.options.mermaid and result.live is not None and magic.is_shown():
        drawn = draw_mermaid(result.live.nodes())
        show({MERMAID_MIME: drawn, "text/plain": drawn}, raw=True)
    return returned


jaxpr = fxgraph = tfgraph = show_graph


@contextmanager
def _diagnosis_shown(magic: Invocation[GraphOptions]) -> Iterator[None]:
    """Show why a call does not trace; the notebook still stops, with the error of tracing."""
    __tracebackhide__ = True
    try:
        yield
    except UntraceableError as failed:
        failed.__traceback__ = None  # from Python 3.12 on it holds this error, and what we held
        magic.show(failed.diagnosis)
        if magic.options.tb:
            raise failed.error from None
        raise TraceFailedError(failed.diagnosis) from None


def _other_program(magic: Invocation[GraphOptions], now: Graph) -> Graph | None:
    """Return the program to compare this one with; None where that was not asked for."""
    __tracebackhide__ = True
    options = magic.options
    if options.diff is None:
        return None
    if options.diff != "last":
        alike = dataclasses.replace(options, diff=None, on=(), shard=(), check=False)
        return trace_program(magic.source(options.diff), magic.names, alike, now.framework)
    earlier = magic.session.graphs.get(_form(now.code, options))
    if earlier is None:
        raise OptionError(
            f"--diff last: there is no earlier program of {now.code!r} with these options"
        )
    return earlier


def _form(code: str, options: GraphOptions) -> tuple[str, str]:
    """Return the code, and the options that make another program of it."""
    form = (options.stage, options.platform, options.grad, options.vmap, options.numpy)
    return code, repr((*form, options.shapes))
