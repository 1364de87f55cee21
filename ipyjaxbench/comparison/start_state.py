"""Has each arm's first call start from the state that the first arm's found: like for like."""

from collections.abc import Iterator
from contextlib import contextmanager

from ipyjaxbench.frameworks import Checkpoint, Compilation, Scope
from ipyjaxbench.timing import Session
from ipyjaxbench.usercode import ask


@contextmanager
def put_back_for_the_next(session: Session) -> Iterator[Checkpoint]:
    """Put back afterwards what the first call of an arm changes in place, for the next one's.

    Yields:
        What it found.
    """
    __tracebackhide__ = True
    snippet, frameworks = session.snippet, session.frameworks
    scope = Scope(snippet, frameworks)
    gives_away = any(
        ask(framework.capability(Compilation).donates, function)
        for framework in frameworks
        for function in scope.functions
    )
    found = Checkpoint(
        {**scope.read_values, **scope.called, **scope.captured},
        frameworks,
        snippet.names,
        snippet.codes,
        gives_away=gives_away,
    )
    try:
        yield found
    finally:
        found.restore()
        found.restore_again()
