"""Calls made without a tracer, to hold what is to be written instead against what they give."""

import contextlib
import io
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import OutOfTimeError, time_limit

MAX_NUMBERS = 2**20  # numbers that a call may be given
MAX_SECONDS = 2.0
TOLERANCE = 3e-4
#: How a fix was found to give the same.
SAME = "without tracing"
_Result = TypeVar("_Result")


def attempt(
    compute: Callable[[], _Result],
    is_users: Callable[[str], bool],
    isolation: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> _Result | None:
    """Return what code of the user's files computes; None where it raises or takes too long.

    What puts back its changes, the isolation, may call code of the user's too, and is not limited.
    """
    output = contextlib.redirect_stdout(io.StringIO())
    try:
        with output, isolation(), time_limit(MAX_SECONDS, is_users):
            return compute()
    except (*CODE_ERRORS, OutOfTimeError):  # the user's code may raise anything
        return None


def are_same(
    expected: Sequence[Any], actual: Sequence[Any], is_same: Callable[[Any, Any], bool]
) -> bool:
    """Whether results are as many, and the same one by one."""
    return len(expected) == len(actual) and all(map(is_same, expected, actual))
