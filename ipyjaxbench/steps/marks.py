"""The moments that are noted while a loop runs: a number for the place, and nanoseconds."""

import sys
from array import array
from collections.abc import Callable

from ipyjaxbench.host import Clock
from ipyjaxbench.steps.loop_watch import LoopWatch
from ipyjaxbench.steps.step_rows import (
    BODY,
    COMPILED,
    DRAW,
    DRAWN,
    MARGIN,
    NEXT,
    OVER,
    PLACES,
    StepRows,
    pack,
)

_PROBED = 8  # steps, in which it is looked at what the statements left
_LONGER = 2  # times longer than asking alone: then something still ran
_LONG_NS = 1_000_000  # of a step: no compilation takes less
_FOLD = 2_000_000  # moments, 8 bytes each: from there on they are made rows


class Marks:
    """What the marks in a loop call; each notes the moment, and no more.

    Args:
        rows: are made of the moments.
        watch: looks at what statements leave, in the first steps, and at compilations.

    Attributes:
        note: notes a place.
        mark: the same, at the end of a statement.
        backlog: nanoseconds for which devices worked on after the loop.
        was_stopped: whether an exception ended it, so that there is no backlog that is known.
    """

    def __init__(self, rows: StepRows, watch: LoopWatch) -> None:
        self._rows, self._watch = rows, watch
        self._moments = array("q")
        self._now = Clock.elapsed().now
        self._start = self._now()
        self._steps = self._compiled = 0
        self._began = self._shortest = 0
        self._outside: object = None
        self.backlog = 0
        self.was_stopped = False
        self.note = _noting(self._moments, self._now, self._start)
        self.mark: Callable[[int], None] = self._mark_and_look

    def begin(self) -> None:
        """Note that the loop begins: what follows is the wait for its first batch."""
        self._outside = sys.exception()
        self._watch.open(self.note)
        self._compiled = self._watch.compilations()
        self.note(NEXT)

    def body(self) -> None:
        """Note that a batch has come."""
        self._began = now = self._now()
        self._moments.append(pack(BODY, now - self._start))

    def _mark_and_look(self, site: int) -> None:
        """Note the end of a statement, and look at what it left."""
        self.note(site)
        self._watch.look(site, sys._getframe(1))
        self.note(MARGIN)

    def end(self) -> None:
        """Note the end of a step."""
        now = self._now()
        self._moments.append(pack(NEXT, now - self._start))
        took = now - self._began
        if self._steps > _PROBED and took < _LONG_NS and len(self._moments) < _FOLD:
            return
        self._steps += 1
        if self._steps == 1:
            self._watch.look(NEXT, sys._getframe(1))
        self._ask_for_compilations(took)
        if self._steps == _PROBED:
            self.mark = self.note
        if len(self._moments) >= _FOLD:
            self.fold()
        self.note(MARGIN)

    def _ask_for_compilations(self, took: int) -> None:
        """Note whether something was compiled in a step, where it was so long."""
        if self._steps > _PROBED and took <= 2 * self._shortest:
            return
        compiled = self._watch.compilations()
        if compiled != self._compiled:
            self.note(COMPILED)
        self._compiled = compiled
        self._shortest = took if self._steps == 1 else min(took, self._shortest)

    def over(self) -> None:
        """Note that the loop is over, and wait for what it left on devices."""
        now = self._now()
        self._moments.append(pack(OVER, now - self._start))
        if sys.exception() not in (None, self._outside):
            self.was_stopped = True  # what runs on is not waited for: it may be for ever
            return
        self._watch.wait()
        middle = self._now()
        self._watch.wait()  # for nothing: what asking takes
        asking = self._now() - middle
        if middle - now > _LONGER * asking:
            self.backlog += middle - now - asking

    def draw(self) -> None:
        """Note that a batch is drawn inside of a statement."""
        self.note(DRAW)

    def drawn(self) -> None:
        """Note that it has come."""
        self.note(DRAWN)

    def fold(self) -> StepRows:
        """Make rows of the moments so far."""
        self._rows.add(self._moments)
        del self._moments[:]
        return self._rows


def _noting(moments: "array[int]", now: Callable[[], int], start: int) -> Callable[[int], None]:
    """Return what notes a place: one number each, so that Ctrl-C leaves no half of one."""
    append, first = moments.append, PLACES // 2

    def note(place: int) -> None:
        append((now() - start) * PLACES + place + first)

    return note
