"""What is looked at while a loop runs: waits, compilations, and what its statements leave."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import FrameType
from typing import Any

from ipyjaxbench.errors import DeviceError
from ipyjaxbench.frameworks import (
    Compilation,
    CompilationWatch,
    Framework,
    find_reach,
    loaded,
)
from ipyjaxbench.steps.insert_marks import Site
from ipyjaxbench.steps.line_kinds import LineKinds, computing
from ipyjaxbench.steps.wait_hooks import WaitHooks
from ipyjaxbench.usercode import Namespace


class LoopWatch:
    """Opened when the loop begins: the cell may import a framework above it.

    Args:
        sites: the loop's statements.
        names: the cell's namespace.

    Attributes:
        frameworks: those that were loaded when the loop began, NumPy left out.
        kinds: what its statements do.
        wait_error: why a device could not be waited for; empty if it could.
    """

    def __init__(self, sites: Sequence[Site], names: Namespace) -> None:
        self._names = names
        self._hooks: WaitHooks | None = None
        self._watches: list[CompilationWatch] = []
        self._stack = ExitStack()
        self._sites = sites
        self.frameworks: list[Framework] = []
        self.kinds = LineKinds((), sites)
        self.wait_error = ""

    def open(self, note: Callable[[int], None]) -> None:
        """Begin to look, unless the loop has begun before; what is noted goes to a function."""
        if self._hooks is not None:
            return
        self.frameworks = computing(loaded()[0])
        self.kinds = LineKinds(self.frameworks, self._sites)
        functions = find_reach([*self._names.values()], self.frameworks).functions
        for each in self.frameworks:
            each.prepare()
            watch = each.capability(Compilation).watch(functions)
            self._watches.append(self._stack.enter_context(watch))
        self._hooks = self._stack.enter_context(WaitHooks(self.frameworks, note))

    def close(self) -> None:
        """Put back what was replaced."""
        self._stack.close()

    def ready(self, value: Any) -> Any:
        """Wait for what NumPy is about to read in place, and hand it on."""
        return value if self._hooks is None else self._hooks.ready(value)

    def look(self, site: int, frame: FrameType) -> None:
        """Look at what a statement left."""
        self.kinds.look(site, frame)

    def compilations(self) -> int:
        """Return how many programs have been compiled until now."""
        return sum(watch.compilations() for watch in self._watches)

    def wait(self) -> None:
        """Wait until nothing runs on any device."""
        try:
            for each in self.frameworks:
                if each.runs_ahead():
                    each.wait_for_devices()
        except DeviceError as error:  # the user's code meets it where it waits
            self.wait_error = str(error)
