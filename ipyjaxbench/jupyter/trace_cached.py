"""``%trace_cached``."""

from ipyjaxbench.jupyter.invocation import Invocation
from ipyjaxbench.retracing import (
    TRACE_LOG,
    Signatures,
    TraceOptions,
    Traces,
    observe_code,
    predict_code,
)


def trace_cached(magic: Invocation[TraceOptions]) -> Traces | Signatures | None:
    """Report whether calls were traced."""
    __tracebackhide__ = True
    options = magic.options
    options.check(magic.code, magic.cell)
    if options.watch is not None:
        magic.session.settings.watch = options.watch == "on"
        return None
    with magic.screen.progress("running"):
        result, raised = _observe(magic)
    return magic.present(result, raised)


def _observe(
    magic: Invocation[TraceOptions],
) -> tuple[Traces | Signatures, BaseException | None]:
    """Return the result, and what the code raised."""
    __tracebackhide__ = True
    if magic.options.signatures:
        return Signatures.from_log(TRACE_LOG, magic.code), None
    source = magic.source(magic.body)
    if magic.options.predict:
        return predict_code(source, magic.names), None
    return observe_code(source, magic.names, magic.options, twice=magic.cell is None)
