"""Code that runs, untimed, before calls."""

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

from ipyjaxbench.frameworks import Framework, wait_for_results
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import Snippet


class SetUp:
    """The set-up of a snippet; it is over when the values are there that it binds to names."""

    def __init__(
        self, snippet: Snippet, find_frameworks: Callable[[], Sequence[Framework]]
    ) -> None:
        self._snippet, self._find_frameworks = snippet, find_frameworks
        self._loop = snippet.loop(waits=())

    def run(self, clock: Clock, kept: dict[str, Any]) -> None:
        """Run it once; what it has bound to names takes the place of what is kept for these."""
        __tracebackhide__ = True
        self._loop(repeat(None, 1), clock.now, self._wait, ())
        for name in {*self._snippet.binds} & kept.keys():
            kept[name] = self._snippet.names.get(name)

    def _wait(self, _: object) -> None:
        __tracebackhide__ = True
        wait_for_names(self._snippet, self._find_frameworks())


def wait_for_names(snippet: Snippet, frameworks: Sequence[Framework]) -> None:
    """Wait for the values of the names that a snippet binds."""
    __tracebackhide__ = True
    names = snippet.names
    wait_for_results([names[name] for name in snippet.binds if name in names], frameworks)
