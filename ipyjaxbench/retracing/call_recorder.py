"""Makes each call in some code, and records whether compiled functions were traced or cached."""

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Framework, Program
from ipyjaxbench.graphs import GraphTracer
from ipyjaxbench.host import Clock
from ipyjaxbench.retracing.cache_key import Change, Signature
from ipyjaxbench.retracing.protocol import (
    Args,
    CachedCall,
    CallWatch,
    Kwargs,
    Outcome,
    Watches,
)
from ipyjaxbench.retracing.stale import find_unknown
from ipyjaxbench.retracing.stale_calls import StaleCalls
from ipyjaxbench.retracing.trace_log import CLEARED, DROPPED, TRACE_LOG
from ipyjaxbench.retracing.traces import COSTLY, TRACED, TracedCall, too_many_traces
from ipyjaxbench.usercode import (
    OutputRecorder,
    Site,
    Written,
    ask,
    call_of,
    describe_error,
)

_CACHED = ("CACHED", "STALE")
_UNSEEN = Change("first", new="reason unknown (earlier traces were not observed)")


class _Callee(NamedTuple):
    """A compiled function, and where it is called."""

    framework: Framework
    watch: CallWatch
    site: Site
    function: Any


@dataclass
class _Row:
    """A call, and how many cache hits like it followed."""

    call: TracedCall
    nanoseconds: int | None  # None for one that was reported: its phases may still grow
    last: int
    times: int = 1

    def whole(self) -> TracedCall:
        """Return the call as it is now."""
        phases = dict(self.call.phases)
        known = self.nanoseconds
        seconds = sum(phases.values()) if known is None else known * 1e-9
        return replace(self.call, times=self.times, last=self.last, seconds=seconds, phases=phases)


class CallRecorder:
    """A hook that makes each call, records those of compiled functions, and counts others.

    Calls that other code makes, as `map` does, are reported: by the log of traces those that were
    not cached, by the framework those that were. How long these took is not known.
    """

    def __init__(self, watches: Watches, printed: OutputRecorder, most: int | None) -> None:
        self._watches, self._printed, self._most = watches, printed, most
        self._clock = Clock.elapsed()
        self._stale = StaleCalls(self._clock)
        self._rows: list[_Row] = []
        self._last: dict[tuple[Site, int], _Row] = {}
        self._numbers = Counter[tuple[str, str]]()
        self._inside = threading.local()
        self._adding = threading.RLock()
        self._traced = 0
        self._event_count = TRACE_LOG.event_count
        self.other_calls = 0
        for framework, watch in watches:
            watch.report_hits(partial(self._on_hit, framework, watch))

    def pick(self, site: Site, function: Any, /) -> Any:
        """Return a compiled function with a watch around it; any other one as it is."""
        if getattr(self._inside, "call", False):
            return function
        for callee in (function, call_of(function)):
            for framework, watch in self._watches:
                if ask(watch.takes, callee):
                    return partial(self._watched, _Callee(framework, watch, site, callee))
        self.other_calls += 1
        return function

    def calls(self) -> tuple[TracedCall, ...]:
        """Return the calls in the order in which they began."""
        self._add_reported()
        return tuple(row.whole() for row in self._rows)

    def close(self) -> None:
        """Hold none of the user's values any more; frameworks keep the code with the hook."""
        self._stale.close()

    def outside(self) -> tuple[Program, ...]:
        """Return the programs that were made outside of these calls."""
        reported = [row.call.name for row in self._rows if row.nanoseconds is None]
        programs = (program for _, watch in self._watches for program in watch.outside())
        return tuple(_drop_programs(programs, reported))

    def _watched(self, callee: _Callee, /, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        framework, watch, _, function = callee
        mark = watch.begin_call(function)
        before = self._printed.begin()
        self._inside.call = True
        start = self._clock.now()
        error: BaseException | None = None
        try:
            with TRACE_LOG.paused():
                value = function(*args, **kwargs)
                watch.wait(value)
            return value
        except BaseException as raised:
            error = raised
            raise
        finally:
            spent = self._clock.now() - start
            self._inside.call = False
            written = self._printed.end(before)
            outcome = watch.end_call(function, mark)
            if outcome is None and error is None:
                self._add_cached(callee, spent, args, kwargs)
            else:
                call = self._call(callee, outcome or Outcome("?"), error, args, kwargs)
                printed = _printed_by_tracing(written, outcome, watch)
                row = self._append(callee, replace(call, printed=printed), spent)
                if error is not None:  # last: the diagnosis may take long, and be interrupted
                    row.call = _explain(row.call, framework, error)
                if call.state in COSTLY:
                    self._count()

    def _call(
        self,
        callee: _Callee,
        outcome: Outcome,
        error: BaseException | None,
        args: Args,
        kwargs: Kwargs,
    ) -> TracedCall:
        """Return what became of a call that was not cached, why, and what to write."""
        framework, watch, site, function = callee
        name = watch.name(function)
        says = ""
        if error is not None:
            outcome = Outcome("RAISED")
            says = describe_error(error)
        elif outcome.state in (*COSTLY, "SLOW-PATH"):
            signature = watch.signature(function, args, kwargs)
            outcome = _add_reason(outcome, framework.name, name, signature)
            if outcome.state in TRACED:
                code = watch.traced_code(function, args, kwargs)
                TRACE_LOG.add(framework.name, name, signature, code)
        if not outcome.why and outcome.state in (*COSTLY, "?"):
            says = outcome.framework_reason
        fixes = () if outcome.state == "SLOW-PATH" else watch.fixes(name, outcome.why)
        return TracedCall(
            name, framework.name, site.line, site.text, self._number(framework.name, name), 1,
            outcome.state, 0.0, dict(outcome.phases), outcome.why, says, fixes, outcome.nested,
            breaks=outcome.breaks, disk_misses=outcome.disk_misses,
        )  # fmt: skip

    def _on_hit(
        self, framework: Framework, watch: CallWatch, find: Callable[[], CachedCall | None]
    ) -> None:
        """Record a call that found its program, unless it is part of one that is recorded."""
        if getattr(self._inside, "call", False):
            return
        found = find()
        if found is not None:
            callee = _Callee(framework, watch, found.site, found.function)
            self._add_cached(callee, 0, found.args, found.kwargs)

    def _add_reported(self) -> None:
        """Add the uncached calls that the log of traces saw and no hook of ours did."""
        with self._adding:
            new = TRACE_LOG.events_since(self._event_count)
            self._event_count = TRACE_LOG.event_count
            for event in new:
                number = self._number(event.framework, event.name)
                self._rows.append(_Row(replace(event, number=number), None, number))
                self._last.clear()  # hits after it have rows after it

    def _add_cached(self, callee: _Callee, spent: int, args: Args, kwargs: Kwargs) -> None:
        with self._adding:
            self._add_hit(callee, spent, args, kwargs)

    def _add_hit(self, callee: _Callee, spent: int, args: Args, kwargs: Kwargs) -> None:
        framework, watch, site, function = callee
        self._add_reported()
        last = self._last.get((site, id(function)))
        is_new = last is None or last.call.state not in _CACHED
        self._inside.call = True  # the code is traced aside, and makes no calls of the cell
        stale = self._stale.find(watch, function, args, kwargs)
        unknown = find_unknown(watch, function, args, kwargs) if is_new and not stale else ""
        self._inside.call = False
        state = "STALE" if stale else "CACHED"
        if last is not None and last.call.state == state and _paths(last.call.why) == _paths(stale):
            last.times += 1
            last.last = self._number(framework.name, last.call.name)
            last.nanoseconds = (last.nanoseconds or 0) + spent
        else:
            name = watch.name(function)
            number = self._number(framework.name, name)
            fixes = watch.fixes(name, stale)
            call = TracedCall(name, framework.name, site.line, site.text, number, 1, state, 0.0,
                              why=stale, fixes=fixes, unknown=unknown)  # fmt: skip
            self._append(callee, call, spent)

    def _number(self, framework: str, name: str) -> int:
        self._numbers[framework, name] += 1
        return self._numbers[framework, name]

    def _append(self, callee: _Callee, call: TracedCall, spent: int) -> _Row:
        row = _Row(call, spent, call.number)
        with self._adding:
            self._add_reported()
            self._rows.append(row)
            self._last[callee.site, id(callee.function)] = row
        return row

    def _count(self) -> None:
        """Count a trace; raise where it is one too many."""
        __tracebackhide__ = True
        self._traced += 1
        if self._most is not None and self._traced > self._most:
            costly = [row.call for row in self._rows if row.call.state in COSTLY]
            raise too_many_traces(costly, self._most)


def _drop_programs(programs: Iterable[Program], names: list[str]) -> Iterator[Program]:
    """Yield the programs but for one of each of these names."""
    for program in programs:
        if program.name in names:
            names.remove(program.name)
        else:
            yield program


def _paths(changes: Sequence[Change]) -> list[str]:
    return [change.path for change in changes]


def _add_reason(outcome: Outcome, framework: str, name: str, signature: Signature) -> Outcome:
    """Return an outcome with why the call was not cached, against what was traced before."""
    placed = outcome.state in ("RECOMPILED", "SLOW-PATH")
    if outcome.cleared:
        TRACE_LOG.drop(framework, name, signature.function)
    why = [*outcome.why] or TRACE_LOG.reasons(
        framework, name, signature, placed=placed, accepted=outcome.accepted
    )
    is_sure = outcome.known is False or TRACE_LOG.is_dropped(signature)
    if not why or (why == [DROPPED] and not is_sure):
        why = [*outcome.fallback_reasons] or why
    TRACE_LOG.add(framework, name, signature)
    state = outcome.state
    if [change.kind for change in why] == ["first"] and why[0] not in (DROPPED, CLEARED):
        if outcome.known:
            why = [*outcome.fallback_reasons] or [_UNSEEN]
        elif state == "RECOMPILED":
            state = "COMPILED"
    return replace(outcome, state=state, why=tuple(why))


def _printed_by_tracing(
    written: Sequence[Written], outcome: Outcome | None, watch: CallWatch
) -> str:
    """Return what was printed while something was traced, and not while it ran."""
    if outcome is None or outcome.state not in COSTLY or not watch.prints_while_tracing:
        return ""
    until = math.inf if outcome.traced_until is None else outcome.traced_until
    texts = (text for when, text in written if when <= until)
    return "".join(text for text in texts if not any(part in text for part in watch.messages))


def _explain(call: TracedCall, framework: Framework, error: BaseException) -> TracedCall:
    """Return a call with why it raised an error, and what to write instead."""
    try:
        diagnosis = framework.capability(GraphTracer).explain(error)
    except CODE_ERRORS:  # the user's own error is raised
        diagnosis = None
    if diagnosis is None:
        return call
    fixes = tuple(fix.code for fix in diagnosis.fixes)
    return replace(call, says=f"{call.says}: {diagnosis.because}", fixes=fixes or call.fixes)
