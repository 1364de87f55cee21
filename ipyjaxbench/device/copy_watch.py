"""What a framework replaces for a while, to report copies between host and devices."""

import math
import operator
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import BuiltinMethodType, FrameType, MethodType, MethodWrapperType, ModuleType
from typing import Any

from ipyjaxbench.device.transfers import Transfer
from ipyjaxbench.frameworks import Framework, replace_attribute
from ipyjaxbench.host import Clock
from ipyjaxbench.usercode import (
    called_name_in,
    expression_at,
    is_of,
    module_of as class_module,
    package_of,
)

#: The one end of a copy that is no device of a framework.
HOST = "host"
#: Why nothing was copied.
SHARES, KEPT = "shares memory", "reuses an earlier copy"
#: Calls that name a copy; what copies without one of these is implicit.
_EXPLICIT_CALLS = {
    "asarray", "array", "device_put", "device_get", "copy_to_host_async", "to_device", "numpy",
    "item", "tolist", "tobytes", "float", "int", "bool", "complex", "cpu", "cuda", "gpu", "xpu",
    "to", "copy_", "pin_memory", "from_numpy", "as_tensor", "tensor", "constant", "identity",
    "convert_to_tensor", "Variable", "assign", "__array__", "block", "ascontiguousarray",
}  # fmt: skip
_OPERATORS = operator.__name__.lstrip("_")


class CopyWatch(AbstractContextManager["CopyWatch"], ABC):
    """Reports copies while the context is open; what it replaced is put back when that ends.

    Args:
        framework: whose copies.
        on_copy: gets each copy, in the thread and below the code that makes it.

    Attributes:
        gaps: what it does not see, in a few words each.
        measuring: nanoseconds spent on copies that were made once more, to measure them.
    """

    gaps: tuple[str, ...] = ()
    _now = staticmethod(Clock.elapsed().now)

    def __init__(self, framework: Framework, on_copy: Callable[[Transfer], None]) -> None:
        self._framework, self._on_copy = framework.name, on_copy
        self.measuring = 0
        self._stack, self._replaced = ExitStack(), ExitStack()
        self._inside = threading.local()  # whether what a thread does is part of a copy

    def __enter__(self) -> "CopyWatch":
        with ExitStack() as stack:  # what fails half-way is put back
            stack.callback(self._replaced.close)
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
    def call(self, function: Any, arguments: Sequence[Any], make: Callable[[], Any]) -> Any:
        """Make a call of the user's, and report copies in it that can be seen from outside only."""

    @abstractmethod
    def _wait(self, values: Sequence[Any]) -> None:
        """Wait until these are computed, and what a copy of them would wait for."""

    @abstractmethod
    def _dtype(self, array: Any) -> tuple[str, int]:
        """Return the name of an array's dtype, and the bytes of one element."""

    def _purpose(self, frame: FrameType) -> str:  # noqa: ARG002
        """Return in words what library code puts on a device; "" where the user's line says it."""
        return ""

    def _replace(self, owner: Any, name: str, watched: Callable[..., Any]) -> bool:
        """Replace a function or property until the context ends; return whether there is one.

        Calls go to ``watched``, with the function that was replaced before the arguments; those
        that are part of a copy go to that function itself.
        """

        def make(old: Callable[..., Any]) -> Callable[..., Any]:
            def replaced(*args: Any, **kwargs: Any) -> Any:
                __tracebackhide__ = True
                if getattr(self._inside, "copy", False):
                    return old(*args, **kwargs)
                return watched(old, *args, **kwargs)

            return replaced

        return replace_attribute(self._replaced, owner, name, make)

    def _time_copy(self, make: Callable[[], Any], *values: Any) -> tuple[Any, int, int]:
        """Make a copy of values; return it, and the nanoseconds before it and of it."""
        __tracebackhide__ = True
        start = self._now()
        self._wait(values)
        middle = self._now()
        self._inside.copy = True
        try:
            result = make()
        finally:
            self._inside.copy = False
        self._wait([result])
        return result, middle - start, self._now() - middle

    def _report(
        self,
        source: str,
        target: str,
        array: Any,
        spent: int | None,
        waited: int = 0,
        no_copy_reason: str = "",
        nbytes: int | None = None,
    ) -> None:
        """Report that data went from one place to another, or why it did not have to."""
        frame = sys._getframe(1)
        line, text, function = expression_at(frame)
        if source == HOST and (words := self._purpose(frame)):
            text, function = words, ""
        dtype, itemsize = self._dtype(array)
        shape = tuple(map(int, array.shape))
        self._on_copy(
            Transfer(
                framework=self._framework,
                line=line,
                text=text,
                function=function,
                source=source,
                target=target,
                dtype=dtype,
                shape=shape,
                nbytes=math.prod(shape) * itemsize if nbytes is None else nbytes,
                asked=called_name_in(text) in _EXPLICIT_CALLS,
                free=no_copy_reason,
                seconds=None if spent is None else spent * 1e-9,
                waited=waited * 1e-9,
            )
        )


def defining_package(function: Any) -> str:
    """Return the package that defines a function, bound method, ufunc or operator; or ""."""
    own = function.__func__ if type(function) is MethodType else function
    name = package_of(own) or class_module(type(function)).partition(".")[0]
    return name.lstrip("_")


def is_operator(function: Any) -> bool:
    """Whether it is what an operator such as ``+`` stands for."""
    return defining_package(function) == _OPERATORS


def receiver(function: Any) -> Any:
    """Return what a bound method is bound to; None where it is none."""
    is_bound = is_of(function, MethodType, BuiltinMethodType, MethodWrapperType)
    owner = function.__self__ if is_bound else None
    return None if is_of(owner, ModuleType) else owner


def is_of_numpy(function: Any) -> bool:
    """Whether it is a function of NumPy's, or a method of its arrays."""
    owner = receiver(function)
    of = type(function if owner is None else owner)
    return defining_package(function) == "numpy" or class_module(of) == "numpy"
