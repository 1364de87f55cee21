"""Every error that a user can cause; each is one line that says what to type instead.

IpyJaxBenchError
├── OptionError     an option is unknown, or its value breaks a rule
├── SnippetError    the code cannot be measured (empty, a string)
├── RecordError     a saved record is not one that this version can read
├── ArmFailedError  the code of an arm failed; it holds the comparison of the others
├── MissingLibraryError   a library that only this part needs is not installed
└── TooManyTracesError    more was traced than is allowed
"""

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

#: Version without the names that were replaced in the one before.
OLD_NAMES_END = "0.3"


class IpyJaxBenchError(Exception):
    """An error whose message names the value, the rule and what to type instead."""


class OptionError(IpyJaxBenchError):
    """An option is unknown, or its value breaks a rule."""


class SnippetError(IpyJaxBenchError):
    """The code given cannot be measured."""


class RecordError(IpyJaxBenchError):
    """A saved record cannot be read back."""


class MissingLibraryError(IpyJaxBenchError, ImportError):
    """A library that only this part needs is not installed."""

    def __init__(self, library: str, extra: str = "plot") -> None:
        super().__init__(f"{library} is not installed: pip install ipyjaxbench[{extra}]")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while code was measured, compared or swept.

    Attributes:
        result: of the calls that were made until then.
    """

    def __init__(self, result: object, stopped: KeyboardInterrupt) -> None:
        super().__init__(*stopped.args)
        self.result = result
        self.with_traceback(stopped.__traceback__)  # which ends in the user's line


class ArmFailedError(IpyJaxBenchError):
    """An arm of a comparison failed in its first call, or the set-up of a point of a sweep.

    Attributes:
        result: of the other arms and points.
        error: the first one that the user's code raised.
    """

    def __init__(self, result: object, error: Exception) -> None:
        try:
            text = f"{type(error).__name__}: {error}"
        except Exception:  # noqa: BLE001  the user's class may raise where its text is asked for
            text = type(error).__name__
        super().__init__(text)
        self.result, self.error = result, error


class TooManyTracesError(IpyJaxBenchError, AssertionError):
    """More was traced than is allowed."""


def short_errors(function: Callable[P, T]) -> Callable[P, T]:
    """Return a public function whose own errors have no traceback into this package."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except ArmFailedError:  # its traceback leads to the user's line
            raise
        except IpyJaxBenchError as error:
            raise error.with_traceback(None) from None

    return call


def warn_renamed(old: str, new: str) -> None:
    """Warn the caller of a function of `short_errors` that used an old name."""
    message = f"{old} is now {new}. The old name still works, until version {OLD_NAMES_END}."
    warnings.warn(message, FutureWarning, stacklevel=4)
