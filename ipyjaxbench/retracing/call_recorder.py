"""Gets each call of some code, and writes down what became of those of compiled functions."""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ipyjaxbench import units
from ipyjaxbench.errors import TooManyTracesError
from ipyjaxbench.frameworks import Program
from ipyjaxbench.graphs import Diagnosis
from ipyjaxbench.host import Clock
from ipyjaxbench.retracing.cache_key import Change
from ipyjaxbench.retracing.protocol import CallWatch, Outcome
from ipyjaxbench.retracing.trace_log import DROPPED, TraceLog
from ipyjaxbench.retracing.traces import COSTLY, TracedCall
from ipyjaxbench.usercode import OutputRecorder, Site, Written, ask, describe_error

_UNSEEN = Change("first", new="? traced before, when nobody looked")


class Observer:
    """A hook that makes each call, and looks at what it did.

    Args:
        watches: by the framework's name.
        log: what was seen before.
        printed: listens to what is written meanwhile.
        explain: by the framework's name, says why code would not trace.
        most: traces that are allowed; None for any number.

    Attributes:
        seen: calls of other functions that were looked through.
    """

    def __init__(
        self,
        watches: Mapping[str, CallWatch],
        log: TraceLog,
        printed: OutputRecorder,
        explain: Mapping[str, Callable[[BaseException], Diagnosis | None]],
        most: int | None = None,
    ) -> None:
        self._watches, self._log, self._most = watches, log, most
        self._printed, self._why_not = printed, explain
        self._clock = Clock.elapsed()
        self._rows: list[_Row] = []
        self._last: dict[tuple[Site, int], _Row] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._inside = threading.local()
        self._traced = 0
        self.seen = 0

    def pick(self, site: Site, function: Any, /) -> Any:
        """A compiled function is called by us; any other one is what it is."""
        if getattr(self._inside, "call", False):
            return function
        for framework, watch in self._watches.items():
            if ask(watch.takes, function):
                return partial(self._watched, framework, watch, site, function)
        self.seen += 1
        return function

    def calls(self) -> tuple[TracedCall, ...]:
        """Return what was written down, in the order in which it began."""
        return tuple(row.record() for row in self._rows)

    def outside(self) -> tuple[Program, ...]:
        """Return the programs that were made outside of these calls."""
        return tuple(program for watch in self._watches.values() for program in watch.outside())

    def _watched(
        self,
        framework: str,
        watch: CallWatch,
        site: Site,
        function: Any,
        /,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        __tracebackhide__ = True
        mark = watch.before(function)
        before = self._printed.begin()
        self._inside.call = True
        start = self._clock.now()
        error: BaseException | None = None
        try:
            with self._log.paused():
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
            seen = watch.after(function, mark)
            if seen is None and error is None:
                self._cached(framework, watch, site, function, spent)
            else:
                row = self._row(framework, watch, site, function, spent)
                row.learn(seen or Outcome("?"), _of_tracing(written, seen, watch))
                if error is not None:
                    row.fail(error, asked_why(self._why_not[framework], error))
                self._explain(row, watch, function, args, kwargs)

    def _cached(
        self, framework: str, watch: CallWatch, site: Site, function: Any, spent: int
    ) -> None:
        last = self._last.get((site, id(function)))
        if last is not None and last.seen.state == "CACHED":
            self._numbers[framework, last.name] += 1
            last.times += 1
            last.last = self._numbers[framework, last.name]
            last.spent += spent
        else:
            self._row(framework, watch, site, function, spent)

    def _row(
        self, framework: str, watch: CallWatch, site: Site, function: Any, spent: int
    ) -> "_Row":
        name = watch.name(function)
        self._numbers[framework, name] = self._numbers.get((framework, name), 0) + 1
        row = _Row(framework, name, site, self._numbers[framework, name], spent)
        self._rows.append(row)
        self._last[site, id(function)] = row
        return row

    def _explain(
        self,
        row: "_Row",
        watch: CallWatch,
        function: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        """Why it was not cached, against what was seen before, and what to write."""
        __tracebackhide__ = True
        if row.seen.state not in (*COSTLY, "SLOW-PATH"):
            row.why = row.seen.why
            row.fixes = row.fixes or watch.fixes(row.name, row.why)
            return
        signature = watch.signature(function, args, kwargs)
        placed = row.seen.state in ("RECOMPILED", "SLOW-PATH")
        why = row.seen.why or self._log.reasons(row.framework, row.name, signature, placed=placed)
        if row.seen.fallback_reasons and (
            not why or (why == [DROPPED] and row.seen.known is not False)
        ):
            why = row.seen.fallback_reasons
        self._log.add(row.framework, row.name, signature)
        if [change.kind for change in why] == ["first"] and why != [DROPPED]:
            if row.seen.known:
                why = row.seen.fallback_reasons or [_UNSEEN]
            elif row.seen.state == "RECOMPILED":
                row.seen = replace(row.seen, state="COMPILED")
        row.why = tuple(why)
        if row.seen.state == "SLOW-PATH":
            return
        row.fixes = watch.fixes(row.name, why)
        self._traced += 1
        if self._most is not None and self._traced > self._most:
            words = "; ".join(change.words() for change in why) or "the reason is not known"
            raise TooManyTracesError(
                f"{row.name} in line {row.site.line} was {row.seen.state.lower()} ({words}), and"
                f" {units.count(self._most, 'trace')} may happen: --max-traces {self._most}"
            )


def _of_tracing(written: Sequence[Written], seen: Outcome | None, watch: CallWatch) -> str:
    """Return what was printed while something was traced, and not while it ran."""
    if seen is None or seen.state not in COSTLY or not watch.prints_while_tracing:
        return ""
    until = math.inf if seen.traced_until is None else seen.traced_until
    return "".join(text for when, text in written if when <= until)


def asked_why(
    explain: Callable[[BaseException], Diagnosis | None], error: BaseException
) -> Diagnosis | None:
    """The diagnosis; none where looking for it fails, so that the user's own error is raised."""
    try:
        return explain(error)
    except Exception:  # noqa: BLE001
        return None


class _Row:
    """A line that may still grow."""

    def __init__(self, framework: str, name: str, site: Site, number: int, spent: int) -> None:
        self.framework, self.name, self.site, self.number = framework, name, site, number
        self.times, self.last, self.spent = 1, number, spent
        self.seen = Outcome("CACHED")
        self.why: tuple[Any, ...] = ()
        self.fixes: tuple[str, ...] = ()
        self.printed = ""
        self.error = ""

    def learn(self, seen: Outcome, printed: str) -> None:
        self.seen, self.printed = seen, printed

    def fail(self, error: BaseException, diagnosis: Diagnosis | None) -> None:
        self.seen, self.error = Outcome("RAISED"), describe_error(error)
        if diagnosis is not None:
            self.error = f"{describe_error(error)}: {diagnosis.because}"
            self.fixes = tuple(fix.code for fix in diagnosis.fixes)

    def record(self) -> TracedCall:
        known = bool(self.why) or self.seen.state not in (*COSTLY, "?")
        return TracedCall(
            name=self.name,
            framework=self.framework,
            line=self.site.line,
            text=self.site.text,
            number=self.number,
            times=self.times,
            last=self.last,
            state=self.seen.state,
            seconds=self.spent * 1e-9,
            phases=dict(self.seen.phases),
            why=self.why,
            says=self.error or ("" if known else self.seen.framework_reason),
            fixes=self.fixes,
            nested=self.seen.nested,
            printed=self.printed,
            breaks=self.seen.breaks,
        )
