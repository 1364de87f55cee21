"""What a shell shows while and after code runs: one line of progress, then the result."""

import os
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench import units
from ipyjaxbench.host.clock import Clock
from ipyjaxbench.jupyter.display import show
from ipyjaxbench.jupyter.progress import Progress
from ipyjaxbench.usercode.output import Muted


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
        if self._written:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
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
        """Tells how far it is: what is going on, until there is more to tell."""
        told = Progress(self.show, Clock.elapsed(), doing)
        return told if self._by_display or self._by_line else nullcontext(told)

    def replace(self, result: object, **how: Any) -> None:
        """Show the result in the place of the line.

        Args:
            result: what to show.
            how: for IPython's `display`.
        """
        self._replaced = True
        if self._handle is not None:
            how |= {"display_id": self._handle, "update": True}
        show(result, **how)

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


class MutedShell(Muted):
    """Also keeps what later calls display from being shown."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__()
        self._shell = shell

    def __enter__(self) -> "MutedShell":
        self._shell.display_pub = _Unseen(self, self._shell.display_pub)
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        publisher = self._shell.display_pub
        while isinstance(publisher, _Unseen) and not publisher.is_needed:
            publisher = publisher.publisher  # another thread's may be left after this one
        self._shell.display_pub = publisher


class _Unseen(DisplayPublisher):
    """A stand-in for a shell's publisher, which gets all that is not to be muted.

    Attributes:
        publisher: the shell's.
    """

    def __init__(self, muted: Muted, publisher: DisplayPublisher) -> None:
        super().__init__()
        self._muted, self.publisher = muted, publisher

    @property
    def is_needed(self) -> bool:
        """Whether the muting goes on, wherever code runs now."""
        return self._muted.goes_on

    def __getattr__(self, name: str) -> Any:
        """What a front end's own publisher has beside; the kernel asks for it."""
        return getattr(self.publisher, name)

    def publish(self, *values: Any, **named: Any) -> None:
        if not self._muted.active:
            self.publisher.publish(*values, **named)
            return
        self._muted.writes += 1

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT001, FBT002
        """Nothing was shown that could be cleared, unless it is over."""
        if not self._muted.active:
            self.publisher.clear_output(wait)
