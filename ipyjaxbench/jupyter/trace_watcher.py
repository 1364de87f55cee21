"""One line below each cell that traced something; nothing below the others."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ipyjaxbench import units
from ipyjaxbench.jupyter.display import show

if TYPE_CHECKING:
    from ipyjaxbench.retracing import TraceEvent

#: Modules without which nothing can be learned: frameworks, and what magics have loaded of us.
_LEARNED_FROM = ("jax", "torch", "tensorflow", "ipyjaxbench.retracing.observe")
_MAX_NAMES = 3  # of functions


class TraceWatcher:
    """Learns from the frameworks what they trace, and shows it below cells where that is wanted.

    Attributes:
        is_on: whether it is shown.
    """

    def __init__(self) -> None:
        self.is_on = False
        self._shown = 0

    def switch(self, *, on: bool) -> None:
        """Show traces from now on, or no longer; those before are not shown."""
        from ipyjaxbench.retracing import TRACE_LOG

        self.is_on = on
        self._shown = TRACE_LOG.event_count

    def after_cell(self, *_: Any) -> None:
        """Show what the cell that has run traced."""
        if sys.modules.keys().isdisjoint(_LEARNED_FROM):
            return
        from ipyjaxbench.retracing import TRACE_LOG, keep_learning

        keep_learning()  # the cell may have imported a framework
        events = TRACE_LOG.events_since(self._shown)
        self._shown = TRACE_LOG.event_count
        if self.is_on and events:
            show({"text/plain": _line(events)}, raw=True)


def _line(events: list[TraceEvent]) -> str:
    shown = [
        f"{each.name} ({'; '.join(change.words() for change in each.why) or '?'})"
        for each in events[:_MAX_NAMES]
    ]
    more = f" and {len(events) - _MAX_NAMES} more" if len(events) > _MAX_NAMES else ""
    seconds = sum(s for each in events for s in each.miss.phases.values())
    return f"traced: {', '.join(shown)}{more}, in {units.duration(seconds, 2)}"
