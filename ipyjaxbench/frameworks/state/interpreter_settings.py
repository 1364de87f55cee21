"""What calls change of Python's own settings: they are no attributes of what the code names."""

import contextvars
import gc
import os
import sys
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from ipyjaxbench.frameworks.state.undo import Setting, State
from ipyjaxbench.usercode import is_exactly

_UNSET: Any = object()
#: Of a context of `decimal`; its flags are left to it.
_DECIMAL_FIELDS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


class DictView(State):
    """A view of a dictionary, which changes where that does."""

    @property
    def parts(self) -> Iterable[object]:
        """The dictionary."""
        return gc.get_referents(self._target)


def interpreter_states(value: Any) -> list[State] | None:
    """Return what calls change through a module or an object of Python's own; None elsewhere."""
    decimal: Any = sys.modules.get("decimal")
    if value is os or value is os.environ:
        return [Setting(read_environment, write_environment)]
    if value is sys:
        return [Setting(lambda: [sys.getrecursionlimit()], lambda v: sys.setrecursionlimit(*v))]
    if decimal is not None and (value is decimal or value is decimal.getcontext):
        return [_decimal_setting(decimal.getcontext())]
    if decimal is not None and is_exactly(value, decimal.Context):
        return [_decimal_setting(value)]
    if is_exactly(value, contextvars.ContextVar):
        is_set = value.get(_UNSET) is not _UNSET
        return [Setting(lambda: [value.get(_UNSET)], (lambda v: value.set(*v)) if is_set else None)]
    return [DictView(value)] if is_exactly(value, MappingProxyType) else None


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


def _decimal_setting(context: Any) -> Setting:
    def write(values: list[Any]) -> None:
        for name, value in zip(_DECIMAL_FIELDS, values, strict=True):
            setattr(context, name, value)

    return Setting(lambda: [getattr(context, name) for name in _DECIMAL_FIELDS], write)
