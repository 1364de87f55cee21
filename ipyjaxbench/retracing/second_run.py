"""A second run of code whose first one may have given arrays away."""

from collections.abc import Iterator
from contextlib import contextmanager

from ipyjaxbench.errors import SnippetError
from ipyjaxbench.frameworks import Scope, loaded
from ipyjaxbench.timing import Donated, all_alive
from ipyjaxbench.usercode import Namespace, Snippet, Source


class SecondRun:
    """Has a second run find what the first one found; arguments that may go are copied now."""

    def __init__(self, snippet: Snippet) -> None:
        self._frameworks, _ = loaded()
        self._snippet = snippet
        scope = Scope(snippet, self._frameworks)
        self._donated = Donated(snippet, scope.read_values, scope.functions, self._frameworks)

    @classmethod
    def from_source(cls, source: Source, names: Namespace) -> "SecondRun | None":
        """Return that of some code in its namespace; none of what does nothing."""
        try:
            return cls(Snippet(source, names))
        except SnippetError:
            return None

    @contextmanager
    def prepared(self) -> Iterator[bool]:
        """Have names stand for copies of what the first run gave away, until the second ends.

        Yields:
            Whether a second run is possible: all that was given away had a copy.
        """
        __tracebackhide__ = True
        try:
            if self._donated.forget_unused():
                self._donated.refresh()
            scope = Scope(self._snippet, self._frameworks)
            used = {**scope.captured, **scope.read_values}
            yield all(all_alive(value, self._frameworks) for value in used.values())
        finally:
            self._donated.restore()
