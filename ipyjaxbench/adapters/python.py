"""Plain Python: no arrays and nothing to wait for; its random state is global too."""

import platform
import random
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ipyjaxbench.device import ArrayInspector
from ipyjaxbench.frameworks import MutableState, Placement, Restore, Synchronous
from ipyjaxbench.host import filter_by_type
from ipyjaxbench.usercode import ask


class Python(Synchronous):
    """The language itself."""

    name = "python"
    module = "builtins"
    capabilities: ClassVar = {
        "ArrayInspector": "ipyjaxbench.adapters.python:PythonValues",
        "MutableState": "ipyjaxbench.adapters.python:PythonState",
    }

    def version(self) -> str:
        """The interpreter's version."""
        return platform.python_version()

    def owns(self, kind: type) -> bool:  # noqa: ARG002
        """Python has no arrays that a report would name."""
        return False

    def placement(self, array: Any) -> Placement:
        """Never asked, since it owns no arrays."""
        raise NotImplementedError(type(array))


class PythonValues(ArrayInspector):
    """Values that are no arrays."""

    def describe(self, value: object) -> str:
        """What gives its values one after the other, and each of them once."""
        return "looking into it would use it up" if ask(_is_iterator, value) else ""


class PythonState(MutableState):
    """The state of `random`."""

    def random_state(self, values: Sequence[object], *, later: bool = False) -> Restore:  # noqa: ARG002
        """The state of `random`, and of `random.Random` objects among the values."""
        own = filter_by_type(values, random.Random)
        shared, states = random.getstate(), [generator.getstate() for generator in own]

        def restore() -> None:
            random.setstate(shared)
            for generator, state in zip(own, states, strict=True):
                generator.setstate(state)

        return restore


def _is_iterator(value: object) -> bool:
    return issubclass(type(value), Iterator)
