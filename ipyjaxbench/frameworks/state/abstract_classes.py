"""Which classes were registered as some of an abstract one: Python keeps that out of sight."""

import abc
from collections.abc import Iterator
from typing import Any

from ipyjaxbench.frameworks.state.undo import Setting
from ipyjaxbench.usercode import is_of

_ABC: Any = abc
_NEEDED = ("_get_dump", "_reset_registry")  # private, and of CPython alone


def registered_classes(kind: Any) -> Iterator[Setting]:
    """Yield those of an abstract class; nothing for other classes."""
    if not is_of(kind, abc.ABCMeta) or not all(hasattr(abc, name) for name in _NEEDED):
        return

    def read() -> list[Any]:
        found = [each() for each in _ABC._get_dump(kind)[0]]
        return sorted((each for each in found if each is not None), key=id)

    def write(known: list[Any]) -> None:
        _ABC._reset_registry(kind)
        for each in known:
            abc.ABCMeta.register(kind, each)

    yield Setting(read, write)
