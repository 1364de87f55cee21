"""A second run of code whose first one may have given arrays away."""

from collections.abc import Iterator
from contextlib import contextmanager

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.frameworks import Scope, loaded
from ipyjaxbench.timing import Donated, all_alive
from ipyjaxbench.usercode import Namespace, Snippet, Source


class Repetition:
    """Has a second run find what the first one found, where that was donated.

    Args:
        snippet: the code; its arguments are copied now where it may give them away.
    """

    def __init__(self, snippet: Snippet) -> None:
        self._frameworks, _ = loaded()
        self._snippet = snippet
        scope = Scope(snippet, self._frameworks)
        self._donated = Donated(snippet, scope.read_values, scope.functions, self._frameworks)

    @classmethod
    def of(cls, source: Source, names: Namespace) -> "Repetition | None":
        """That of some code in its namespace; none of what does nothing."""
        try:
            return cls(Snippet(source, names))
        except SnippetError:
            return None

    @contextmanager
    def prepared(self) -> Iterator[bool]:
        """After the first run: names stand for copies of what it gave away, until the second ends.

        Yields:
            Whether a second run is possible: nothing is left that was given away without a copy.
        """
        __tracebackhide__ = True
        lost = self._donated.forget_unused()
        try:
            if lost:
                self._donated.refresh()
            scope = Scope(self._snippet, self._frameworks)
            used = {**scope.captured, **scope.read_values}
            yield all(all_alive(value, self._frameworks) for value in used.values())
        finally:
            self._donated.restore()
