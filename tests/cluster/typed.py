"""What tests type into a shell that knows engines, and what comes of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from IPython.core.error import UsageError

from tests.shell import Shell

#: Gives a shell with a client of engines of a kind, see `conftest`.
Shells = Callable[[str], Shell]


def refused(shell: Shell, typed: str, told: str) -> None:
    """A cell raises one line, which begins with what is to be told."""
    with pytest.raises(UsageError, match=rf"^{told}") as raised:
        shell.run(typed)
    assert "\n" not in str(raised.value)


def works(shell: Shell) -> None:
    """The next measurement is one of all engines."""
    shell.run("%fwtime --engines all -b 0.05 -v found step(x)")
    assert len(shell.names.pop("found").ranks) == len(shell.names["rc"].ids)


def shown(shell: Shell) -> str:
    """The last report, each run of blanks as one."""
    return " ".join(shell.shown[-1].data["text/plain"].split())


@contextmanager
def executed(engine: Any, before: str, after: str) -> Iterator[None]:
    """Run code on an engine, and other code afterwards, which puts things right."""
    engine.execute(before, block=True)
    try:
        yield
    finally:
        engine.execute(after, block=True)
