"""What PyTorch does in each call of a function that torch.compile made."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

from ipyjaxbench.adapters.shared.retracing import EventWatch
from ipyjaxbench.adapters.torch.compile_events import DynamoEvents, Entry, phases_of
from ipyjaxbench.adapters.torch.disk_cache import GraphSearches
from ipyjaxbench.adapters.torch.retracing import (
    cache_key,
    callee,
    dynamo_settings,
    guards,
    lacking_hooks,
)
from ipyjaxbench.adapters.torch.retracing.advice import fixes, how_to_renew
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.adapters.torch.retracing.evidence import evidence
from ipyjaxbench.adapters.torch.retracing.found_calls import found, found_again
from ipyjaxbench.adapters.torch.retracing.frames import attribute, name_of, nested
from ipyjaxbench.adapters.torch.retracing.hooks_of_calls import HooksOfCalls
from ipyjaxbench.adapters.torch.retracing.kept_programs import TorchKeptPrograms
from ipyjaxbench.adapters.torch.retracing.programs_outside import programs_outside
from ipyjaxbench.adapters.torch.retracing.skipped_calls import SkippedCalls
from ipyjaxbench.adapters.torch.retracing.uncompiled import skipped, unable
from ipyjaxbench.frameworks import DiskMiss, Framework, Program
from ipyjaxbench.retracing import Args, Change, Evidence, Kwargs, OnHit, Outcome, Signature
from ipyjaxbench.usercode import token

_NO_EVIDENCE = Evidence()
_IN_SIGNATURE = ("shape", "rank", "dtype")  # of arguments


class Mark(NamedTuple):
    """Positions among this thread's searches and the record's entries before a call."""

    searches: int
    entries: int


class TorchCallWatch(EventWatch[Entry]):
    """Dynamo's own hook for programs that it searches, and its record of those that it makes."""

    kept = TorchKeptPrograms()
    compiles_code = True
    prints_while_tracing = False
    is_guarded = True

    def __init__(self, framework: Framework) -> None:
        self._events = DynamoEvents(self._on_miss, self._on_hit, self._on_start, self._on_begin)
        self._skipped = SkippedCalls(self._events, self._outcome)
        self._searches = GraphSearches()
        sources = self._events, self._searches
        super().__init__(lambda _: framework.drain(), self._events.entries, *sources)
        self._evidence = _NO_EVIDENCE  # of the call that is made now
        self._thread = 0  # that makes the call; 0 in between
        self._is_new = False  # whether it found programs of other objects alone
        self._entered: Entered | None = None  # what is compiled first in a call
        self._signature: Signature | None = None  # of that, before it runs
        self._report: OnHit | None = None
        self._hooks = HooksOfCalls()
        self._names: dict[object, str] = {}  # of what was compiled, as the user calls it

    def catch_up(self) -> None:
        """Listen to dynamo, which the first torch.compile loads."""
        self._events.open()
        self._searches.open()

    def takes(self, function: Any) -> bool:
        """Whether torch.compile or `module.compile` made it, or `torch.compiler.disable`."""
        return callee.takes(function)

    def name(self, function: Any) -> str:
        """Return the name of what was compiled."""
        return callee.display_name(function)

    def begin_call(self, function: Any, args: Args, kwargs: Kwargs) -> Mark:  # noqa: ARG002
        """Return positions among the events so far."""
        self.catch_up()
        self._skipped.settle()
        self._evidence = _NO_EVIDENCE
        self._is_new, self._entered = False, None
        self._thread = threading.get_ident()
        self._hooks.begin()
        return Mark(len(self._hits()), len(self._events.read()))

    def end_call(self, function: Any, mark: Mark) -> Outcome | None:
        """Return what was compiled, where a search found no program."""
        self._thread = 0
        searches = self._hits()
        hits = searches[mark.searches :]
        del searches[mark.searches :]
        if len(self._events.read()) == mark.entries and hits and all(hits):
            return None
        new = self._since(mark.entries)
        self._owned.update(new)
        entries = [entry.metrics for entry in new.values()]
        if not entries and hits and all(hits):
            return None
        outcome = self._outcome(function, entries, hits)
        entered, self._entered = self._entered, None  # it holds the user's values
        if outcome is None or entered is None or not entered.is_of(function):
            return outcome
        return replace(outcome, signature=self._signature)

    def _hits(self) -> list[bool]:
        """Return this thread's own list; one of no use where PyTorch reports no searches."""
        hits = self._events.hits
        return [] if hits is None else hits[threading.get_ident()]

    def _outcome(
        self, function: Any, entries: Sequence[Any], hits: Sequence[bool]
    ) -> Outcome | None:
        frames = [entry for entry in entries if attribute(entry, "co_name")]
        if any(attribute(entry, "graph_op_count") is not None for entry in frames):
            return self._compiled(function, entries, frames, hits)
        reasons = [str(attribute(entry, "fail_reason") or "") for entry in entries]
        if hits and hits[0] and not any(reasons):
            return None  # its program was found, and the rest of it has nothing to compile
        if switched_off := dynamo_settings.switched_off(function):
            return Outcome("BYPASSED", why=(Change("guard", new=switched_off),))
        is_full = any("recompile limit" in r or "cache size limit" in r for r in reasons)
        if is_full or (hits and not all(hits) and not entries):
            why = tuple(self._why_full(entries))
        elif any(reasons):
            why = (unable(next(filter(None, reasons))),)
        elif self._events.hits is None and not entries:
            return Outcome("?")
        elif not entries and not hits:
            why = (skipped(function),)
        else:
            why = (unable(),)
        return Outcome("EAGER-FALLBACK", phases_of(entries), why=why)

    def _compiled(
        self, function: Any, entries: Sequence[Any], frames: Sequence[Any], hits: Sequence[bool]
    ) -> Outcome:
        first, *more = frames
        is_there = bool(hits) and hits[0]  # what is compiled is the rest of it, or what it calls
        if not is_there:
            self._names[attribute(first, "compile_id")] = self.name(function)
        if self._entered is not None:
            for entry in callee.entries(self._entered.code)[:1]:
                callee.keep_owner(entry.code, self._entered.owner)
            callee.take_up(self._entered.code)
        had_one = bool(attribute(first, "cache_size")) and not self._is_new
        is_first = not is_there and not had_one
        graphs = sum(bool(attribute(entry, "graph_op_count")) for entry in frames)
        is_whole = attribute(first, "fail_type") is None
        breaks = max(graphs - 1, 0 if is_whole else 1) if is_first else 0
        phases = phases_of(entries)
        is_loaded = "cache load" in phases and "compile" not in phases
        reason = attribute(first, "recompile_reason")
        changes, beside, accepted = self._evidence
        if reason and not changes and not self._is_new:
            guard = guards.read(reason)
            changes = (guard.change,)
            is_told = guard.is_in_signature or guard.change.kind in _IN_SIGNATURE
            beside = () if is_told and not is_there else changes
        if is_there and not changes:
            changes = beside = (Change("guard", new=f"{name_of(first)} ran for the first time"),)
        return Outcome(
            state="BREAK" if breaks else "DISK" if is_loaded else "TRACED",
            phases=phases,
            nested=tuple(nested(self.name(function), frames if is_there else more)),
            breaks=breaks,
            why=beside if is_there else (),
            fallback_reasons=changes,
            beside=beside,
            accepted=accepted,
            disk_misses=tuple(self._disk_misses(entries)),
            known=True if had_one else None,
            cleared=not is_there and attribute(first, "cache_size") == 0,
        )

    def _disk_misses(self, entries: Sequence[Any]) -> Iterator[DiskMiss]:
        names = {attribute(e, "compile_id"): name_of(e) for e in entries if attribute(e, "co_name")}
        for number, name in names.items():
            yield from self._searches.misses(number, self._names.get(number, name))

    def _on_miss(self, frame: FrameType) -> None:
        """Keep why dynamo found no program, while its arguments are as they were."""
        if self._is_first() and (entered := self._enter(frame)) is not None:
            self._evidence = evidence(entered)
            self._is_new = not self._evidence.changes and not callee.own_entries(entered)

    def _on_start(self, frame: FrameType) -> None:
        """Keep what is compiled, if no program was searched before: there are none of it."""
        caller = callee.caller(frame)
        if caller is not None and self._is_first():
            self._enter(caller)

    def _is_first(self) -> bool:
        """Whether this is part of a call, and of what that compiles the first."""
        return self._entered is None and self._thread == threading.get_ident()

    def _enter(self, frame: FrameType) -> Entered | None:
        """Keep the call that is to be compiled, while its arguments are as they were."""
        entered = self._entered = Entered.from_frame(frame)
        if entered is not None:
            self._signature = cache_key.signature(entered)
        return entered

    def report_hits(self, on_hit: OnHit) -> None:
        """Report by dynamo's hook for its searches."""
        self._report = self._skipped.report = on_hit

    def settle(self) -> None:
        """Report the latest call, if it is one that dynamo skipped."""
        self._skipped.settle()

    def _on_begin(self, frame: FrameType) -> None:
        if self._thread != threading.get_ident():
            self._skipped.begin(frame)

    def _on_hit(self, frame: FrameType) -> None:
        report = self._report if self._thread != threading.get_ident() else None
        if callee.called_from(frame) is None:
            if self._hooks.add_part(frame) and report is not None:
                report(partial(found_again, frame))
        elif report is not None:
            self._hooks.begin()
            report(partial(found, frame))

    def _why_full(self, entries: Sequence[Any]) -> Iterator[Change]:
        limit = dynamo_settings.limit()
        code = self._entered.code if self._entered is not None else None
        if code is not None:
            callee.give_up(code)
        if code is None or len(callee.entries(code)) >= limit:
            yield Change("guard", "limit", new=f"recompile limit ({limit}) reached")
        else:
            new = f"given up when the recompile limit was reached, which is {limit} now"
            yield Change("guard", "raised limit", new=new)
        changes = [*self._evidence.changes] or [
            guards.read(reason).change
            for e in entries
            if (reason := attribute(e, "recompile_reason"))
        ]
        yield from changes[:1]

    def signature(self, function: Any, args: Args, kwargs: Kwargs) -> Signature:
        """Return that of the arguments, closed-over values and the plain globals it names."""
        entered = Entered.from_call(function, args, kwargs)
        return cache_key.signature(entered) if entered is not None else Signature({})

    def token(self, function: Any) -> int:
        """Return that of the code with which dynamo keeps what it compiles."""
        entered = Entered.from_function(function)
        return token(entered.code) if entered is not None else 0

    def predicts(self, function: Any, args: Args, kwargs: Kwargs) -> bool | None:
        """Whether the conditions of no program hold."""
        entered = Entered.from_call(function, args, kwargs)
        if entered is None or dynamo_settings.switched_off(function):
            return None
        misses = guards.would_miss(entered)
        if misses and callee.is_given_up(entered.code):
            return None
        if misses and len(callee.entries(entered.code)) >= dynamo_settings.limit():
            return None  # it would run uncompiled
        return misses

    def evidence(self, function: Any, args: Args, kwargs: Kwargs) -> Evidence:
        """Return what the conditions of its programs tell."""
        entered = Entered.from_call(function, args, kwargs)
        return evidence(entered) if entered is not None else Evidence()

    def unguarded(self, function: Any, args: Args, kwargs: Kwargs) -> tuple[Change, ...]:
        """Return the hooks that the program of a cached call lacks."""
        lacking = self._hooks.lacking(function, args, kwargs)
        return lacking_hooks.changes(self.name(function), lacking)

    def unknown(self, function: Any) -> str:
        """Return the hooks that its program may or may not have."""
        return lacking_hooks.unknown(self.name(function), self._hooks.found_last())

    def unguarded_in_latest(self, function: Any) -> tuple[Change, ...]:
        """Return the hooks that it lacks of modules that are no arguments."""
        return lacking_hooks.lacking_in_latest(self.name(function), function)

    def how_to_renew(self, function: Any, why: Sequence[Change]) -> str:  # noqa: ARG002
        """Return what to do, as for a stale call."""
        return how_to_renew(why).replace("`", "")

    def fixes(self, name: str, why: Sequence[Change], function: Any) -> tuple[str, ...]:  # noqa: ARG002
        """Return what to write, by what changed."""
        return fixes(name, why)

    def outside(self) -> tuple[Program, ...]:
        """Return backward passes, and functions called from code that is not looked into."""
        return programs_outside(self._events.read(), self._others(), self._names)
