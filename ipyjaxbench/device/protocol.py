"""What a framework tells of copies between host and devices, while a context is open."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from types import BuiltinMethodType, MethodType, MethodWrapperType, ModuleType
from typing import Any

from ipyjaxbench.usercode import objects

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
        free: why nothing was copied; empty where all was.
    """

    source: str
    target: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    seconds: float | None = None
    waited: float = 0.0
    free: str = ""


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
    name = objects.package_of(own) or objects.module_of(type(function)).partition(".")[0]
    return name.lstrip("_")


def is_operator(function: Any) -> bool:
    """Whether it is what an operator such as ``+`` stands for."""
    return module_of(function) == _OPERATORS


def name_of(function: Any) -> str:
    """The name of a function; "" where it has none."""
    return objects.name_of(function)


def receiver(function: Any) -> Any:
    """What a bound method is bound to; None where it is none."""
    is_bound = objects.is_of(function, MethodType, BuiltinMethodType, MethodWrapperType)
    owner = function.__self__ if is_bound else None
    return None if objects.is_of(owner, ModuleType) else owner


def is_of_numpy(function: Any) -> bool:
    """Whether it is a function of NumPy's, or a method of its arrays."""
    owner = receiver(function)
    of = type(function if owner is None else owner)
    return module_of(function) == "numpy" or objects.module_of(of) == "numpy"
