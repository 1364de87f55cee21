"""A framework that has nothing to do: what is left of a figure is the harness."""

from collections.abc import Sequence
from typing import Any

from ipyjaxbench import testing
from ipyjaxbench.frameworks import registry
from tests.fake_framework import FakeFramework


def wait(value: object) -> None:
    """Nothing: the array was ready at once."""


class Ready(FakeFramework):
    """Arrays that are ready at once, and a wait that does nothing."""

    name = "ready"

    def waiter(self, value: object, arrays: Sequence[Any]) -> Any:
        """The wait that does nothing."""
        return wait


def array() -> testing.FakeArray:
    """An array of it."""
    return testing.FakeArray(testing.FakeDevice(testing.FakeClock()), 0)


def register() -> None:
    """Have it found, in this process."""
    registry._TABLE[Ready.module] = f"{__name__}:{Ready.__name__}"
