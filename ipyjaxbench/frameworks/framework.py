"""What `%fwtime` needs to know of an array framework, and how an adapter offers more.

An adapter is made only when its framework has been imported by the user, and it must never
import, initialise or change anything that the user did not.

To add a framework, write one class and name it in your package's metadata::

    [project.entry-points."ipyjaxbench.frameworks"]
    cupy = "my_package.adapter:CuPy"      # key of sys.modules = module:class

Everything beyond that is a `Capability`: a small class that the room which asks for it defines,
with an answer to each question for frameworks that do not offer it.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, TypeVar

from ipyjaxbench.errors import DeviceError
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.host import summarize_error

Wait = Callable[[Any], object]
C = TypeVar("C", bound="Capability")


class Framework(ABC):
    """One array framework, as the timer sees it.

    Attributes:
        name: its name in reports, in lower case.
        module: its key in `sys.modules`.
        gaps: what this version does not report, each a sentence; found by self-tests.
        capabilities: name of a `Capability` class -> the "module:class" that offers it here,
            imported when it is first asked for.
        immutable: its arrays are never changed in place.
        keeps_copies: its arrays keep the copy on the host that was made of them.
        spins: its threads on the CPU spin while they wait for each other, as OpenMP's do.
    """

    name: str
    module: str
    gaps: tuple[str, ...] = ()
    capabilities: ClassVar[Mapping[str, str]] = {}
    immutable: bool = False
    keeps_copies: bool = False
    spins: bool = False
    _failure: Exception | None = None

    @abstractmethod
    def version(self) -> str:
        """Return the installed version, such as "0.10.2"."""

    @abstractmethod
    def started(self) -> bool:
        """Whether its runtime is initialised, so that touching its devices changes nothing."""

    @abstractmethod
    def owns(self, kind: type) -> bool:
        """Whether instances of ``kind`` are its arrays."""

    def parts(self, value: object) -> Iterable[object] | None:  # noqa: ARG002
        """Return the arrays of a container of its own, such as a module; None for other values."""
        return None

    def named_parts(self, value: object) -> Iterable[tuple[str, object]] | None:  # noqa: ARG002
        """Return the parts of such a container by name, or as "[...]"; None for other values."""
        return None

    @abstractmethod
    def placement(self, array: Any) -> Placement:
        """Return type and place of one array; must not fail for a deleted one."""

    @abstractmethod
    def free_memory(self) -> int:
        """Return the bytes that its arrays may still take, on the fullest device in use."""

    @abstractmethod
    def waiter(self, value: object, arrays: Sequence[Any]) -> Wait | None:
        """Return the cheapest way to wait for values built like ``value``.

        Args:
            value: an example, such as the result of the first call.
            arrays: the arrays of this framework inside it, at least one.

        Returns:
            A function of such a value that returns when its arrays are computed, and that
            works for other values too; None where they are computed when they exist.
        """

    def prepare(self) -> None:
        """Make ready what `drain` needs, without waiting; it may compile a tiny program."""
        return

    @abstractmethod
    def drain(self) -> None:
        """Wait until nothing that was started still runs, on any initialised device."""

    def synchronize(self) -> None:
        """Wait for what devices have been given, in the cheapest way; as `drain` does otherwise.

        It is called right after calls. What a thread of the framework's own has yet to hand to a
        device need not be waited for. What `prepare` makes ready is used.
        """
        self.drain()

    def wait_for_devices(self, *, in_full: bool = True) -> None:
        """Do what `drain` does; raise a DeviceError in one line where a device fails.

        What it waits for last is the framework's own work, so a failure is one of the device, not
        of the user's code.

        Args:
            in_full: False does what `synchronize` does.
        """
        try:
            self.drain() if in_full else self.synchronize()
        except Exception as error:
            raise DeviceError(
                f"{self.name} cannot wait for its devices: {summarize_error(error)}."
                " Restart the kernel if that stays."
            ) from error

    def keep_failure(self, error: Exception) -> None:
        """Keep the error of work that was waited for together with all other, as of a callback."""
        self._failure = error

    def take_failure(self) -> Exception | None:
        """Return the error that was kept since this was last called; None if there was none.

        It is not a failure of a device: who waits for devices keeps it for who knows its origin.
        """
        failure, self._failure = self._failure, None
        return failure

    def hold_results(self) -> AbstractContextManager[Callable[[], object]]:
        """Hold the results of this thread's calls in the context, where the framework reports them.

        Returns:
            A context that yields a function, to be called after it: the function waits for the
            results, drops them, and raises the first error. Nothing else shows the error of a
            dropped result.
        """
        return nullcontext(_wait_for_nothing)

    def runs_ahead(self) -> bool:
        """Whether its operations may return before they are computed, as it is set now."""
        return True

    def is_running(self) -> bool | None:
        """Whether something that was started still runs, as far as that shows without a clock.

        Returns:
            The answer; None where it takes a clock to tell. What `prepare` makes ready is used.
        """
        return None

    def computes_on_host(self) -> bool:
        """Whether work that runs ahead of Python shows in the time of this machine's CPUs."""
        return False

    def alive(self, array: Any) -> bool:  # noqa: ARG002
        """Return False if the array's memory was given away (donated) or deleted."""
        return True

    def capability(self, kind: type[C]) -> C:
        """Return what it offers of one kind, made when it is first asked for.

        Args:
            kind: a subclass of `Capability`.

        Returns:
            What the adapter offers; ``kind`` itself, which knows nothing, where it offers nothing.

        Example:
            >>> # framework.capability(Compilation).compiles(function)
        """
        offered = vars(self).setdefault("_offered", {})
        if kind not in offered:
            module, _, name = self.capabilities.get(kind.__name__, "").partition(":")
            offer: type[C] = getattr(importlib.import_module(module), name) if module else kind
            offered[kind] = offer(self)
        found: C = offered[kind]
        return found


def _wait_for_nothing() -> None:
    """No results are held."""


class Capability:
    """What a framework may offer beyond `Framework`: each answer here is that of one without it.

    Args:
        framework: whose it is.
    """

    def __init__(self, framework: Framework) -> None:
        self.framework: Any = framework
