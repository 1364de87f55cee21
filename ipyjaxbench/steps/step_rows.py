"""Makes a row of each step of the moments that were noted: where its nanoseconds went."""

from collections.abc import Iterable
from dataclasses import dataclass, field

#: Places that are no statement. A statement is over at its own number, from zero.
NEXT, BODY, WAIT, AWAKE, DRAW, DRAWN, MARGIN, COMPILED, OVER = range(-1, -10, -1)
_BITS = 11
PLACES = 1 << _BITS  # that a moment can have, half of them below zero
_MASK = PLACES - 1
_WITHIN = (WAIT, AWAKE, DRAW, DRAWN)
MOST_ROWS = 2000  # of which each step has its own; of more, two that follow each other share one
_SHORT = 50  # times as long as a wait is a step of which that is no more than a moment
_FIRST_ROWS = 64  # always have one step each


def pack(place: int, nanoseconds: int) -> int:
    """Return a moment as one number."""
    return nanoseconds * PLACES + place + PLACES // 2


@dataclass(slots=True)
class Row:
    """One step, or several that follow each other: nanoseconds by site."""

    data: int = 0
    steps: int = 1
    compiled: bool = False
    complete: bool = False
    busy: dict[int, int] = field(default_factory=dict)
    waits: dict[int, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All of it."""
        return self.data + sum(self.busy.values()) + sum(self.waits.values())

    def is_like(self, other: "Row") -> bool:
        """Whether it may take the next row in."""
        if self.compiled or other.compiled or self.steps > other.steps:
            return False
        return self.complete and other.complete

    def absorb(self, other: "Row") -> None:
        """Take the next row in."""
        self.data += other.data
        self.steps += other.steps
        for mine, more in ((self.busy, other.busy), (self.waits, other.waits)):
            for site, ns in more.items():
                mine[site] = mine.get(site, 0) + ns


class StepRows:
    """Rows of steps, of moments that come in parts.

    Args:
        header: the site that time belongs to which is no statement's own.

    Attributes:
        rows: of the steps.
        waiting_steps: in how many complete steps a site waited, for no mere moment.
        runs: how often the loop began.
    """

    def __init__(self, header: int) -> None:
        self._header = header
        self.rows: list[Row] = []
        self.waiting_steps: dict[int, int] = {}
        self.runs = 0
        self._row: Row | None = None
        self._last = self._data = 0  # where the time begins that belongs to the next place
        self._waited = self._drawn = self._since = 0
        self._is_drawing = False
        self._is_over = False

    def add(self, moments: Iterable[int]) -> None:
        """Take moments in, each with its place, which follow those before."""
        first = PLACES // 2
        for moment in moments:
            now, place = moment >> _BITS, (moment & _MASK) - first
            if place < 0:
                self._turn(place, now)
            elif self._row is None or self._waited or self._drawn:
                self._leave(place, now)
            else:  # the most of them: loops are long, and so this is short
                busy = self._row.busy
                busy[place] = busy.get(place, 0) + now - self._last
                self._last = now
        self._thin_out()

    def _leave(self, site: int, now: int) -> None:
        """Count what passed since the last place to a site."""
        if (row := self._row) is not None:
            busy = now - self._last - self._waited - self._drawn
            row.data += self._drawn
            row.busy[site] = row.busy.get(site, 0) + busy
            if self._waited:
                row.waits[site] = row.waits.get(site, 0) + self._waited
        self._last = now
        self._waited = self._drawn = 0

    def _turn(self, place: int, now: int) -> None:
        """Come to another part of a step, or to a wait in a statement."""
        if place != OVER:
            self._is_over = False
        if place == BODY:
            self._row = Row(now - self._last)
            self._waited = self._drawn = 0
        elif place == NEXT:
            self._close(now, complete=True)
        elif place in _WITHIN:
            self._go_within(place, now)
            return
        elif place == OVER:
            self._close(now, complete=False)
            self.runs += not self._is_over  # it is so again behind its `else`
            self._is_over = True
        elif place == COMPILED and self.rows:
            self.rows[-1].compiled = True
        self._last = now

    def _go_within(self, place: int, now: int) -> None:
        """Begin or end a wait in a statement; one for a batch has others in it."""
        if place == AWAKE:
            self._waited += 0 if self._is_drawing else now - self._since
        elif place == DRAWN:
            self._drawn += now - self._since
            self._is_drawing = False
        else:
            self._since = self._since if self._is_drawing else now
            self._is_drawing |= place == DRAW

    def _close(self, now: int, *, complete: bool) -> None:
        """End a step; what its last statement left is the header's: going on, or breaking off."""
        if self._row is None:
            return
        self._leave(self._header, now)
        row, self._row = self._row, None
        row.complete = complete
        self.rows.append(row)
        if row.waits and complete:
            for site, waited in row.waits.items():
                if waited * _SHORT > row.total:
                    self.waiting_steps[site] = self.waiting_steps.get(site, 0) + 1
        self._is_drawing = False

    def _thin_out(self) -> None:
        """Have two steps share a row where there are very many."""
        while len(self.rows) > MOST_ROWS:
            kept = self.rows[:_FIRST_ROWS]
            for row in self.rows[_FIRST_ROWS:-1]:
                if len(kept) > _FIRST_ROWS and kept[-1].is_like(row):
                    kept[-1].absorb(row)
                else:
                    kept.append(row)
            if len(kept) + 1 == len(self.rows):
                return
            self.rows = [*kept, self.rows[-1]]
