"""The error that stopped a cell last: a mistyped magic does not make it forgotten."""

import sys
from typing import Any

from IPython.core.error import UsageError


class LastError:
    """Looks after each cell whether it failed, and keeps the error only until the next one."""

    def __init__(self) -> None:
        self._before: BaseException | None = None

    def value(self) -> BaseException | None:
        """Return the error; of a magic that was mistyped only where there is no other."""
        last: BaseException | None = getattr(sys, "last_value", None)
        return self._before if self._before is not None and _is_mistyped(last) else last

    def after_cell(self, *_: Any) -> None:
        """Keep the error of the cell that has run, unless it is a mistyped magic's."""
        last = getattr(sys, "last_value", None)
        if not _is_mistyped(last):
            self._before = last

    def forget(self) -> None:
        """Keep none."""
        self._before = None


def _is_mistyped(error: BaseException | None) -> bool:
    return isinstance(error, UsageError) and getattr(error, "diagnosis", None) is None
