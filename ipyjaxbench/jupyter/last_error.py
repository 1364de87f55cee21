"""The error that stopped a cell last: a mistyped magic does not make it forgotten."""

import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell


class LastError:
    """Looks after each cell whether it failed, and keeps the error only until the next one.

    Args:
        shell: whose cells are looked at.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._known: BaseException | None = None

    def enter(self) -> None:
        """Look from now on."""
        self._shell.events.register("post_run_cell", self._after)

    def leave(self) -> None:
        """Look no longer."""
        self._shell.events.unregister("post_run_cell", self._after)
        self._known = None

    def value(self) -> BaseException | None:
        """The error; of a magic that was mistyped only where there is no other."""
        last: BaseException | None = getattr(sys, "last_value", None)
        return self._known if self._known is not None and _is_mistyped(last) else last

    def _after(self, *_: Any) -> None:
        last = getattr(sys, "last_value", None)
        if not _is_mistyped(last):
            self._known = last


def _is_mistyped(error: BaseException | None) -> bool:
    return isinstance(error, UsageError) and getattr(error, "diagnosis", None) is None
