"""What a magic shows while it works, a line that says how far it is, and then: the result."""

import math
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import copy_context
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench import units
from ipyjaxbench.host import Clock
from ipyjaxbench.jupyter.display import show

_SILENT_NS = 1_000_000_000
_EVERY_NS = 250_000_000
_LONG_NS = 3_600_000_000_000
#: Seconds: what tells nothing by itself is asked after, from then on and so often.
_PATIENCE, _AGAIN = 2.0, 1.0


class Progress:
    """Four times a second at most; as a context also where nothing tells how far it is.

    Until the first news, a thread says how long it has taken so far. It sleeps but for an instant
    in each second, and is gone before anything is timed again and again.

    Args:
        show: takes one line, which replaces the one before.
        clock: to read.
        doing: what goes on until the first news.
        patience: seconds until that is said.
    """

    def __init__(
        self,
        show: Callable[[str], object],
        clock: Clock,
        doing: str = "running",
        patience: float = _PATIENCE,
    ) -> None:
        self._show = show
        self._clock = clock
        self._doing, self._patience = doing, patience
        self._start = clock.wall()
        self._next = self._start + _SILENT_NS
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> "Progress":
        wait = copy_context().run  # what is shown belongs to the cell that runs
        self._thread = threading.Thread(target=wait, args=(self._wait,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_waiting()

    def __call__(self, known: float, left: int) -> None:
        """Tell of the interval so far and of the time left.

        Args:
            known: relative half width of the interval; infinite while calls only warm up, and
                not a number where it is not looked at.
            left: nanoseconds of the budget.
        """
        self._stop_waiting()
        now = self._clock.wall()
        if now < self._next:
            return
        self._next = now + _EVERY_NS
        parts = []
        if math.isinf(known):
            parts.append("warming up")
        elif not math.isnan(known):
            width = units.percent(known) if known <= 1 else "over 100 %"
            parts.append(f"± {width} so far")
        if 0 < left < _LONG_NS:
            parts.append(f"{units.duration(left * 1e-9, 2)} left at most")
        self._show(f"measuring: {', '.join(parts)}" if parts else "measuring")

    def _wait(self) -> None:
        pause = self._patience
        while not self._over.wait(pause):
            seconds = (self._clock.wall() - self._start) * 1e-9
            self._show(f"{self._doing}: {units.duration(seconds, 2)} so far")
            pause = min(_AGAIN, self._patience)

    def _stop_waiting(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._over.set()
            thread.join()


class Screen:
    """One line of progress that the result replaces; none where output goes into a file.

    Args:
        shell: where to show it.
        active: whether a line of progress is to be shown.
    """

    def __init__(self, shell: InteractiveShell, *, active: bool) -> None:
        self._publisher = shell.display_pub  # the real one: while calls are made it is muted
        self._stream = sys.stdout
        in_kernel = getattr(shell, "kernel", None) is not None
        self._by_display = active and in_kernel and not _is_console(shell)
        self._by_line = active and not in_kernel and self._stream.isatty()
        self._handle: str | None = None
        self._written = self._replaced = False

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, failed: object, *_: object) -> None:
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

    def progress(self, doing: str) -> AbstractContextManager[Progress]:
        """Return what shows how far it is: what is going on, until there is more to say."""
        progress = Progress(self.show, Clock.elapsed(), doing)
        return progress if self._by_display or self._by_line else nullcontext(progress)

    def replace(self, result: object, **how: Any) -> None:
        """Show the result in the place of the line.

        Args:
            result: what to show.
            how: for IPython's `display`.
        """
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


def _is_console(shell: InteractiveShell) -> bool:
    """Whether a console asks the kernel, such as ``jupyter console``: it shows no updates.

    A result in the place of a line of progress would not be seen there. Consoles can be asked for
    input, which those that run notebooks cannot, and name no cell, which pages do.
    """
    request = shell.get_parent()
    return bool(request.get("content", {}).get("allow_stdin")) and not request.get("metadata")
