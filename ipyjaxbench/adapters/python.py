"""Plain Python: no arrays and nothing to wait for; its random state is global too."""

import platform
import random
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ipyjaxbench.device import ArrayInspector
from ipyjaxbench.frameworks import (
    GeneratorState,
    MutableState,
    Placement,
    Restore,
    Synchronous,
    restore_together,
)
from ipyjaxbench.host import filter_by_type
from ipyjaxbench.usercode import ask


class Python(Synchronous):
    """The language itself."""

    name = "python"
    module = "builtins"
    capabilities: ClassVar = {
        "ArrayInspector": "ipyjaxbench.adapters.python:PythonValues",
        "MemoryMeter": "ipyjaxbench.adapters.shared.traced_memory:TracedMemory",
        "MutableState": "ipyjaxbench.adapters.python:PythonState",
    }

    def version(self) -> str:
        """Return the interpreter's version."""
        return platform.python_version()

    def owns(self, kind: type) -> bool:  # noqa: ARG002
        """Whether a report names it as an array: never."""
        return False

    def placement(self, array: Any) -> Placement:
        """Raise, since it owns no arrays."""
        raise NotImplementedError(type(array))


class PythonValues(ArrayInspector):
    """Values that are no arrays."""

    def describe(self, value: object) -> str:
        """Say that an iterator gives each of its values once."""
        return "looking into it would use it up" if ask(_is_iterator, value) else ""


class PythonState(MutableState):
    """The state of `random`."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore:  # noqa: ARG002
        """Remember the state of `random`, and of `random.Random` objects among the values."""
        own = map(GeneratorState.from_random, filter_by_type(values, random.Random))
        return restore_together([GeneratorState(random.getstate, random.setstate), *own])


def _is_iterator(value: object) -> bool:
    return issubclass(type(value), Iterator)
