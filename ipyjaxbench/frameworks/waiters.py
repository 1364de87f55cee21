"""What waits for the arrays in a value, and for all that code has started."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ipyjaxbench.errors import DeviceError
from ipyjaxbench.frameworks.framework import Framework, Wait
from ipyjaxbench.frameworks.registry import loaded
from ipyjaxbench.frameworks.walker import find_arrays
from ipyjaxbench.usercode import Namespace, Source, names_read_and_bound


def wait_for_results(values: Iterable[object], frameworks: Sequence[Framework]) -> None:
    """Wait for all arrays in what code gave, and raise what they raise."""
    __tracebackhide__ = True
    for value in values:
        if wait := find_waiter(value, frameworks):
            wait(value)


def wait_at_end(source: Source, names: Namespace) -> Callable[[object], None]:
    """Return what code calls last: it waits for all that the code has started.

    It raises what of that has failed. It is given the value of the last expression; the frameworks
    are those that are imported by then.
    """
    _, bound, _ = names_read_and_bound(source.compiled())

    def wait(value: object) -> None:
        __tracebackhide__ = True
        frameworks, _ = loaded()
        for framework in frameworks:
            framework.wait_for_devices()
            if failure := framework.take_failure():
                raise failure.with_traceback(None)
        wait_for_results([value, *(names[n] for n in bound if n in names)], frameworks)

    return wait


@contextmanager
def earlier_failures_apart(frameworks: Sequence[Framework]) -> Iterator[None]:
    """Wait for earlier work, and have code that runs in the context not blamed for what failed.

    Afterwards it can be told still.
    """
    for framework in frameworks:
        framework.wait_for_devices()
    earlier = [(framework, framework.take_failure()) for framework in frameworks]
    try:
        yield
    finally:
        for framework, failure in earlier:
            if failure is not None:
                framework.keep_failure(failure)


def forget_failures(frameworks: Sequence[Framework]) -> None:
    """Wait for what code has started, and drop its errors."""
    for framework in frameworks:
        with suppress(DeviceError):  # the next wait raises it
            framework.wait_for_devices()
        framework.take_failure()


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
