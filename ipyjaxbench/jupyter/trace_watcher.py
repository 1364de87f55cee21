"""One line below each cell that traced something; nothing below the others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from ipyjaxbench import units
from ipyjaxbench.jupyter.display import show

if TYPE_CHECKING:
    from ipyjaxbench.retracing.trace_log import TraceEvent

#: Modules without which nothing can be learned: frameworks, and what magics have loaded of us.
_LEARNED_FROM = ("jax", "torch", "tensorflow", "ipyjaxbench.retracing.observe")
_MOST = 3  # functions that are named


class TraceWatcher:
    """Learns from the frameworks what they trace, and tells it where that is wanted.

    Args:
        shell: whose cells are watched.

    Attributes:
        is_on: whether traces are told.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self.is_on = False
        self._told = 0

    def enter(self) -> None:
        """Watch from now on; what was traced before that is no news."""
        if self.is_on:
            self.switch(on=True)
        self._shell.events.register("post_run_cell", self._after)

    def switch(self, *, on: bool) -> None:
        """Tell of traces from now on, or no longer."""
        from ipyjaxbench.retracing.trace_log import TRACE_LOG

        self.is_on = on
        self._told = TRACE_LOG.event_count

    def leave(self) -> None:
        """Watch no longer."""
        self._shell.events.unregister("post_run_cell", self._after)

    def _after(self, *_: Any) -> None:
        if sys.modules.keys().isdisjoint(_LEARNED_FROM):
            return
        from ipyjaxbench.retracing.observe import keep_learning
        from ipyjaxbench.retracing.trace_log import TRACE_LOG

        keep_learning()  # the cell may have imported a framework
        events = TRACE_LOG.events_since(self._told)
        self._told = TRACE_LOG.event_count
        if self.is_on and events:
            show({"text/plain": _line(events)}, raw=True)


def _line(events: list[TraceEvent]) -> str:
    shown = [
        f"{each.name} ({'; '.join(change.words() for change in each.why) or '?'})"
        for each in events[:_MOST]
    ]
    more = f" and {len(events) - _MOST} more" if len(events) > _MOST else ""
    seconds = sum(s for each in events for s in each.miss.phases.values())
    return f"traced: {', '.join(shown)}{more}, in {units.duration(seconds, 2)}"
