"""Notes where Python waits for devices, while a context is open, in the thread that opened it."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Any

from ipyjaxbench.frameworks import Framework, replace_attribute
from ipyjaxbench.steps.protocol import DeviceWaits, WaitPoint
from ipyjaxbench.steps.step_rows import AWAKE, WAIT


class WaitHooks(AbstractContextManager["WaitHooks"]):
    """Functions that wait, replaced by such as note when they begin and end.

    Args:
        frameworks: whose functions.
        note: gets the place.
    """

    def __init__(self, frameworks: Sequence[Framework], note: Callable[[int], None]) -> None:
        self._waits = [each.capability(DeviceWaits) for each in frameworks]
        self._note = note
        self._thread = threading.get_ident()
        self._is_waiting = False
        self._stack, self._replaced = ExitStack(), ExitStack()

    def __enter__(self) -> "WaitHooks":
        with ExitStack() as stack:  # what fails half-way is put back
            stack.callback(self._put_back)
            self._replace()
            for each in self._waits:
                stack.enter_context(each.while_compiling(self._compiling))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def ready(self, value: Any) -> Any:
        """Wait for what NumPy is about to read in place, and hand it on."""
        for each in self._waits:
            if each.is_read_in_place(value):
                each.wait(value)
        return value

    def _compiling(self, begins: bool) -> None:  # noqa: FBT001  the one argument of a callback
        self._put_back()
        if not begins:
            self._replace()

    def _put_back(self) -> None:
        self._replaced.close()

    def _replace(self) -> None:
        for each in self._waits:
            for point in each.points():
                make = partial(self._noting, point)
                replace_attribute(self._replaced, point.owner, point.name, make)

    def _noting(self, point: WaitPoint, old: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that notes when another begins and ends, where that may wait."""
        note, waits, thread = self._note, point.waits, self._thread

        def noted(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if (
                self._is_waiting
                or threading.get_ident() != thread
                or (waits is not None and not waits(*args, **kwargs))
            ):
                return old(*args, **kwargs)
            self._is_waiting = True
            note(WAIT)
            try:
                return old(*args, **kwargs)
            finally:
                note(AWAKE)
                self._is_waiting = False

        return noted
