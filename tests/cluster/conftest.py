"""Engines that tests share: their start takes longer than most of what is asked of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.cluster.engines import define_step, engines
from tests.shell import Shell

#: Of the ranks of JAX's job: not the same number in each.
DEVICES = (2, 4)


@pytest.fixture(scope="session")
def started() -> Iterator[Callable[[str], Any]]:
    """Gives the client of two engines of a kind."""
    with ExitStack() as stack:
        clients: dict[str, Any] = {}

        def start(kind: str) -> Any:
            if kind not in clients:
                clients[kind] = stack.enter_context(engines(kind, devices=DEVICES))
            return clients[kind]

        yield start


@pytest.fixture
def shell_of(started: Callable[[str], Any], shell: Shell) -> Callable[[str], Shell]:
    """Gives a shell with the client of two engines as ``rc``; ``step(x)`` is as new on them."""

    def prepare(kind: str) -> Shell:
        shell.names["rc"] = client = started(kind)
        define_step(client[:], kind)
        return shell

    return prepare
