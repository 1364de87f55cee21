"""Every error that a user can cause; each is one line that says what can be typed instead.

That is an option in a magic and a keyword in Python, in advice too: `by_caller` chooses.

IpyJaxBenchError
├── OptionError           an option is unknown, or its value is invalid
├── SnippetError          the code cannot be measured (empty, a string), or has no program
├── DeviceError           a device fails, whatever runs on it
├── RecordError           a saved record cannot be read
├── ArmFailedError        an arm failed; the error holds the comparison of the others
├── MissingLibraryError   an optional library is not installed
├── TooManyTracesError    there were more traces than allowed
└── StaleProgramError     a function ran what was traced before the code changed
"""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: What the user's code raises as an error of its own, `sys.exit` too. Whatever else is no
#: `Exception` asks to stop, and nothing holds it up: Ctrl-C, a cancelled task, a test's time limit.
CODE_ERRORS = (Exception, SystemExit, GeneratorExit)

#: The magic or the function that is at work.
_caller: ContextVar[str] = ContextVar("caller", default="")
#: Version without the names that were replaced in the one before.
OLD_NAMES_END = "0.3"


class IpyJaxBenchError(Exception):
    """An error whose message names the value, the rule and what to type instead."""

    def __str__(self) -> str:
        """Return the message, with signs of the user's value written out that a terminal obeys."""
        from ipyjaxbench.units import visible  # loading stays instant

        return visible(super().__str__())


class OptionError(IpyJaxBenchError):
    """An option is unknown, or its value is invalid."""


class SnippetError(IpyJaxBenchError):
    """The code cannot be measured, or has no program."""


class DeviceError(IpyJaxBenchError):
    """A device fails when its work is waited for."""


class RecordError(IpyJaxBenchError):
    """A saved record cannot be read back."""


class MissingLibraryError(IpyJaxBenchError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str = "plot") -> None:
        super().__init__(f"{library} is not installed: pip install ipyjaxbench[{extra}]")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while code was measured, compared or swept.

    Attributes:
        result: that of the calls made so far.
    """

    def __init__(self, result: object, stopped: KeyboardInterrupt) -> None:
        super().__init__(*stopped.args)
        self.result = result
        self.with_traceback(stopped.__traceback__)  # which ends in the user's line


class ArmFailedError(IpyJaxBenchError):
    """The first call of an arm of a comparison failed, or the setup at a value of a sweep.

    Attributes:
        result: the comparison of the other arms and points.
        error: the first error that your code raised.
    """

    def __init__(self, result: object, error: BaseException) -> None:
        try:
            text = f"{type(error).__name__}: {error}"
        except CODE_ERRORS:  # the user's class may raise where its text is asked for
            text = type(error).__name__
        super().__init__(text)
        self.result, self.error = result, error


class TooManyTracesError(IpyJaxBenchError, AssertionError):
    """There were more traces than allowed."""


class StaleProgramError(IpyJaxBenchError, AssertionError):
    """A function ran a program that was traced before a value that it reads changed."""


def short_errors(function: Callable[P, T]) -> Callable[P, T]:
    """Return a public function whose own errors have no traceback into this package."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            with called_from(function.__name__):
                return function(*args, **kwargs)
        except ArmFailedError:  # its traceback leads to the user's line
            raise
        except IpyJaxBenchError as error:
            raise error.with_traceback(None)  # noqa: B904  its cause, if any, is the user's error

    return call


def short_init_errors(kind: type[T]) -> type[T]:
    """Return a public class whose refusals have no traceback into this package."""
    init = kind.__init__

    @functools.wraps(init)
    def call(self: T, *args: object, **kwargs: object) -> None:
        __tracebackhide__ = True
        try:
            init(self, *args, **kwargs)
        except (IpyJaxBenchError, TypeError) as error:
            raise error.with_traceback(None)  # noqa: B904  it has no cause

    kind.__init__ = call  # type: ignore[method-assign, assignment]
    return kind


def warn_renamed(old: str, new: str) -> None:
    """Warn the caller of a function of `short_errors` that used an old name."""
    message = f"{old} is now {new}. The old name still works, until version {OLD_NAMES_END}."
    warnings.warn(message, FutureWarning, stacklevel=4)


@contextmanager
def called_from(caller: str) -> Iterator[None]:
    """Have errors and advice name what can be typed there: "%fwtime", or "measure" in Python."""
    __tracebackhide__ = True
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def caller() -> str:
    """Return the magic or the function that is at work; "" where it is not known."""
    return _caller.get()


def by_caller(magic: str, python: str) -> str:
    """Return one of two texts, by who is at work.

    Example:
        >>> with called_from("%fwtime"):
        ...     by_caller("-b 5", "budget=5")
        '-b 5'
    """
    return magic if caller().startswith("%") else python
