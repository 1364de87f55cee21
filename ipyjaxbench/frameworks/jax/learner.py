"""Keeps the signatures with which functions are traced when nobody looks at the calls."""

import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import jax.monitoring

from ipyjaxbench.frameworks.jax import keys
from ipyjaxbench.frameworks.jax.events import PHASES
from ipyjaxbench.graph_parts import line_of
from ipyjaxbench.signature import Miss

_OF_LIBRARY = re.compile(r"[/\\](site-packages|dist-packages)[/\\]|[/\\]ipyjaxbench[/\\]")


class Learner:
    """Listens to traces and compilations for as long as the process lives; cached calls are free.

    JAX does not tell with which arguments it traces. They stand in the frame of the function that
    takes calls which the fast path has no program for (private: ``cache_miss`` in ``pjit.py``);
    where no such frame is found nothing is learned.

    Args:
        learn: gets what was found.
    """

    def __init__(self, learn: Callable[[Miss], None]) -> None:
        self._learn = learn
        self._call = 0  # the frame of the call that goes on
        self._miss: Miss | None = None
        jax.monitoring.register_event_duration_secs_listener(self._hear)

    def _hear(self, event: str, seconds: float, **told: Any) -> None:
        phase = PHASES.get(event)
        missed = [*_missed(sys._getframe(1))] if phase is not None else []
        if not missed or phase is None:
            return
        frame = missed[-1]
        is_own = len(missed) == 1 and _is_of(frame, told.get("fun_name"))
        # What follows may fail, and another call then have the frame's identity.
        begins = is_own and phase == "trace"
        if begins or self._call != id(frame):
            if not is_own or phase not in ("trace", "compile"):
                return  # a part of it, told before the whole
            self._call, self._miss = id(frame), _miss(frame, placed=phase == "compile")
            if self._miss is not None:
                self._learn(self._miss)
        if self._miss is not None:
            self._miss.phases[phase] = self._miss.phases.get(phase, 0.0) + seconds
        if is_own and phase == "compile":
            self._call = 0  # the call is over


def _is_of(frame: FrameType, name: str | None) -> bool:
    """Whether an event is of the call itself; before JAX 0.6 no name is told."""
    if name is None:
        return True
    plain = keys.plain_of(frame.f_locals.get("fun"))
    mine = getattr(plain, "__name__", None) or type(plain).__name__
    return name in (mine, f"jit({mine})")


def _miss(frame: FrameType, *, placed: bool) -> Miss | None:
    names = frame.f_locals
    function, args, kwargs = (names.get(name) for name in ("fun", "args", "kwargs"))
    if function is None or args is None or kwargs is None:
        return None
    plain = keys.plain_of(function)
    code = getattr(plain, "__code__", None)
    if code is not None and _OF_LIBRARY.search(code.co_filename):
        return None
    file, line = next(_users(frame), ("", 0))
    return Miss(
        name=getattr(plain, "__name__", None) or type(plain).__name__,
        signature=keys.signature(function, args, kwargs),
        placed=placed,
        line=line,
        text=line_of(file, line),
    )


def _missed(frame: FrameType | None) -> Iterator[FrameType]:
    """Frames of calls that the fast path had no program for, the innermost first."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "cache_miss" and code.co_filename.endswith("pjit.py"):
            yield frame
        frame = frame.f_back


def _users(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    """Files and lines of the user's code above a frame, the nearest first."""
    while frame is not None:
        if not _OF_LIBRARY.search(frame.f_code.co_filename):
            yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
