"""Makes each call in some code, and records whether compiled functions were traced or cached."""

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ipyjaxbench.frameworks import Framework, Program
from ipyjaxbench.host import Clock
from ipyjaxbench.retracing.cache_key import Change
from ipyjaxbench.retracing.call_rows import Callee, CallRows, Key, Row, drop_programs
from ipyjaxbench.retracing.inspected_calls import InspectedCalls
from ipyjaxbench.retracing.kept_bodies import StaleBody
from ipyjaxbench.retracing.protocol import Args, CachedCall, CallWatch, Kwargs, Outcome, Watches
from ipyjaxbench.retracing.stale import find_stale, find_unknown
from ipyjaxbench.retracing.stale_calls import StaleCalls, identity_of
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.retracing.traces import COSTLY, TRACED, TracedCall, tell_apart, too_many_traces
from ipyjaxbench.retracing.uncached import add_reason, explain_error, printed_by_tracing
from ipyjaxbench.usercode import (
    CallFrames,
    OutputRecorder,
    Site,
    ask,
    call_of,
    cell_of,
    describe_error,
    is_plain_function,
)

_CACHED = ("CACHED", "STALE")


class CallRecorder:
    """A hook that makes each call, records those of compiled functions, and counts others.

    Calls that other code makes, as `map` does, are reported: by the log of traces those that were
    not cached, by the framework those that were. How long these took is not known.

    Attributes:
        watches: of the frameworks whose calls are recorded.
        file: holds the code whose calls are recorded; other lines are shown with their cell.
        on_import: is called before the next call when the code has imported something.
    """

    def __init__(self, watches: Watches, printed: OutputRecorder, most: int | None) -> None:
        self._printed, self._most = printed, most
        self.file = ""
        self.watches: list[tuple[Framework, CallWatch]] = []
        self.on_import: Callable[[], object] = lambda: None
        self._modules = len(sys.modules)
        self._clock = Clock.elapsed()
        self._stale = StaleCalls(self._clock)
        self._takers: dict[int, Watches] = {}  # by the class of what was called
        self._rows = CallRows()
        self._frames = CallFrames()
        self._inside = threading.local()
        self._inspected = InspectedCalls(self._inside, self._add_cached, self._add_stale_body)
        self._adding = threading.RLock()
        self._traced = 0
        self._begin = self._event_count = TRACE_LOG.event_count
        self.other_calls = 0
        for framework, watch in watches:
            self.add_watch(framework, watch)

    def add_watch(self, framework: Framework, watch: CallWatch) -> None:
        """Record the calls of a framework, whose watch is not open yet."""
        watch.report_hits(partial(self._on_hit, framework, watch))
        self.watches.append((framework, watch))

    def pick(self, site: Site, function: Any, /) -> Any:
        """Return a compiled function with a watch around it; any other one as it is."""
        if getattr(self._inside, "call", False):
            return function
        if len(sys.modules) != self._modules:
            self._find_imported()
        if not is_plain_function(function):
            callee = self._callee(site, function) or self._callee(site, call_of(function))
            if callee is not None:
                return partial(self._watched, callee)
        self.other_calls += 1
        return self._inspected.look_after(self.watches, site, function)

    def _find_imported(self) -> None:
        with self._adding:
            self._modules = len(sys.modules)
            self.on_import()

    def _callee(self, site: Site, function: Any) -> Callee | None:
        kind = id(type(function))  # a metaclass may say what it likes of equality
        known = self._takers.get(kind, ())  # asked first: the others take microseconds
        for taker in (*known, *self.watches):
            if ask(taker[1].takes, function):
                self._takers[kind] = (taker,)
                return Callee(*taker, site, function)
        return None

    def _add_stale_body(self, callee: Callee, body: StaleBody) -> None:
        framework, site = callee.framework.name, callee.site
        number = self._rows.number(framework, body.name)
        call = TracedCall(body.name, framework, site.line, site.text, number, 1, "STALE", 0.0,
                          why=(body.change,), fixes=(body.fix,), cell=self._cell(site))  # fmt: skip
        self._append(callee, call, 0)

    def calls(self, *, raised: bool = False) -> tuple[TracedCall, ...]:
        """Return the calls in the order in which they began; ``raised`` if the code did.

        Then the latest call may be the one that raised: nothing comes after it that tells.
        """
        for _, watch in () if raised else self.watches:
            watch.settle()
        self._add_reported()
        return tell_apart([row.whole() for row in self._rows])

    def also_traced(self) -> tuple[str, ...]:
        """Return the functions that were traced outside of calls."""
        reported = {row.call.name for row in self._rows if row.nanoseconds is None}
        found = (name for _, watch in self.watches for name in watch.also_traced())
        return tuple(dict.fromkeys(name for name in found if name not in reported))

    def close(self) -> None:
        """Hold none of the user's values any more; frameworks keep the code with the hook."""
        self._stale.close()
        self._inspected.close()
        self._frames = CallFrames()

    def outside(self) -> tuple[Program, ...]:
        """Return the programs that were made outside of these calls."""
        reported = [row.call.name for row in self._rows if row.nanoseconds is None]
        programs = (program for _, watch in self.watches for program in watch.outside())
        return tuple(drop_programs(programs, reported))

    def _watched(self, callee: Callee, /, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        framework, watch, site, function = callee
        call_it = self._frames.caller(site, sys._getframe(1))
        mark = watch.begin_call(function, args, kwargs)
        before = self._printed.begin()
        self._inside.call = True
        start = self._clock.now()
        error: BaseException | None = None
        try:
            with TRACE_LOG.paused():
                value = call_it(function, args, kwargs)
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
                printed = printed_by_tracing(written, outcome, watch)
                row = self._append(callee, replace(call, printed=printed), spent)
                if error is not None:  # last: the diagnosis may take long, and be interrupted
                    row.call = explain_error(row.call, framework, error)
                if call.state in COSTLY:
                    self._count()

    def _call(
        self,
        callee: Callee,
        outcome: Outcome,
        error: BaseException | None,
        args: Args,
        kwargs: Kwargs,
    ) -> TracedCall:
        """Return what became of a call that was not cached, why, and what to write."""
        framework, watch, site, function = callee
        name, full_name = watch.name(function), watch.full_name(function)
        says = ""
        with self._adding:  # which began before it
            self._add_reported()
        if error is not None:
            outcome = Outcome("RAISED")
            says = describe_error(error)
        elif outcome.state in (*COSTLY, "SLOW-PATH"):
            signature = outcome.signature or watch.signature(function, args, kwargs)
            outcome = add_reason(outcome, framework.name, signature, watch, function)
            if outcome.state in TRACED:
                code = watch.traced_code(function, args, kwargs)
                TRACE_LOG.add(framework.name, name, signature, outcome.why, code)
            # A trace may have been there, as one within another function's, or be part of this.
            self._inside.call = True
            stale = find_stale(watch, function, args, kwargs)
            self._inside.call = False
            outcome = replace(outcome, why=(*outcome.why, *stale))
        if not outcome.why and outcome.state in (*COSTLY, "?"):
            says = outcome.framework_reason
        fixes = () if outcome.state == "SLOW-PATH" else watch.fixes(name, outcome.why, function)
        number = self._rows.number(framework.name, full_name or name)
        return TracedCall(
            name, framework.name, site.line, site.text, number, 1,
            outcome.state, 0.0, dict(outcome.phases), outcome.why, says, fixes, outcome.nested,
            breaks=outcome.breaks, disk_misses=outcome.disk_misses, full_name=full_name,
            cell=self._cell(site),
        )  # fmt: skip

    def _on_hit(
        self, framework: Framework, watch: CallWatch, find: Callable[[], CachedCall | None]
    ) -> None:
        """Record a call that found its program, unless it is part of one that is recorded."""
        if getattr(self._inside, "call", False):
            return
        found = find()
        if found is not None:
            callee = Callee(framework, watch, found.site, found.function)
            with self._adding:
                if found.again:
                    self._rows.take_back(_key(callee))
                if found.outcome is not None:
                    call = self._call(callee, found.outcome, None, found.args, found.kwargs)
                    self._append(callee, call, 0)
                    return
                self._add_hit(callee, 0, found.args, found.kwargs)

    def _add_reported(self) -> None:
        """Add the uncached calls that the log of traces saw and no hook of ours did."""
        if self._event_count == TRACE_LOG.event_count:
            return
        with self._adding:
            new = TRACE_LOG.events_since(self._event_count, self._begin)
            self._event_count = TRACE_LOG.event_count
            for event in new:
                self._rows.add_reported(event)

    def _add_cached(self, callee: Callee, spent: int, args: Args, kwargs: Kwargs) -> None:
        with self._adding:
            self._add_hit(callee, spent, args, kwargs)

    def _add_hit(self, callee: Callee, spent: int, args: Args, kwargs: Kwargs) -> None:
        framework, watch, site, function = callee
        self._add_reported()
        last = self._rows.last(_key(callee))
        is_new = last is None or last.call.state not in _CACHED
        stale: tuple[Change, ...] = ()
        unknown, is_cut = "", False
        if watch.is_guarded:
            stale = find_stale(watch, function, args, kwargs)
            unknown = "" if stale else find_unknown(watch, function, args, kwargs)
        else:
            self._inside.call = True  # the code is traced aside, and makes no calls of the cell
            stale, is_cut = self._stale.find(
                watch, function, args, kwargs, spent=spent, is_new=is_new
            )
            unknown = find_unknown(watch, function, args, kwargs) if is_new and not stale else ""
            self._inside.call = False
        if is_cut:
            unknown = f"what {watch.name(function)} reads changes in very many calls:"
            unknown += " some of them were taken for what the call before was"
        state = "STALE" if stale else "CACHED"
        if last is not None and last.call.state == state and _paths(last.call.why) == _paths(stale):
            last.times += 1
            last.last = self._rows.number(framework.name, last.call.full_name or last.call.name)
            last.nanoseconds = (last.nanoseconds or 0) + spent
            if is_cut or (unknown and not last.call.unknown):
                last.call = replace(last.call, unknown=unknown)
        else:
            name, full_name = watch.name(function), watch.full_name(function)
            number = self._rows.number(framework.name, full_name or name)
            fixes = watch.fixes(name, stale, function)
            call = TracedCall(name, framework.name, site.line, site.text, number, 1, state, 0.0,
                              why=stale, fixes=fixes, unknown=unknown,
                              full_name=full_name, cell=self._cell(site))  # fmt: skip
            self._append(callee, call, spent)

    def _cell(self, site: Site) -> int:
        """Return the number of the cell that holds a call, where it is another one."""
        return 0 if site.file == self.file else cell_of(site.file)

    def _append(self, callee: Callee, call: TracedCall, spent: int) -> Row:
        with self._adding:
            self._add_reported()
            return self._rows.add(call, spent, _key(callee))

    def _count(self) -> None:
        """Count a trace; raise where it is one too many."""
        __tracebackhide__ = True
        self._traced += 1
        if self._most is not None and self._traced > self._most:
            costly = [row.call for row in self._rows if row.call.state in COSTLY]
            raise too_many_traces(costly, self._most)


def _key(callee: Callee) -> Key:
    return callee.site, identity_of(callee.function)


def _paths(changes: Sequence[Change]) -> list[str]:
    return [change.path for change in changes]
