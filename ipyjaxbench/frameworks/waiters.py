"""What waits for the arrays in a value."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ipyjaxbench.frameworks.framework import Framework, Wait
from ipyjaxbench.frameworks.walker import find_arrays


def wait_for_results(values: Iterable[object], frameworks: Sequence[Framework]) -> None:
    """Wait for all arrays in what code gave, and raise what they raise."""
    __tracebackhide__ = True
    for value in values:
        if wait := find_waiter(value, frameworks):
            wait(value)


def find_waiter(value: object, frameworks: Sequence[Framework]) -> Wait | None:
    """Return the cheapest function that waits for all arrays in values built like ``value``.

    It is None where there is nothing to wait for.
    """
    owned: dict[Framework, list[Any]] = {}
    for framework, array in find_arrays(value, frameworks):
        if framework.alive(array):
            owned.setdefault(framework, []).append(array)
    waits = [wait for f, arrays in owned.items() if (wait := f.waiter(value, arrays))]
    return _all_of(waits)


def _all_of(waits: Sequence[Callable[[Any], object]]) -> Wait | None:
    if len(waits) <= 1:
        return waits[0] if waits else None

    def wait_for_all(value: Any) -> None:
        __tracebackhide__ = True
        for wait in waits:
            wait(value)

    return wait_for_all


def wait_for_each(waits: Sequence[Wait]) -> Wait:
    """Wait for each item of a tuple in its own way; one alone is handed over as it is."""
    if len(waits) == 1:
        return waits[0]

    def wait(values: Sequence[Any]) -> None:
        __tracebackhide__ = True
        for wait_for, value in zip(waits, values, strict=True):
            wait_for(value)

    return wait
