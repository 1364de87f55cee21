"""Calls of compiled functions that dynamo skips, whoever makes them: its own hooks are silent."""

import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

from torch._guards import CompileContext

from ipyjaxbench.adapters.shared.retracing import main_frame, site_of
from ipyjaxbench.adapters.torch.compile_events import DynamoEvents
from ipyjaxbench.adapters.torch.retracing import callee
from ipyjaxbench.adapters.torch.retracing.frames import attribute
from ipyjaxbench.adapters.torch.retracing.other_threads import threads_in
from ipyjaxbench.retracing import CachedCall, Change, OnHit, Outcome
from ipyjaxbench.usercode import Site

DISABLED = Change("guard", new="torch.compiler.disable")
_SKIPPED = ("EAGER-FALLBACK", "BYPASSED")


class _Begun(NamedTuple):
    """A call that began, and how many searches of its thread and entries there were by then."""

    function: Any
    site: Site
    searches: int
    entries: int
    is_disabled: bool  # by `torch.compiler.disable`


class SkippedCalls:
    """Reports calls for which dynamo had reported nothing when the next call began.

    Args:
        events: of dynamo.
        outcome: says what became of a call of a function, by entries of dynamo's and searches.
    """

    def __init__(
        self,
        events: DynamoEvents,
        outcome: Callable[[Any, Sequence[Any], Sequence[bool]], Outcome | None],
    ) -> None:
        self.report: OnHit | None = None
        self._events, self._outcome = events, outcome
        self._begun: dict[int, _Begun] = {}  # by thread

    def begin(self, frame: FrameType) -> None:
        """Note the call in a frame of PyTorch's."""
        thread, searches = threading.get_ident(), self._events.hits
        call, disabled = callee.called_from(frame), callee.disabled_in(frame)
        function = disabled if call is None else call[0]
        if function is None or searches is None or CompileContext.current_compile_id() is not None:
            return  # what dynamo calls while it compiles is none of the user's
        self._settle(thread)
        self._begun[thread] = _Begun(
            function,
            site_of(frame, main_frame()),
            len(searches[thread]),
            len(self._events.read()),
            is_disabled=disabled is not None,
        )

    def settle(self) -> None:
        """Tell of the latest call of each thread, if it is over and dynamo skipped it."""
        for thread, begun in [*self._begun.items()]:
            if thread not in threads_in(begun.function):
                self._settle(thread)

    def _settle(self, thread: int) -> None:
        begun = self._begun.pop(thread, None)
        if begun is None or self.report is None or self._events.hits is None:
            return
        new = self._events.read()[begun.entries :]
        entries = [each.metrics for each in new if each.thread in (None, thread)]
        is_made = any(attribute(each, "graph_op_count") is not None for each in entries)
        hits = self._events.hits[thread][begun.searches :]
        if is_made or any(hits):
            return  # the other hooks tell
        outcome = self._outcome(begun.function, entries, hits)
        if begun.is_disabled:
            outcome = Outcome("BYPASSED", why=(DISABLED,))
        if outcome is not None and outcome.state in _SKIPPED:
            call = CachedCall(begun.function, (), {}, begun.site, outcome=outcome)
            self.report(lambda: call)
