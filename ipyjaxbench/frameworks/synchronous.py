"""The base of adapters to libraries that have finished when they return."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

from ipyjaxbench.frameworks.compilation import Watch
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.host.system import host_memory
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing.first_call import Program
from ipyjaxbench.timing.validity.code_facts import Seen


class NothingCompiled(Watch):
    """The watch of a framework that compiles nothing."""

    def __exit__(self, *_: object) -> None:
        """There is nothing to end."""

    def compilations(self) -> int:
        """Nothing."""
        return 0

    def phases(self) -> dict[str, float | None]:
        """None."""
        return {}

    def programs(self) -> tuple[Program, ...]:
        """None."""
        return ()


class Synchronous(Framework):
    """A framework that has computed when it returns, and that compiles nothing."""

    @final
    def started(self) -> bool:
        """There is no runtime to start."""
        return True

    @final
    def compiles(self, value: object) -> bool:  # noqa: ARG002
        """Nothing is compiled."""
        return False

    @final
    def parts(self, value: object) -> None:
        """There are no containers but Python's."""

    @final
    def free_memory(self) -> int:
        """The host's."""
        return host_memory()

    @final
    def waiter(self, value: object, arrays: Sequence[Any]) -> None:
        """There is nothing to wait for."""

    @final
    def prepare(self) -> None:
        """There is nothing to make ready."""

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

    @final
    def profile(self, run: Callable[[], object]) -> None:
        """There is no profiler."""

    @final
    def watch(self, functions: Sequence[object]) -> Watch:  # noqa: ARG002
        """Nothing is compiled."""
        return NothingCompiled()

    @final
    def fresh(self, named: Mapping[str, object], unnamed: Sequence[object]) -> None:
        """There is nothing to be fresh about."""

    @final
    def original(self, function: object) -> None:
        """Nothing is compiled."""

    @final
    def alive(self, array: Any) -> bool:  # noqa: ARG002
        """No memory is given away."""
        return True

    def cautions(self, seen: Seen) -> Iterable[Note]:  # noqa: ARG002
        """It has no such settings."""
        return ()

    @final
    def gives_away(self, function: object) -> bool:  # noqa: ARG002
        """No memory is given away."""
        return False

    @final
    def copy(self, value: Any) -> None:
        """Never needed."""

    @final
    def changes(self, array: Any) -> None:
        """Not told."""

    @final
    def work(
        self,
        function: object,
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> None:
        """Nothing is compiled."""
