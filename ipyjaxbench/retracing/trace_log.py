"""Every signature with which functions were traced, as far as it was seen, in this process."""

import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ipyjaxbench.retracing.cache_key import CacheMiss, Change, Signature, closest

_MAX_SIGNATURES = 200  # of one function
_MAX_EVENTS = 1000
_NO_NAME = "<lambda>"
_FIRST = "first call"
#: Of a call that was traced before, and is traced again.
DROPPED = Change("first", new="as in an earlier call, whose trace was dropped: caches were cleared")
#: What a trace that nobody called for is there for.
_LOOKED_AT = Change("first", new=f"{_FIRST}; the trace was there, as %jaxpr and .lower leave it")


@dataclass(frozen=True)
class TraceEvent:
    """A function was traced, or compiled again.

    Attributes:
        framework: whose function it is.
        name: of the function.
        why: in what its signature differs from the nearest one that was known.
        miss: what the framework told of the call; what it costs may still grow.
    """

    framework: str
    name: str
    why: tuple[Change, ...]
    miss: CacheMiss


class TraceLog:
    """Keeps the signatures of functions, by framework and name.

    Attributes:
        events: the last ones.
        event_count: how many there were in all.
    """

    def __init__(self) -> None:
        self.events: deque[TraceEvent] = deque(maxlen=_MAX_EVENTS)
        self.event_count = 0
        self._here = threading.local()  # a thread whose calls are recorded by another way
        self._known: defaultdict[tuple[str, str], list[Signature]] = defaultdict(list)

    def reasons(self, framework: str, name: str, new: Signature, *, placed: bool) -> list[Change]:
        """Return in what a signature differs from the nearest one of that function.

        Args:
            framework: whose function it is.
            name: of the function.
            new: the signature.
            placed: whether nothing was traced, so that only where arrays lie can have changed.

        Returns:
            The changes; "first" where the function was not seen before, or the trace that it had
            was dropped; none where nothing that we look at differs.
        """
        known = self._known.get((framework, name), [])
        alike = [each for each in known if each.code == new.code]
        if not alike:
            named = bool(known) and name != _NO_NAME  # many have none
            if placed:
                return [_LOOKED_AT]
            return [Change("first", new=_FIRST + named * " of a new definition")]
        of_function = [each for each in alike if each.function == new.function]
        if new in of_function and not placed:
            return [DROPPED]
        return closest(new, of_function or alike, placed=placed and bool(of_function))

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing of this thread meanwhile: the call is recorded by another way."""
        before = getattr(self._here, "paused", False)
        self._here.paused = True
        try:
            yield
        finally:
            self._here.paused = before

    def record(self, framework: str, miss: CacheMiss) -> None:
        """Keep the signature of a call that was not cached, and why."""
        if getattr(self._here, "paused", False):
            return
        why = self.reasons(framework, miss.name, miss.signature, placed=miss.placed)
        if miss.fallback_reasons and why in ([], [DROPPED]):
            why = [*miss.fallback_reasons]
        if miss.placed and not why:
            return  # a part of what was told
        self.add(framework, miss.name, miss.signature)
        self.event_count += 1
        self.events.append(TraceEvent(framework, miss.name, tuple(why), miss))

    def events_since(self, count: int) -> list[TraceEvent]:
        """Return the events after the first ``count`` ones, as far as they are kept."""
        new = min(self.event_count - count, len(self.events))
        return [*self.events][len(self.events) - new :]

    def add(self, framework: str, name: str, signature: Signature) -> None:
        """Keep a signature."""
        known = self._known[framework, name]
        if signature not in known:
            known.append(signature)
            del known[:-_MAX_SIGNATURES]

    def signatures(self, framework: str, name: str) -> Sequence[Signature]:
        """Return all signatures of a function, the oldest first."""
        return tuple(self._known.get((framework, name), ()))

    def clear(self) -> None:
        """Forget all signatures."""
        self._known.clear()

    def functions(self) -> list[tuple[str, str]]:
        """Return the frameworks and names of all functions, as they were seen."""
        return [*self._known]


#: Of this process.
TRACE_LOG = TraceLog()
