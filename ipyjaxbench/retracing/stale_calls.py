"""Whether cached calls run stale programs, at a few microseconds a call."""

import weakref
from collections.abc import Callable
from types import MethodType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.host import Clock
from ipyjaxbench.retracing.cache_key import Change, Signature
from ipyjaxbench.retracing.causes import is_same_trace
from ipyjaxbench.retracing.kept_trace import Trace
from ipyjaxbench.retracing.protocol import Args, CallWatch, Kwargs
from ipyjaxbench.retracing.read_changes import changes_since
from ipyjaxbench.retracing.stale import find_stale
from ipyjaxbench.retracing.trace_log import TRACE_LOG
from ipyjaxbench.usercode import Place, Reads, all_stand

#: Nanoseconds that looking at the calls of a function may take: at first, and more for each call.
_AT_FIRST, _PER_CALL = 20_000_000, 2_000
_SHARE = 4  # of a call that takes long, one part in so many
#: Nanoseconds from which a look is slow, or other programs had the CPU meanwhile.
_SLOW = 100_000
#: Programs that are compared whatever that takes; then one more in four times as many calls.
_COMPARED, _FACTOR = 8, 4


class StaleCalls:
    """Looks at cached calls in a piece of code that runs; holds what traced functions read."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._functions: dict[tuple[int, ...], _Function] = {}

    def find(
        self,
        watch: CallWatch,
        function: Any,
        args: Args,
        kwargs: Kwargs,
        *,
        spent: int = 0,
        is_new: bool = True,
    ) -> tuple[tuple[Change, ...], bool]:
        """Return what changed since the program of a cached call was traced.

        Also whether some calls of the function were left out.

        A call that took the nanoseconds `spent` may be looked at for longer. A new call, unlike one
        more at the same place, may find a program whose trace was not seen.

        Where looking would take too long, that is what it was in the call before: where objects
        hold very much, or what is read changes in many calls.
        """
        known = self._known(function)
        known.calls += 1
        known.left += max(_PER_CALL, spent // _SHARE)
        known.is_cut |= known.left <= 0
        if known.left > 0:
            # Time of this thread takes longer to read: only where others may have the CPUs.
            now = self._clock.own if known.is_slow else self._clock.wall
            start = now()
            if not known.look(watch, function, args, kwargs, is_new=is_new):
                known.count(now() - start)  # comparing is limited apart
        return known.found, known.is_cut

    def _known(self, function: Any) -> "_Function":
        """Return what is known of a function: a bound method is made anew each time."""
        is_method = type(function) is MethodType
        owner, plain = (function.__self__, function.__func__) if is_method else (None, function)
        key = identity_of(function)
        known = self._functions.get(key)
        # An identity is used again by others.
        if known is None or known.owner() is not owner or known.plain() is not plain:
            known = self._functions[key] = _Function(owner, plain)
        return known

    def close(self) -> None:
        """Hold nothing any more."""
        self._functions.clear()


class _Function:
    """What the programs of one function read when it was looked at."""

    def __init__(self, owner: Any, plain: Any) -> None:
        self.owner, self.plain = _reference(owner), _reference(plain)
        self.left, self.calls, self.is_slow = _AT_FIRST, 0, False
        self._last = 0  # nanoseconds that the look before took
        self.is_cut = False
        self.found: tuple[Change, ...] = ()
        self._compared = self._last_compared = 0  # programs, and in which call
        self._added = -1  # traces that were known
        self._places: tuple[Place, ...] = ()
        self._is_fresh = False
        self._answers: list[tuple[Signature, tuple[Change, ...]]] = []

    def count(self, taken: int) -> None:
        """Count what a look took; of two in a row the shorter: garbage is collected in some.

        What was slow by the wall is not counted: the next one is timed by the thread's own clock,
        and those after it, as long as they are slow.
        """
        was_slow, self.is_slow = self.is_slow, taken > _SLOW
        if self.is_slow and not was_slow:
            return
        self.left -= min(taken, self._last)
        self._last = taken

    def look(
        self, watch: CallWatch, function: Any, args: Args, kwargs: Kwargs, *, is_new: bool
    ) -> bool:
        """Find what changed for a call; return whether programs were compared for that."""
        try:
            if self._added != TRACE_LOG.added or not all_stand(self._places):
                is_spent = self._compared >= _COMPARED
                if is_spent and self.calls < _FACTOR * self._last_compared:
                    self.is_cut = True
                    return False
                self._read(watch, function, args, kwargs)
            return (is_new or not self._is_fresh) and self._answer(watch, function, args, kwargs)
        except CODE_ERRORS:  # the user's objects may raise anything
            self._added, self.found = -1, ()
            return False

    def _read(self, watch: CallWatch, function: Any, args: Args, kwargs: Kwargs) -> None:
        """Read what stands now where all its traces read, and whether that is what stood there."""
        self._answers, self.found = [], ()
        traces = TRACE_LOG.traces(watch.token(function))
        self._added = TRACE_LOG.added
        read = [(trace, self._read_trace(trace)) for trace in traces]
        places = [place for _, now in read for place in now.places]
        self._places = (*{(id(p.owner), p.stands, p.key): p for p in places}.values(),)
        self._is_fresh = not any(
            any(changes_since(trace.name, trace.reads, now)) for trace, now in read
        )
        if not read:  # its program alone may tell
            code = watch.traced_code(function, args, kwargs)
            now = code.reads() if code is not None else None
            self._places, self._is_fresh = (now.places, False) if now else ((), True)

    def _read_trace(self, trace: Trace) -> Reads:
        try:
            now = trace.code.reads()
        except CODE_ERRORS:  # an argument was freed: calls with a like one are looked at singly
            self._added = -1
            return Reads()
        return trace.reads if now is None else now  # None: no call finds it any more

    def _answer(self, watch: CallWatch, function: Any, args: Args, kwargs: Kwargs) -> bool:
        """Find what changed since the trace of this call; return whether programs were compared."""
        signature = watch.signature(function, args, kwargs)
        known = (answer for each, answer in self._answers if is_same_trace(each, signature))
        if (answer := next(known, None)) is not None:
            self.found = answer
            return False
        before = TRACE_LOG.compared
        self.found = find_stale(watch, function, args, kwargs)
        self._answers.append((signature, self.found))
        if TRACE_LOG.compared == before:
            return False
        self._compared, self._last_compared = self._compared + 1, self.calls
        return True


def identity_of(function: Any) -> tuple[int, ...]:
    """Return what tells functions apart while they live: a bound method is made anew each time."""
    if type(function) is MethodType:
        return id(function.__self__), id(function.__func__)
    return (id(function),)


def _reference(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value)
    except TypeError:  # it cannot be referred to
        return lambda: value
