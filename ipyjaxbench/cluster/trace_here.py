"""Whether calls of one process are traced or cached: what an engine is asked, in plain data."""

from typing import Any

from ipyjaxbench.cluster.output import recorded
from ipyjaxbench.errors import SnippetError
from ipyjaxbench.retracing import TraceOptions, observe_code, predict_code
from ipyjaxbench.usercode import Namespace, Source, describe_error


def trace_here(
    code: str, names: Namespace, options: TraceOptions, *, twice: bool = False
) -> dict[str, Any]:
    """Run code, and say what became of its calls of compiled functions; an engine is asked this.

    No other process is asked. Collectives in the code are the user's own: a limit of traces is
    therefore checked when the code has ended, lest the others wait in one of them.

    Args:
        code: what to run.
        names: in which it runs: the engine's own variables.
        options: what to report.
        twice: run it a second time, to see what the first run left.

    Returns:
        Plain data: the calls, what was printed, and in one line what the code raised.

    Example:
        >>> len(trace_here("n = 1", {}, TraceOptions())["traces"]["calls"])
        0
    """
    import msgspec

    printed: list[str] = []
    raised: BaseException | None = None
    with recorded(printed):
        source = Source.plain(code)
        if not options.predict:
            traces, raised = observe_code(source, names, options, twice=twice, to_end=True)
        else:
            try:
                traces = predict_code(source, names)
            except SnippetError as error:
                return {"failure": f"cannot predict: {error}"}
    found: dict[str, Any] = {"traces": msgspec.to_builtins(traces), "printed": "".join(printed)}
    if isinstance(raised, KeyboardInterrupt):
        found["interrupted"] = True
    elif raised is not None:
        found["failure"] = f"raised {describe_error(raised)}"
    return found
