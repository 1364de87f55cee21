"""``%trace_cached``."""

from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.reports import Result
from ipyjaxbench.retracing import (
    TRACE_LOG,
    Signatures,
    TraceOptions,
    Traces,
    observe_code,
    predict_code,
)


def trace_cached(magic: Invocation[TraceOptions]) -> Result | None:
    """Report whether calls were traced."""
    __tracebackhide__ = True
    options = magic.options
    options.check(magic.code, magic.cell)
    if options.watch is not None:
        magic.session.settings.watch = options.watch == "on"
        return None
    if options.engines is not None:
        return _ask_engines(magic, options.engines)
    with magic.screen.progress("running"):
        result, raised = _observe(magic)
    return magic.present(result, raised)


def _ask_engines(magic: Invocation[TraceOptions], chosen: str) -> Result | None:
    """Report which calls each engine traced."""
    __tracebackhide__ = True
    from ipyjaxbench import cluster

    with magic.screen.progress("asking engines"):
        magic.source(magic.body)  # a SyntaxError is shown as that of any cell
        engines = cluster.find_engines(chosen, magic.names)
        members = cluster.find_members(engines, magic.options.timeout)
    code = "\n" * magic.above + magic.transformed(magic.body)  # lines count as in the editor
    with magic.screen.progress("running"):
        result, printed, raised = cluster.trace_on_engines(
            members, code, magic.options, twice=magic.cell is None
        )
    if printed:
        print(printed, end="")  # noqa: T201  as the cell would here
    return magic.present(result, raised)


def _observe(
    magic: Invocation[TraceOptions],
) -> tuple[Traces | Signatures, BaseException | None]:
    """Return the result, and what the code raised."""
    __tracebackhide__ = True
    if magic.options.signatures:
        return Signatures.from_log(TRACE_LOG, magic.code, magic.names), None
    source = magic.source(magic.body)
    if magic.options.predict:
        return predict_code(source, magic.names), None
    return observe_code(source, magic.names, magic.options, twice=magic.cell is None)
