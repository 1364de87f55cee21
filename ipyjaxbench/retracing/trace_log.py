"""Every signature with which functions were traced, as far as it was seen, in this process."""

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import is_private
from ipyjaxbench.retracing import first_calls
from ipyjaxbench.retracing.cache_key import CacheMiss, Change, Property, Signature
from ipyjaxbench.retracing.causes import compare, is_same_owner, is_same_trace
from ipyjaxbench.retracing.kept_trace import Trace, Unseen
from ipyjaxbench.retracing.traced_code import TracedCode
from ipyjaxbench.retracing.traces import TracedCall

_MAX_SIGNATURES, _MAX_EVENTS, _MAX_UNSEEN = 200, 1000, 50  # the first of one function
_NO_NAME = "<lambda>"
_OF_FUNCTIONS = ("function", "captured")
#: There may be traces that were not seen.
_UNSURE: tuple[list[Change], ...] = ([], [first_calls.DROPPED], [first_calls.FIRST])
Known = tuple[Signature, tuple[Change, ...]]  # with why it was traced


class _Paused:
    """Marks a thread while the context is open; a generator would take twice as long."""

    __slots__ = ("_before", "_here")

    def __init__(self, here: threading.local) -> None:
        self._here = here

    def __enter__(self) -> None:
        self._before = getattr(self._here, "paused", False)
        self._here.paused = True

    def __exit__(self, *_: object) -> None:
        self._here.paused = self._before


class TraceLog:
    """Keeps the signatures of functions, by framework and name, and calls that were not cached."""

    def __init__(self) -> None:
        self.events: deque[TracedCall] = deque(maxlen=_MAX_EVENTS)  # their phases may still grow
        self._places: deque[tuple[int, int]] = deque(maxlen=_MAX_EVENTS)  # and what they belong to
        self.event_count = 0  # of all, also of those that are forgotten or recorded by another way
        self.added = 0  # traces
        self.compared = 0  # programs that were held against today's
        self.unseen: deque[Unseen] = deque(maxlen=_MAX_UNSEEN)
        self._here = threading.local()  # a thread whose calls are recorded by another way
        self._traced: defaultdict[int, list[Trace]] = defaultdict(list)  # by function
        self._dropped: defaultdict[int, list[Signature]] = defaultdict(list)
        self._known: defaultdict[tuple[str, str], list[Known]] = defaultdict(list)
        self._failed: set[int] = set()  # functions whose latest trace raised an error

    def reasons(
        self,
        framework: str,
        name: str,
        new: Signature,
        *,
        placed: bool,
        accepted: Collection[Property] = (),
        beside: Sequence[Change] = (),
    ) -> list[Change]:
        """Return in what a signature differs from the nearest one of that function.

        That is "first" where the function was not seen before, or its traces were dropped: with
        none of these is it compared. Of the rest, see `compare`.
        """
        known = self.signatures(framework, name)
        # Other functions of that name, as of another factory, are none of its own.
        known = [each for each in known if each.full_name == new.full_name]
        same_code = [each for each in known if each.code == new.code]
        if not same_code:
            is_named = bool(known) and name != _NO_NAME  # many have none
            first = first_calls.REDEFINED if is_named else first_calls.FIRST
            is_failed = new.function in self._failed
            return [first_calls.INSPECTED if placed else first_calls.FAILED if is_failed else first]
        same_function = [each for each in same_code if each.function == new.function]
        if new in same_function and (not placed or self.is_dropped(new)):
            return [*beside] or [first_calls.DROPPED]
        if not same_function:
            if placed:
                return [first_calls.INSPECTED]
            causes = compare(new, same_code, accepted=accepted)
            # Another function object is traced whatever it is called with.
            return [each for each in causes if each.kind in _OF_FUNCTIONS] or causes
        there = [each for each in same_function if not self.is_dropped(each)]
        if not there or (placed and not any(is_same_trace(each, new) for each in there)):
            # None of the traces there is compiled.
            return [first_calls.FOUND if there else first_calls.CLEARED]
        if own := [each for each in there if each.owner == new.owner]:
            return compare(new, own, placed=placed, accepted=accepted, beside=beside)
        # It may have found programs that were made for others like it.
        like = [each for each in there if is_same_owner(each, new)]
        return (like and compare(new, like, accepted=accepted, beside=beside)) or [first_calls.OWN]

    def is_dropped(self, signature: Signature) -> bool:
        """Whether a framework is known to have dropped what it traced with a signature."""
        if signature in self._dropped.get(signature.function, ()):
            return True
        traces = self._traced.get(signature.function, ())
        return any(each.signature == signature and each.code.is_dropped() for each in traces)

    def drop(self, framework: str, name: str, function: int) -> None:
        """Note that a framework has no program of a function any more, by its token."""
        known = self.signatures(framework, name)
        self._dropped[function] = [each for each in known if each.function == function]

    def paused(self) -> "_Paused":
        """Record nothing of this thread meanwhile: the call is recorded by another way."""
        return _Paused(self._here)

    def record(self, framework: str, miss: CacheMiss) -> None:
        """Keep the signature of a call that was not cached, and why; not of one that is ours."""
        if is_private():
            return
        name, placed = miss.name, miss.placed
        if miss.signature.transformation:  # below `jax.grad` JAX reports no more of a trace
            placed = placed and self.keeps(framework, name, miss.signature)
        if miss.cleared:
            self.drop(framework, name, miss.signature.function)
        if getattr(self._here, "paused", False):
            self.event_count += 1
            if miss.raised:
                self._failed.add(miss.signature.function)
            return
        why = self._why(framework, miss, placed=placed)
        if placed and not why:
            return  # a part of what was reported
        if miss.raised:
            self._failed.add(miss.signature.function)
        else:
            self.add(framework, name, miss.signature, why, miss.code)
        is_first = [change.kind for change in why] == ["first"]
        compiled = "COMPILED" if is_first else "RECOMPILED"
        state = "RAISED" if miss.raised else compiled if placed else "TRACED"
        self._append(framework, miss, state, why)

    def _why(self, framework: str, miss: CacheMiss, *, placed: bool) -> list[Change]:
        why = self.reasons(
            framework, miss.name, miss.signature, placed=placed, accepted=miss.accepted,
            beside=miss.beside,
        )  # fmt: skip
        if miss.fallback_reasons and why in _UNSURE:
            return [*miss.fallback_reasons]
        if miss.unseen and not placed and first_calls.is_said_first(why):
            return [first_calls.UNSEEN]
        return why

    def record_part(self, framework: str, miss: CacheMiss, *, of: int) -> None:
        """Keep that a part of what was traced earlier is compiled only now.

        Args:
            framework: that compiles it.
            miss: with the reason for which it is compiled.
            of: the count of events when the whole was recorded.
        """
        if not is_private() and not getattr(self._here, "paused", False):
            self._append(framework, miss, "COMPILED", miss.fallback_reasons, of)

    def _append(
        self, framework: str, miss: CacheMiss, state: str, why: Sequence[Change], whole: int = 0
    ) -> None:
        self.event_count += 1
        self._places.append((self.event_count, whole))
        self.events.append(
            TracedCall(
                miss.name, framework, miss.line, miss.text, 1, 1, state, 0.0, miss.phases,
                tuple(why), full_name=miss.signature.full_name,
            )
        )  # fmt: skip

    def tells(self, position: int) -> bool:
        """Whether an event is kept, by its position."""
        return any(place == position for place, _ in self._places)

    def keeps(self, framework: str, name: str, new: Signature) -> bool:
        """Whether a trace was seen that serves a call, and the framework has not dropped it."""
        known = (e for e in self.signatures(framework, name) if e.function == new.function)
        return any(is_same_trace(each, new) and not self.is_dropped(each) for each in known)

    def events_since(self, count: int, begin: int | None = None) -> list[TracedCall]:
        """Return the events after the first ``count`` ones, as far as they are kept.

        What is a part of an event after ``begin``, which is ``count`` if not given, is none of its
        own: its time is part of that event's.
        """
        begin = count if begin is None else begin
        found: dict[int, TracedCall] = {}
        for (place, whole), event in [*zip(self._places, self.events, strict=True)]:
            if place > count and whole <= begin:
                found[place] = event
            elif place > count and whole in found:
                phases = Counter(found[whole].phases)
                phases.update(event.phases)
                found[whole] = replace(found[whole], phases=phases)
        return [*found.values()]

    def add(
        self,
        framework: str,
        name: str,
        signature: Signature,
        why: Sequence[Change] = (),
        code: TracedCode | None = None,
    ) -> None:
        """Keep a signature, why it was traced, and what the function read then."""
        self._failed.discard(signature.function)
        if code is not None:
            self.add_trace(name, signature, code)
        dropped, known = self._dropped[signature.function], self._known[framework, name]
        if signature in dropped:
            dropped.remove(signature)
        # One that is known is traced again where a guard fails of what signatures do not hold.
        is_known = any(each == signature for each, _ in known)
        says_more = any(change.kind != "first" for change in why)
        if not is_known or (says_more and (signature, tuple(why)) not in known):
            known.append((signature, tuple(why)))
            del known[:-_MAX_SIGNATURES]

    def add_trace(self, name: str, signature: Signature, code: TracedCode) -> None:
        """Keep what a function read when it was traced."""
        if is_private():
            return
        reads = None
        with suppress(*CODE_ERRORS):  # the user's objects may raise anything
            reads = code.reads()
        if reads is None:
            return
        kept = replace(reads, places=())  # those hold the user's values
        others = [e for e in self._traced[signature.function] if e.signature != signature]
        for each in others:
            if each.code.is_one_of_several:  # of these there is one more to ask
                each.answers.clear()
        new = Trace(name, signature, code, kept, {}, {})
        self._traced[signature.function] = [new, *others[: _MAX_SIGNATURES - 1]]
        self.added += 1

    def signatures(self, framework: str, name: str) -> Sequence[Signature]:
        """Return all signatures of a function, the oldest first."""
        return tuple(each for each, _ in self.known(framework, name))

    def known(self, framework: str, name: str) -> Sequence[Known]:
        """Return the same with the reasons for which they were traced."""
        return tuple(self._known.get((framework, name), ()))

    def traces(self, function: int) -> Sequence[Trace]:
        """Return the traces of a function, by its token, the latest first."""
        return tuple(self._traced.get(function, ()))

    def all_traces(self) -> Iterator[Trace]:
        """Yield the traces of all functions."""
        yield from chain.from_iterable([*self._traced.values()])

    def clear(self) -> None:
        """Forget all signatures."""
        self._traced.clear()
        self._dropped.clear()
        self._failed.clear()
        self.unseen.clear()
        self._known.clear()

    def functions(self) -> list[tuple[str, str]]:
        """Return the frameworks and names of all functions, as they were seen."""
        return [*self._known]


#: Of this process.
TRACE_LOG = TraceLog()
