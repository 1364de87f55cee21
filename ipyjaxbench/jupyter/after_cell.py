"""What is looked at after each cell: what it traced and left stale, and what stopped it."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from ipyjaxbench.import_hook import LEARNED_FROM, is_for_another

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ipyjaxbench.retracing import TracedCall

#: Modules without which nothing can be learned: frameworks, and what magics have loaded of us.
_NEEDED = (*LEARNED_FROM, "ipyjaxbench.retracing.observe")
_MAX_REASONS, _MAX_STALE = 3, 5  # that are named


class TraceWatcher:
    """Learns from the frameworks what they trace, and shows one line below cells that traced.

    Attributes:
        is_on: whether that line is shown.
    """

    def __init__(self, names: Mapping[str, Any], cells: Mapping[str, int]) -> None:
        self.is_on = False
        self._names, self._cells = names, cells
        self._shown = 0
        self._stale: set[str] = set()  # what was stale after the cell before

    def switch(self, *, on: bool) -> None:
        """Show traces from now on, or no longer; those before are not shown, but what is stale."""
        from ipyjaxbench.retracing import TRACE_LOG

        self.is_on = on
        self._stale.clear()
        self._shown = TRACE_LOG.event_count

    def forget(self) -> None:
        """Have no code known by the cells of this shell any more."""
        if "ipyjaxbench.usercode" in sys.modules:
            from ipyjaxbench.usercode import CELLS

            CELLS[:] = [each for each in CELLS if each is not self._cells]

    def on_import(self, name: str) -> None:
        """Learn from a framework what the rest of the cell traces that has imported it."""
        if not is_for_another(name):
            with suppress(Exception):  # it is tried again when the cell ends
                self._learn()

    def _learn(self) -> None:
        from ipyjaxbench.retracing import keep_learning
        from ipyjaxbench.usercode import CELLS

        if not any(each is self._cells for each in CELLS):
            CELLS.append(self._cells)
        keep_learning()

    def on_cell_end(self, *_: Any) -> None:
        """Show what the cell that has run traced."""
        if sys.modules.keys().isdisjoint(_NEEDED):
            return
        from ipyjaxbench.retracing import TRACE_LOG

        self._learn()
        events = TRACE_LOG.events_since(self._shown)
        self._shown = TRACE_LOG.event_count
        if self.is_on and events:
            _show(events)
        if self.is_on:
            self._show_stale()

    def _show_stale(self) -> None:
        """Show what functions of these names run other than the names say since this cell."""
        from ipyjaxbench import units
        from ipyjaxbench.jupyter.screen import show
        from ipyjaxbench.retracing import describe_changes, find_stale_functions

        found = [*find_stale_functions(self._names)]
        lines = [f"stale: {name} ({describe_changes(changes)})" for name, changes in found]
        new = [line for line in dict.fromkeys(lines) if line not in self._stale]
        if rest := new[_MAX_STALE:]:
            new[_MAX_STALE:] = [f"stale: {units.count(len(rest), 'other function')}"]
        for line in new:
            show({"text/plain": line}, raw=True)
        self._stale = {*lines}  # a program that becomes stale again is shown again


def _show(events: list[TracedCall]) -> None:
    from ipyjaxbench import units
    from ipyjaxbench.jupyter.screen import show
    from ipyjaxbench.retracing import group_reasons, number_calls

    reasons = group_reasons(number_calls(events))
    shown = ", ".join(f"{each.functions} ({each.words})" for each in reasons[:_MAX_REASONS])
    rest = len(reasons) - _MAX_REASONS
    more = f" and {units.count(rest, 'other reason')}" if rest > 0 else ""
    seconds = sum(s for event in events for s in event.phases.values())
    times = f"{len(events):,} times" if len(events) > 1 else ""
    took = f"in {units.duration(seconds, 2)}" if seconds else ""
    line = ", ".join(filter(None, (f"traced: {shown}{more}", f"{times} {took}".strip())))
    show({"text/plain": line}, raw=True)


class LastError:
    """Keeps the error that stopped a cell last: a mistyped magic does not make it forgotten."""

    def __init__(self) -> None:
        self._before: BaseException | None = None

    def value(self) -> BaseException | None:
        """Return the error; of a magic that was mistyped only where there is no other."""
        last: BaseException | None = getattr(sys, "last_value", None)
        return self._before if self._before is not None and _is_mistyped(last) else last

    def on_cell_end(self, *_: Any) -> None:
        """Keep the error of the cell that has run, unless it is a mistyped magic's."""
        last = getattr(sys, "last_value", None)
        if not _is_mistyped(last):
            self._before = last

    def forget(self) -> None:
        """Keep none."""
        self._before = None


def _is_mistyped(error: BaseException | None) -> bool:
    return isinstance(error, UsageError) and getattr(error, "diagnosis", None) is None
