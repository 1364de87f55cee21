"""Threads and processes that code starts and does not wait for."""

import threading
from collections.abc import Iterator
from concurrent.futures import thread as pools
from types import CodeType, FrameType

from ipyjaxbench.host import Clock, child_processes
from ipyjaxbench.reports import Note
from ipyjaxbench.timing.validity import notes
from ipyjaxbench.usercode import find_threads, is_of, is_users_file

_WAKING_SECONDS = 0.002  # seconds that a thread of a pool may take to begin with what it was given
#: A pool's thread that was given something to do; one that waits for that is elsewhere.
_ITEM: CodeType = pools._WorkItem.run.__code__


class Background:
    """Looks at threads and processes before the first call, after it, and after the last one.

    A thread counts while it runs code of the user's, so that the threads of pools which wait for
    work do not. Processes count where later calls start more of them: pools start theirs once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._busy = _working_threads()
        self._timers = find_timers()
        #: Timers that ran after the first call.
        self.timers = self._timers
        self._children = child_processes()
        self._threads: frozenset[int] = frozenset()
        self._started: frozenset[int] = frozenset()

    def inspect_first_call(self) -> None:
        """Look right after the first call."""
        self.timers = find_timers()
        if threading.active_count() > 1:
            self._clock.sleep(_WAKING_SECONDS)
        self._threads = _working_threads() - self._busy
        self._started = child_processes() - self._children

    @property
    def starts_timers(self) -> bool:
        """Whether the first call left a timer running."""
        return bool(self.timers - self._timers)

    def notes(self, calls: int) -> Iterator[Note]:
        """Note what was left running after so many ``calls``."""
        # Both, for the session may have threads of its own that now and then have something to do.
        if self._threads and (calls == 1 or _working_threads() - self._busy):
            yield notes.left_running("thread", "keep the thread and wait for it: t.join()")
        more = child_processes() - self._children - self._started
        if self._started and (more or calls == 1):
            yield notes.left_running("process", "keep the process and wait for it: p.wait()")


def find_timers() -> frozenset[threading.Thread]:
    """Return the timers of `threading` that run now."""
    return frozenset(t for t in threading.enumerate() if is_of(t, threading.Timer))


def _working_threads() -> frozenset[int]:
    """Return other threads that run code of the user's, or what a pool was given.

    The operating system's ids tell them apart: Python reuses its own when a thread has ended.
    """
    at_work = (t for _, t, top in find_threads() if t is not None and _is_at_work(top))
    return frozenset(t.native_id for t in at_work if t.native_id is not None)


def _is_at_work(top: FrameType) -> bool:
    if top.f_code is threading.Thread.run.__code__:  # what it calls has no frame of Python
        return True
    frame: FrameType | None = top
    while frame is not None:
        if frame.f_code is _ITEM or is_users_file(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False
