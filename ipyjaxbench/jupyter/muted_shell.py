"""Keeps what repeated calls print and display from flooding the notebook."""

from typing import Any

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.usercode.output import Muted


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
        """Whether the muting is on, wherever code runs now."""
        return self._muted.is_on

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
