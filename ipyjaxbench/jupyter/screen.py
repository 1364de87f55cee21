"""What a magic shows: its progress in one line, then its result, and no flood of output."""

import math
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Protocol

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from ipyjaxbench import units
from ipyjaxbench.host import Clock
from ipyjaxbench.reports import to_printable
from ipyjaxbench.usercode import Muted, StandIn

_FIRST_UPDATE_NS = 1_000_000_000
_UPDATE_NS = 250_000_000
_UNLIMITED_NS = 3_600_000_000_000  # a budget that long is none
_FIRST_WAIT_SECONDS, _NEXT_WAIT_SECONDS = 2.0, 1.0  # where the work reports nothing by itself


def show(shown: object, **how: Any) -> None:
    """Display a result, or forms of one with ``raw=True``; a shell that cannot gets its text."""
    if isinstance(shown, dict):
        shown = {**shown, "text/plain": to_printable(shown["text/plain"])}
    try:
        display(shown, **how)
    # Whatever a shell without a display raises, what was measured is not lost.
    except Exception:  # noqa: BLE001
        text = shown["text/plain"] if isinstance(shown, dict) else str(shown)
        sys.stdout.write(f"{text}\n")


class Observer(Protocol):
    """Follows the progress of a measurement."""

    def wait(self, seconds: float) -> None:
        """Take note that the work has taken so long and says nothing yet; called from a thread."""

    def __call__(self, half_width: float, left: int) -> None:
        """Take note of the interval so far and the time left; see `OnProgress`."""


class Progress:
    """Tells observers how far a measurement is, between its samples.

    As a context it also tells them, from a thread, how long work has taken that does not call it.
    The thread ends with the first call, before anything is timed again and again.

    Args:
        observers: to tell.
        clock: to read.
        wait: seconds until the thread tells them first.
    """

    def __init__(
        self, observers: Sequence[Observer], clock: Clock, wait: float = _FIRST_WAIT_SECONDS
    ) -> None:
        self._observers = observers
        self._clock, self._pause = clock, wait
        self._start = clock.wall()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Progress":
        try:
            if self._observers:
                wait = copy_context().run  # what is shown belongs to the cell that runs
                self._thread = threading.Thread(target=wait, args=(self._wait,), daemon=True)
                self._thread.start()
            return self
        except BaseException:  # Ctrl-C among them: nobody else would end the thread
            self.end()
            raise

    def __exit__(self, *_: object) -> None:
        self.end()

    def __call__(self, half_width: float, left: int) -> None:
        """Tell them the interval so far and the time left; see `OnProgress`."""
        self.end()
        for observer in self._observers:
            observer(half_width, left)

    def _wait(self) -> None:
        pause = self._pause
        while not self._over.wait(pause):
            seconds = (self._clock.wall() - self._start) * 1e-9
            for observer in self._observers:
                observer.wait(seconds)
            pause = min(_NEXT_WAIT_SECONDS, self._pause)

    def end(self) -> None:
        """End the thread; it does no harm to do so again, where Ctrl-C came between."""
        if self._thread is not None:
            self._over.set()
            with suppress(RuntimeError):  # it has not begun, and ends as soon as it does
                self._thread.join()
            self._thread = None


class ProgressLine:
    """Shows in one line how far a measurement is, four times a second at most.

    Args:
        show: takes one line, which replaces the one before.
        clock: to read.
        doing: what runs until the first call.
    """

    def __init__(self, show: Callable[[str], object], clock: Clock, doing: str = "running") -> None:
        self._show = show
        self._clock = clock
        self._doing = doing
        self._next = clock.wall() + _FIRST_UPDATE_NS

    def wait(self, seconds: float) -> None:
        """Show how long the first call has taken."""
        self._show(f"{self._doing}: {units.duration(seconds, 2)} so far")

    def __call__(self, half_width: float, left: int) -> None:
        """Show the interval so far and the time left, unless it is too soon.

        Args:
            half_width: of the interval, relative; infinite while calls only warm up, and not a
                number where it is not computed.
            left: nanoseconds of the budget.
        """
        now = self._clock.wall()
        if now < self._next:
            return
        self._next = now + _UPDATE_NS
        parts = []
        if math.isinf(half_width):
            parts.append("warming up")
        elif not math.isnan(half_width):
            width = f"±{units.percent(half_width)}" if half_width <= 1 else "wider than ±100 %"
            parts.append(f"CI {width} so far")
        if 0 < left < _UNLIMITED_NS:
            parts.append(f"at most {units.duration(left * 1e-9, 2)} left")
        self._show(f"measuring: {', '.join(parts)}" if parts else "measuring")


class Screen:
    """One line of progress that the result replaces; none where output goes into a file."""

    def __init__(self, shell: InteractiveShell, *, active: bool) -> None:
        self._publisher = shell.display_pub  # the real one: while calls are made it is muted
        self._stream = sys.stdout
        in_kernel = getattr(shell, "kernel", None) is not None
        self._by_display = active and in_kernel and _takes_updates(shell)
        self._by_line = active and not in_kernel and self._stream.isatty()
        self._handle: str | None = None
        self._written = self._replaced = False
        #: Called at the end: Ctrl-C may have come just when these were left, which ends them.
        self.at_end: list[Callable[[], object]] = []

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        for end in self.at_end:
            end()
        self._clear()
        if failed and self._handle is not None and not self._replaced:
            self._publish("")

    def show(self, line: str) -> None:
        """Show the line in the place of the one before."""
        if self._by_display:
            self._publish(line)
        elif self._by_line:
            self._written = True
            self._stream.write(f"\r{units.plain(line)}\x1b[K")
            self._stream.flush()

    def progress(self, doing: str, *others: Observer | None) -> Progress:
        """Return what shows how far the work is, and until there is more to say what it is.

        Args:
            doing: what it is.
            others: further observers; those that are None are left out.
        """
        clock = Clock.elapsed()
        shows = self._by_display or self._by_line
        lines = [ProgressLine(self.show, clock, doing)] if shows else []
        progress = Progress([*lines, *filter(None, others)], clock)
        self.at_end.append(progress.end)
        return progress

    def replace(self, result: object, **how: Any) -> None:
        """Show the result in the place of the line; for the rest see IPython's `display`."""
        self._clear()
        self._replaced = True
        if self._handle is not None:
            how |= {"display_id": self._handle, "update": True}
        show(result, **how)

    def _clear(self) -> None:
        if self._written:
            self._written = False
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _publish(self, line: str) -> None:
        update = self._handle is not None
        self._handle = self._handle or os.urandom(16).hex()
        with suppress(Exception):  # a display that fails must not stop a measurement
            self._publisher.publish(
                {"text/plain": line}, transient={"display_id": self._handle}, update=update
            )


def _takes_updates(shell: InteractiveShell) -> bool:
    """Whether who asked shows an update: a result in the place of a line is lost where not.

    A client of ipyparallel does not. Nor does a console, such as ``jupyter console``. Consoles can
    be asked for input, which those that run notebooks cannot, and name no cell, which pages do.
    """
    if type(shell.kernel).__module__.startswith("ipyparallel."):
        return False
    request = shell.get_parent()
    return not request.get("content", {}).get("allow_stdin") or bool(request.get("metadata"))


class MutedShell(Muted):
    """Keeps what repeated calls print and display from flooding the notebook."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__((shell, "display_pub", _MutedPublisher))


class _MutedPublisher(StandIn, DisplayPublisher):
    """Stands in for a shell's publisher."""

    def publish(self, *values: Any, **named: Any) -> None:
        if self.muted.active:
            self.muted.writes += 1
        else:
            self.real.publish(*values, **named)

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT001, FBT002
        """Clear output only after the calls: what they display was not shown."""
        if not self.muted.active:
            self.real.clear_output(wait)
