"""Errors that a user can mend are shown in one line; what was measured before one is not lost."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from IPython.core.error import UsageError

from ipyjaxbench.errors import ArmFailedError, DeviceError, Interrupted, IpyJaxBenchError
from ipyjaxbench.units import visible
from ipyjaxbench.usercode import clear_our_frames, strip_our_frames

if TYPE_CHECKING:
    from ipyjaxbench.graphs import Diagnosis

P = ParamSpec("P")
T = TypeVar("T")


class TraceFailedError(UsageError):
    """Stops a cell whose call does not trace; IPython shows the error of tracing, in one line.

    Attributes:
        diagnosis: why it does not trace, which was shown; `%explain` shows it again.
    """

    def __init__(self, diagnosis: Diagnosis) -> None:
        super().__init__(visible(f"{diagnosis.error}: {diagnosis.message}".rstrip(": ")))
        self.diagnosis = diagnosis

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback."""
        return [f"{self} (full traceback: --tb)"]


def short_interrupts(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose interrupts have a traceback into the user's code, or one line."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt as stopped:
            stopped.__traceback__ = strip_our_frames(stopped.__traceback__)
            if stopped.__traceback__ is None:  # it came while our own code ran
                _show_in_one_line(stopped)
            raise

    return call


def lean_errors(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function whose errors do not keep alive what our code held, as the call's arguments.

    IPython and Python keep the last error, with the frames that led to it.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except UsageError as error:  # shown in one line: nobody sees what led to it
            error.__cause__ = error.__context__ = error.__traceback__ = None
            raise
        except BaseException as error:
            clear_our_frames(error)
            raise

    return call


@contextmanager
def one_line_interrupt(doing: str) -> Iterator[None]:
    """Show an interrupt in one line, where nothing was begun that the user is to look into."""
    __tracebackhide__ = True
    try:
        yield
    except KeyboardInterrupt:
        stopped = KeyboardInterrupt(f"interrupted while {doing}; nothing was kept")
        _show_in_one_line(stopped)
        raise stopped from None


def _show_in_one_line(stopped: Any) -> None:
    # What IPython shows in place of a traceback.
    stopped._render_traceback_ = lambda: [f"KeyboardInterrupt: {stopped}".rstrip(": ")]


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Raise errors as a UsageError, which IPython shows as one line; the notebook still stops."""
    __tracebackhide__ = True
    try:
        yield
    except IpyJaxBenchError as error:
        error.__traceback__ = None  # from Python 3.12 on it holds this error, and what we held
        raise UsageError(str(error)) from None
    except SyntaxError as error:
        # The line as it was typed: that of the error may be one that stands for it.
        text = linecache.getline(error.filename or "", error.lineno or 0) or error.text or ""
        where = f"SyntaxError in line {error.lineno}, {text.strip()!r}"
        raise UsageError(visible(f"{where}: {error.msg}")) from None


def measure_until_stopped(
    work: Callable[..., T], *args: Any, **named: Any
) -> tuple[T, BaseException | None]:
    """Return what was measured, and what ended or failed before all was."""
    __tracebackhide__ = True
    try:
        return work(*args, **named), None
    except Interrupted as stopped:
        interrupt = KeyboardInterrupt(*stopped.args).with_traceback(stopped.__traceback__)
        return cast("T", stopped.result), interrupt
    except ArmFailedError as failed:
        return cast("T", failed.result), failed.error
    except DeviceError as error:  # whose traceback shows no line of the user's
        raise UsageError(str(error)) from None
