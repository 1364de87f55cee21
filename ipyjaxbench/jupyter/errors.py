"""How errors that a user can mend are shown: one line, and the notebook stops."""

import linecache
from collections.abc import Iterator
from contextlib import contextmanager

from IPython.core.error import UsageError

from ipyjaxbench.errors import IpyJaxBenchError
from ipyjaxbench.jupyter.screen import Screen


@contextmanager
def one_line_errors() -> Iterator[None]:
    """IPython shows a UsageError as one line, and still stops the notebook."""
    __tracebackhide__ = True
    try:
        yield
    except IpyJaxBenchError as error:
        raise UsageError(str(error)) from None
    except SyntaxError as error:
        # The line as it was typed: that of the error may be one that stands for it.
        text = linecache.getline(error.filename or "", error.lineno or 0) or error.text or ""
        shown = text.strip()
        raise UsageError(f"SyntaxError in line {error.lineno}, {shown!r}: {error.msg}") from None


@contextmanager
def diagnosis_shown(screen: Screen, *, whole: bool) -> Iterator[None]:
    """Where a call does not trace, why; the notebook still stops, with one line or all of them."""
    __tracebackhide__ = True
    from ipyjaxbench.graphs.diagnosis import UntraceableError

    try:
        yield
    except UntraceableError as failed:
        screen.replace(failed.diagnosis)
        if whole:
            raise failed.error from None
        stop = UsageError("it does not trace: see above (--tb shows the whole traceback)")
        stop.diagnosis = failed.diagnosis  # for %explain
        raise stop from None
