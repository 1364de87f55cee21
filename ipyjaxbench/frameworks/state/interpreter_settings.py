"""What calls change of Python's own settings: they are no attributes of what the code names."""

import contextvars
import gc
import os
import sys
from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any

from ipyjaxbench.frameworks.state.undo import State, all_same
from ipyjaxbench.usercode import is_exactly

_UNSET: Any = object()
#: Of a context of `decimal`; its flags are left to it.
_OF_DECIMAL = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


class Setting(State):
    """Something that is read and set by functions.

    Args:
        read: gives numbers and objects.
        write: sets them; None where they cannot be set.
    """

    def __init__(
        self, read: Callable[[], list[Any]], write: Callable[[list[Any]], object] | None
    ) -> None:
        self._read, self._write, self._before = read, write, read()
        self.can_restore = write is not None

    def changed(self) -> bool:
        """Whether it is another one now."""
        return not all_same(self._read(), self._before)

    def restore(self) -> None:
        """Set the old one."""
        if self._write is not None and self.changed():
            self._write(self._before)

    def again(self) -> "Setting":
        """As it is now."""
        return Setting(self._read, self._write)


class Behind(State):
    """A view of a dictionary, which changes where that does.

    Args:
        view: it cannot be written.
    """

    def __init__(self, view: object) -> None:
        self._view = view

    @property
    def parts(self) -> Iterable[object]:
        """The dictionary."""
        return gc.get_referents(self._view)

    def changed(self) -> bool:
        """Never: the dictionary does."""
        return False

    def restore(self) -> None:
        """There is nothing to write."""

    def again(self) -> "Behind":
        """The same."""
        return self


def settings(value: Any) -> list[State] | None:
    """What calls change through a module or an object of Python's own; None for anything else.

    Args:
        value: anything.
    """
    decimal: Any = sys.modules.get("decimal")
    if value is os or value is os.environ:
        return [Setting(read_environment, write_environment)]
    if value is sys:
        return [Setting(lambda: [sys.getrecursionlimit()], lambda v: sys.setrecursionlimit(*v))]
    if decimal is not None and (value is decimal or value is decimal.getcontext):
        return [_of_decimal(decimal.getcontext())]
    if decimal is not None and is_exactly(value, decimal.Context):
        return [_of_decimal(value)]
    if is_exactly(value, contextvars.ContextVar):
        is_set = value.get(_UNSET) is not _UNSET
        return [Setting(lambda: [value.get(_UNSET)], (lambda v: value.set(*v)) if is_set else None)]
    return [Behind(value)] if is_exactly(value, MappingProxyType) else None


def read_environment() -> list[str]:
    """Return the names and values of all variables, one after the other."""
    return [text for item in os.environ.items() for text in item]


def write_environment(texts: list[str]) -> None:
    """Have the environment hold these variables and no others."""
    old = dict(zip(texts[::2], texts[1::2], strict=True))
    for name in [*os.environ]:
        if name not in old:
            del os.environ[name]
    for name, value in old.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _of_decimal(context: Any) -> Setting:
    def write(values: list[Any]) -> None:
        for name, value in zip(_OF_DECIMAL, values, strict=True):
            setattr(context, name, value)

    return Setting(lambda: [getattr(context, name) for name in _OF_DECIMAL], write)
