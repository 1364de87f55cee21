"""Keeps what repeated calls print and display from flooding the notebook."""

from typing import Any

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench.usercode import Muted, StandIn


class MutedShell(Muted):
    """Also keeps what later calls display from being shown."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__((shell, "display_pub", _Unseen))


class _Unseen(StandIn, DisplayPublisher):
    """A stand-in for a shell's publisher."""

    def publish(self, *values: Any, **named: Any) -> None:
        if self.muted.active:
            self.muted.writes += 1
        else:
            self.real.publish(*values, **named)

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT001, FBT002
        """Nothing was shown that could be cleared, unless it is over."""
        if not self.muted.active:
            self.real.clear_output(wait)
