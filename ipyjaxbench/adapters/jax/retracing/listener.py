"""Keeps the signatures with which functions are traced when nobody looks at the calls."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from traceback import walk_stack
from types import FrameType
from typing import Any

import jax
import jax.monitoring

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.compile_events import PHASES
from ipyjaxbench.adapters.jax.disk_cache import SEARCHES
from ipyjaxbench.adapters.jax.retracing import cache_key, callee
from ipyjaxbench.adapters.jax.retracing.cache_clearing import note_trace
from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch, is_building
from ipyjaxbench.adapters.jax.retracing.callee import Called, options_in, static_in
from ipyjaxbench.adapters.jax.retracing.kept_programs import EARLIER
from ipyjaxbench.adapters.jax.retracing.traced_code import JaxTracedCode, keep_program
from ipyjaxbench.adapters.jax.retracing.user_call import is_the_users, user_call
from ipyjaxbench.adapters.shared.retracing import cache_miss, main_frame
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import CacheMiss, CallWatch, Retracing, TracedCode

#: JAX's name for an object that is called.
_UNNAMED = "<unnamed function>"
_NEAR = 10  # frames within which the timer is that reports an event


class _Listener:
    """Reports traces and compilations for as long as the process lives; cached calls are free.

    JAX does not say with which arguments it traces. They stand in the frame of the function that
    takes calls which the fast path has no program for (private: ``cache_miss`` in ``pjit.py``);
    where no such frame is found nothing is reported.
    """

    def __init__(self, on_miss: Callable[[CacheMiss], None]) -> None:
        self._on_miss = on_miss
        EARLIER.note()
        self._calls = threading.local()  # the call that is made, and what it missed
        SEARCHES.listen()
        jax.monitoring.register_event_duration_secs_listener(self._on_event)

    def _on_event(self, event: str, seconds: float, **details: Any) -> None:
        phase = PHASES.get(event)
        if phase is not None:
            with suppress(*CODE_ERRORS):  # what is raised here would stop the user's call
                self._add(phase, seconds, details.get("fun_name"))

    def _add(self, phase: str, seconds: float, name: str | None) -> None:
        misses = [*_cache_misses(sys._getframe(1))]
        if not misses:
            return
        frame, calls = misses[-1], self._calls
        is_own = len(misses) == 1 and _is_of(frame, name)
        # What follows may fail, and another call then have the frame's identity.
        begins = is_own and phase == "trace"
        call, raises = (id(frame), id(frame.f_locals.get("fun"))), _is_raising(sys._getframe(1))
        if begins or getattr(calls, "current", None) != call:
            if not is_own or phase not in ("trace", "compile"):
                return  # a part of it, reported before the whole
            calls.current, calls.miss = call, self._miss(frame, placed=phase == "compile")
            if calls.miss is not None and raises:
                calls.miss = replace(calls.miss, raised=True)
            if calls.miss is not None:
                self._on_miss(calls.miss)
        if calls.miss is not None:
            calls.miss.phases[phase] = calls.miss.phases.get(phase, 0.0) + seconds
            if is_own and phase != "trace":
                _keep_program(calls.miss.code, frame)
        if is_own and (phase == "compile" or raises):
            calls.current = None  # the call is over

    def _miss(self, frame: FrameType, *, placed: bool) -> CacheMiss | None:
        names = {**frame.f_locals}
        info = names.get("jit_info")
        called = Called(
            names["fun"], names["args"], names["kwargs"], "", static_in(info), options_in(info)
        )
        called, static = user_call(called, frame)
        if not is_the_users(called, frame):
            return None
        if not called.transformation:  # the library's own function may be what is transformed
            values = (names["args"], names["kwargs"])
            called = called._replace(transformation=callee.transformation_of_values(values))
        signature = cache_key.signature(called)
        code = None if placed else JaxTracedCode(called, static)
        name = callee.display_name(callee.plain_of(called.function))
        cleared = note_trace(signature.function)
        return cache_miss(
            name, signature, frame, main_frame(), placed=placed, code=code, cleared=cleared,
            unseen=names["fun"] in EARLIER,
        )  # fmt: skip


def _keep_program(code: TracedCode | None, frame: FrameType) -> None:
    """Have a function that was traced know its program, which stands in the frame by then."""
    program = getattr(frame.f_locals.get("p"), "params", {}).get("jaxpr")
    if isinstance(code, JaxTracedCode) and program is not None:
        keep_program(code, program)


def _is_of(frame: FrameType, name: str | None) -> bool:
    """Whether an event is of the call itself; before JAX 0.6 it has no name."""
    plain = callee.plain_of(frame.f_locals.get("fun"))
    own = getattr(plain, "__name__", None) or _UNNAMED
    return name in (None, own, f"jit({own})")


def _is_raising(frame: FrameType) -> bool:
    """Whether what an event is of ends with an error, as JAX's timer knows (private).

    Before JAX 0.5 there is no event then.
    """
    for each, _ in islice(walk_stack(frame), _NEAR):
        if each.f_code.co_name == "__exit__" and each.f_code.co_filename.endswith("dispatch.py"):
            return each.f_locals.get("exc_type") is not None
    return False


def _cache_misses(frame: FrameType) -> Iterator[FrameType]:
    """Yield frames of calls that the fast path had no program for, the innermost first."""
    for each, _ in walk_stack(frame):
        code = each.f_code
        if code.co_name == "cache_miss" and code.co_filename.endswith("pjit.py"):
            yield each


class JaxRetracing(Retracing):
    """Events of `jax.monitoring`, and the frames of JAX that take calls."""

    def call_watch(self) -> CallWatch:
        """Return a watch by events of `jax.monitoring`."""
        return JaxCallWatch()

    def is_tracing(self, args: object) -> bool:
        """Whether one of them is a tracer, or all are static and a jaxpr is built."""
        return is_building() or any(
            isinstance(leaf, jax.core.Tracer) for leaf in trees.leaves(args)
        )

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        """Report by events of `jax.monitoring`, and the frames of JAX that take calls."""
        _Listener(on_miss)
        return True
