"""What a framework offers to those who look at devices, arrays and copies."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from types import BuiltinMethodType, MethodType, MethodWrapperType, ModuleType
from typing import Any

from ipyjaxbench import usercode
from ipyjaxbench.device.inventory import FrameworkDevices
from ipyjaxbench.device.memory import MemorySetting
from ipyjaxbench.device.microbenchmarks import Probe
from ipyjaxbench.device.placement import ArrayPlacement, Weight
from ipyjaxbench.frameworks import Capability

#: The one end of a copy that is no device of a framework.
HOST = "host"
#: Why nothing was copied.
SHARES, KEPT = "shares memory", "kept from an earlier copy"

_OPERATORS = operator.__name__.lstrip("_")


@dataclass(frozen=True)
class Crossing:
    """Data that went from one place to another.

    Attributes:
        source: "host", or devices such as "cpu:0".
        target: the same.
        dtype: such as "float32".
        shape: of what went.
        nbytes: of what went.
        seconds: that the copy took, once its data was computed; None where that is not told.
        waited: seconds before that, until its data was computed.
        no_copy_reason: why nothing was copied; empty where all was.
    """

    source: str
    target: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    seconds: float | None = None
    waited: float = 0.0
    no_copy_reason: str = ""


Tell = Callable[[Crossing], None]


class CrossingWatch(AbstractContextManager["CrossingWatch"], ABC):
    """Tells copies while the context is open; what it replaced is put back when that ends.

    Args:
        tell: gets each copy, in the thread and below the code that makes it.

    Attributes:
        gaps: what it does not see, in a few words each.
        measuring: nanoseconds spent on copies that were made once more, to measure them.
    """

    gaps: tuple[str, ...] = ()

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self.measuring = 0
        self._stack = ExitStack()

    def __enter__(self) -> "CrossingWatch":
        with ExitStack() as stack:  # what fails half-way is put back
            self._stack = stack
            self._listen()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @abstractmethod
    def _listen(self) -> None:
        """Replace what copies."""

    @abstractmethod
    def call(
        self,
        function: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        make: Callable[[], Any],
    ) -> Any:
        """Make a call of the user's, and tell copies in it that can be seen from outside only.

        Args:
            function: what is called.
            args: positional arguments.
            kwargs: keyword arguments.
            make: makes the call.

        Returns:
            What it gives.
        """

    def _replace(self, owner: Any, name: str, wrapped: Callable[[Any], Any]) -> bool:
        """Have an attribute wrapped until the context ends; whether there is such a one."""
        old = getattr(owner, name, None)
        if old is None:
            return False
        own = vars(owner).get(name)
        try:
            setattr(owner, name, wrapped(old))
        except (AttributeError, TypeError):  # it cannot be changed
            return False
        if own is None:
            self._stack.callback(delattr, owner, name)
        else:
            self._stack.callback(setattr, owner, name, own)
        return True


def module_of(function: Any) -> str:
    """The top-level package that defines a function, bound method, ufunc or operator; or ""."""
    own = function.__func__ if type(function) is MethodType else function
    name = usercode.package_of(own) or usercode.module_of(type(function)).partition(".")[0]
    return name.lstrip("_")


def is_operator(function: Any) -> bool:
    """Whether it is what an operator such as ``+`` stands for."""
    return module_of(function) == _OPERATORS


def name_of(function: Any) -> str:
    """Return the name of a function; "" where it has none."""
    return usercode.name_of(function)


def receiver(function: Any) -> Any:
    """Return what a bound method is bound to; None where it is none."""
    is_bound = usercode.is_of(function, MethodType, BuiltinMethodType, MethodWrapperType)
    owner = function.__self__ if is_bound else None
    return None if usercode.is_of(owner, ModuleType) else owner


def is_of_numpy(function: Any) -> bool:
    """Whether it is a function of NumPy's, or a method of its arrays."""
    owner = receiver(function)
    of = type(function if owner is None else owner)
    return module_of(function) == "numpy" or usercode.module_of(of) == "numpy"


class DeviceInventory(Capability):
    """The framework's devices, their memory and threads.

    Attributes:
        has_devices: whether it has devices of its own, beside the host's memory.
    """

    has_devices: bool = False

    def devices(self) -> FrameworkDevices:
        """Return its devices and their memory; a framework that has not started stays so."""
        framework = self.framework
        return FrameworkDevices(framework.name, framework.version(), started=framework.started())

    def start(self) -> bool:
        """Have it look for devices; return whether it has any now."""
        return bool(self.framework.started())

    def set_memory(self, *, prealloc: bool, fraction: float | None) -> Iterable[MemorySetting]:  # noqa: ARG002
        """Set what it may take of each GPU's memory, as far as that can be done now.

        Args:
            prealloc: False has it take memory as it needs it, not all at its start.
            fraction: that it may take; None leaves that as it is.

        Returns:
            What was set, or why it was not; nothing for a framework that knows no GPUs.
        """
        return ()

    def threads(self) -> int | None:
        """Return how many threads one operation may use on the CPU; None where not known."""
        return None

    def aligned(self, threads: int) -> AbstractContextManager[object]:  # noqa: ARG002
        """Make settings equal that other frameworks have too, for a while.

        Args:
            threads: for one operation on the CPU.

        Returns:
            A context in which operations use so many threads, and matrix products all bits of
            their numbers, as far as this can be set in a running process.
        """
        return nullcontext()

    def probe(self, device: str) -> Probe | None:  # noqa: ARG002
        """Return the work with which the ceilings of a device are measured.

        Args:
            device: its name, as `devices` gives it; "cpu" where there are none.

        Returns:
            What makes the work; None where it has none, or the device is not for computing.
        """
        return None


class ArrayInspector(Capability):
    """Where the framework's arrays live, who made them, and their numbers on the host."""

    def located(self, name: str, array: Any) -> ArrayPlacement:
        """Return where one array lives, and in which way; must not fail for a deleted one."""
        place = self.framework.placement(array)
        shape = place.shape or ()
        return ArrayPlacement(
            name, place.framework, place.dtype, shape, place.nbytes, place.devices
        )

    def weight(self, array: Any) -> Weight | None:
        """Return fast what one of many arrays takes; None where it holds no numbers."""
        found = self.located("", array)
        return Weight(found.devices, 0 if found.deleted else found.nbytes, found.sharding)

    def live_arrays(self) -> Sequence[Any]:
        """Return its arrays that are in memory, as far as it knows them."""
        return ()

    def base_array(self, array: Any) -> object:
        """Return the array that holds its memory among `live_arrays`: itself, or what it wraps."""
        return array

    def made_at(self, array: Any) -> Sequence[tuple[str, str, int]]:  # noqa: ARG002
        """Return the calls that made it, innermost first: file, function, line; or nothing."""
        return ()

    def described(self, value: object) -> str:  # noqa: ARG002
        """Return what a value that holds no array is, such as a mesh; empty for others' values."""
        return ""

    def to_numpy(self, array: Any) -> Any | None:  # noqa: ARG002
        """Return the array's numbers as a NumPy array, moved to the host where needed.

        Args:
            array: one that is alive.

        Returns:
            A NumPy array of a dtype that NumPy computes with; None where there is none.
        """
        return None

    def conversion(self, array: Any) -> tuple[float, float] | None:  # noqa: ARG002
        """Measure what an array takes to become a NumPy array, where it keeps that copy.

        Args:
            array: like which new ones are made and converted.

        Returns:
            Seconds for a new array, and for one that was converted before; None where nothing is
            kept or there is no room for more.
        """
        return None


class TransferWatch(Capability):
    """What the framework tells of copies between host and devices."""

    def watch(self, on_copy: Tell) -> CrossingWatch | None:  # noqa: ARG002
        """Return a context that reports copies; None where there are none.

        Args:
            on_copy: gets each copy.
        """
        return None
