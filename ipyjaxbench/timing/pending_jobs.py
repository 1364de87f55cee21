"""Jobs that calls give to others, as `pool.submit(f)` does: a few calls are made, and those end."""

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Protocol, TypeVar

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.reports import Note
from ipyjaxbench.timing import notes
from ipyjaxbench.timing.validity.background_work import Background, find_timers
from ipyjaxbench.timing.validity.deferred_values import find_deferred
from ipyjaxbench.timing.waiting import Waiting
from ipyjaxbench.usercode import attribute, is_of, items_of

_CALLS = 5  # each leaves a job, and the figure is only that of leaving it
_WAIT_SECONDS = 1.0  # for all that have begun and cannot be cancelled
_KINDS = ("future", "task", "pending result")


class _Options(Protocol):
    """How often to call."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def number(self) -> int | None: ...
    @property
    def repeat(self) -> int | None: ...


Options = TypeVar("Options", bound=_Options)


class PendingJobs:
    """Jobs that the calls after the first one leave to threads, processes or an event loop.

    Args:
        value: what the first call gave.
        results: what it bound, by name.
        background: knows the timers that it started.
    """

    def __init__(
        self, value: object, results: Mapping[str, object], background: Background | None = None
    ) -> None:
        self._timers = background.timers if background and background.starts_timers else None
        self._in_value = bool(_jobs_in(value))
        self._names = tuple(name for name, each in results.items() if _jobs_in(each))
        self._jobs: dict[int, Any] = {}  # by identity: a value may be bound, too
        self._told: list[Note] = []

    def __bool__(self) -> bool:
        return self._in_value or bool(self._names) or self._timers is not None

    def limit(self, options: Options) -> Options:
        """Return options for a few calls, of a timing or a comparison, unless they say how many."""
        if options.number is not None or options.repeat is not None:
            return options
        return dataclasses.replace(options, number=1, repeat=_CALLS, budget=None, aim="usual")

    def collect(self, waiting: Waiting) -> Waiting:
        """Return the same, which also takes the jobs that each call leaves."""
        names = tuple(dict.fromkeys((*waiting.names, *self._names)))
        takes_value = waiting.takes_value or self._in_value
        wait = waiting.wait

        def take(value: Any) -> None:
            __tracebackhide__ = True
            self._jobs |= {id(job): job for job in _jobs_in(value)}
            if wait is not None:
                wait(value)

        return dataclasses.replace(
            waiting, wait=take, takes_value=takes_value, names=names, is_asynchronous=bool(wait)
        )

    def end(self) -> None:
        """Cancel what has not begun, and wait for the rest, but not for long."""
        jobs, self._jobs = [*self._jobs.values()], {}
        if self._timers is not None:
            jobs += find_timers() - self._timers
        begun = [job for job in jobs if not _cancel(job)]
        for job in begun:
            _wait(job, _WAIT_SECONDS / len(begun))
        finished = [job for job in begun if _ask(job, "done") or _ask(job, "ready")]
        if jobs:
            running = len(begun) - len(finished)
            cancelled = len(jobs) - len(begun)
            self._told.append(notes.jobs_ended(cancelled, len(finished), running))

    def notes(self) -> Sequence[Note]:
        """Return what became of them."""
        return self._told


def _jobs_in(value: object) -> list[Any]:
    """Return a value that is a job, or the jobs in a list, a tuple or a dictionary."""
    found = [*items_of(value, 0)] if is_of(value, list, tuple, dict) else [value]
    of_each_class = {id(type(each)): each for each in found}  # one tells of all: there may be many
    classes = {kind for kind, each in of_each_class.items() if _is_job(each)}
    return [each for each in found if id(type(each)) in classes] if classes else []


def _is_job(value: object) -> bool:
    found = find_deferred(value)
    return found is not None and found.kind in _KINDS


def _cancel(job: Any) -> bool:
    """Whether a job never runs; a timer does not tell, and ends by itself."""
    if not is_of(job, threading.Timer):
        return _ask(job, "cancel")
    job.cancel()
    job.join(_WAIT_SECONDS)
    return not job.is_alive()


def _ask(job: Any, method: str) -> bool:
    """Whether a method of this name says yes; not where there is none, or it raises."""
    if not callable(attribute(type(job), method)):
        return False
    with suppress(*CODE_ERRORS):
        return bool(getattr(job, method)())
    return False


def _wait(job: Any, seconds: float) -> None:
    method = "wait" if callable(attribute(type(job), "wait")) else "result"
    with suppress(*CODE_ERRORS):  # what it raises is the job's own failure, or that time is up
        getattr(job, method)(timeout=seconds)
