"""The base of adapters to libraries that have finished when they return."""

from collections.abc import Sequence
from typing import Any, final

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.host import host_memory


class Synchronous(Framework):
    """A framework that has computed when it returns, in the host's memory."""

    @final
    def started(self) -> bool:
        """There is no runtime to start."""
        return True

    @final
    def free_memory(self) -> int:
        """The host's."""
        return host_memory()

    @final
    def waiter(self, value: object, arrays: Sequence[Any]) -> None:
        """There is nothing to wait for."""

    @final
    def drain(self) -> None:
        """Nothing runs on."""

    @final
    def runs_ahead(self) -> bool:
        """It has computed when it returns."""
        return False

    @final
    def is_running(self) -> bool:
        """Nothing runs on."""
        return False
