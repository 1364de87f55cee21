"""Writes out, in all that a report shows, signs that a terminal obeys or that turn text around."""

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from ipyjaxbench import units

_T = TypeVar("_T")


def make_visible(value: _T) -> _T:
    r"""Return blocks with such signs in their texts written out, before widths are counted.

    Example:
        >>> make_visible(("a", ["user\u202enimda"]))
        ('a', ['user\\u202enimda'])
    """
    shown: Any = value
    if isinstance(value, str):
        shown = units.visible(value)
    elif isinstance(value, tuple):
        parts = map(make_visible, value)
        shown = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    elif isinstance(value, list):
        shown = [*map(make_visible, value)]
    elif isinstance(value, dict):
        shown = {make_visible(key): make_visible(each) for key, each in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        parts_of = {f.name: make_visible(getattr(value, f.name)) for f in fields(value) if f.init}
        shown = replace(value, **parts_of)
    return shown  # type: ignore[no-any-return]
