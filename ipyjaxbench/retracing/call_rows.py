"""The rows of calls that are recorded: one for each call, or for several cache hits in a row."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ipyjaxbench.frameworks import Framework, Program
from ipyjaxbench.retracing.protocol import CallWatch
from ipyjaxbench.retracing.traces import TracedCall
from ipyjaxbench.usercode import Site

#: A place, and the function that is called there.
Key = tuple[Site, tuple[int, ...]]


class Callee(NamedTuple):
    """A compiled function, and where it is called."""

    framework: Framework
    watch: CallWatch
    site: Site
    function: Any


@dataclass
class Row:
    """A call, and how many cache hits like it followed."""

    call: TracedCall
    nanoseconds: int | None  # None for one that was reported: its phases may still grow
    last: int
    times: int = 1
    before: "Row | None" = None  # the row of that place before it

    def whole(self) -> TracedCall:
        """Return the call as it is now."""
        phases = dict(self.call.phases)
        known = self.nanoseconds
        seconds = sum(phases.values()) if known is None else known * 1e-9
        return replace(self.call, times=self.times, last=self.last, seconds=seconds, phases=phases)


class CallRows:
    """All rows, in the order in which their first calls began."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._last: dict[Key, Row] = {}
        self._numbers = Counter[tuple[str, str]]()

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def number(self, framework: str, name: str) -> int:
        """Return which call of a function the next one is."""
        self._numbers[framework, name] += 1
        return self._numbers[framework, name]

    def last(self, key: Key) -> Row | None:
        """Return the latest row of a place."""
        return self._last.get(key)

    def add(self, call: TracedCall, spent: int, key: Key) -> Row:
        """Add a row of a place."""
        row = self._last[key] = Row(call, spent, call.number, before=self._last.get(key))
        self._rows.append(row)
        return row

    def add_reported(self, call: TracedCall) -> None:
        """Add a row of no known place: hits after it have rows after it."""
        number = self.number(call.framework, call.full_name or call.name)
        self._rows.append(Row(replace(call, number=number), None, number))
        self._last.clear()

    def take_back(self, key: Key) -> None:
        """Take the latest call of a place out again: it is to be added as another one."""
        row = self._last.get(key)
        if row is None:
            return
        row.times -= 1
        row.last -= 1
        self._numbers[row.call.framework, row.call.full_name or row.call.name] -= 1
        if not row.times:
            self._rows = [each for each in self._rows if each is not row]
            del self._last[key]
            if row.before is not None:
                self._last[key] = row.before


def drop_programs(programs: Iterable[Program], names: list[str]) -> Iterator[Program]:
    """Yield the programs but for one of each of these names."""
    for program in programs:
        if program.name in names:
            names.remove(program.name)
        else:
            yield program
