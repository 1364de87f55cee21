"""Imports what answers requests with the first of them: a server starts without it."""

from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipyjaxbench.server.answers import Answers


class LazyAnswers:
    """Makes the one `Answers` of a server when it is first asked for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: Answers | None = None

    def get(self) -> "Answers":
        """Return it; call this in a thread, since importing takes a while."""
        with self._lock:
            if self._answers is None:
                from ipyjaxbench.server.answers import Answers

                self._answers = Answers()
            return self._answers
