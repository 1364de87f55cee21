"""Keeps the signatures with which functions are traced when nobody looks at the calls."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from traceback import walk_stack
from types import FrameType
from typing import Any

import jax
import jax.monitoring

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.compile_events import PHASES
from ipyjaxbench.adapters.jax.retracing import cache_key, callee
from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.graphs import line_of
from ipyjaxbench.retracing import CacheMiss, CallWatch, Retracing
from ipyjaxbench.usercode import is_exactly, is_users_file, unwrap


class Learner:
    """Listens to traces and compilations for as long as the process lives; cached calls are free.

    JAX does not tell with which arguments it traces. They stand in the frame of the function that
    takes calls which the fast path has no program for (private: ``cache_miss`` in ``pjit.py``);
    where no such frame is found nothing is learned.

    Args:
        learn: gets what was found.
    """

    def __init__(self, learn: Callable[[CacheMiss], None]) -> None:
        self._learn = learn
        self._calls = threading.local()  # the call that goes on: its frame, and what was missed
        jax.monitoring.register_event_duration_secs_listener(self._on_event)

    def _on_event(self, event: str, seconds: float, **details: Any) -> None:
        phase = PHASES.get(event)
        if phase is not None:
            with suppress(Exception):  # what is raised here would stop the user's call
                self._add(phase, seconds, details.get("fun_name"))

    def _add(self, phase: str, seconds: float, name: str | None) -> None:
        missed = [*_missed(sys._getframe(1))]
        if not missed:
            return
        frame, calls = missed[-1], self._calls
        is_own = len(missed) == 1 and _is_of(frame, name)
        # What follows may fail, and another call then have the frame's identity.
        begins = is_own and phase == "trace"
        if begins or getattr(calls, "frame", 0) != id(frame):
            if not is_own or phase not in ("trace", "compile"):
                return  # a part of it, told before the whole
            calls.frame, calls.miss = id(frame), _miss(frame, placed=phase == "compile")
            if calls.miss is not None:
                self._learn(calls.miss)
        if calls.miss is not None:
            calls.miss.phases[phase] = calls.miss.phases.get(phase, 0.0) + seconds
        if is_own and phase == "compile":
            calls.frame = 0  # the call is over


def _is_of(frame: FrameType, name: str | None) -> bool:
    """Whether an event is of the call itself; before JAX 0.6 no name is told."""
    if name is None:
        return True
    mine = callee.name_of(callee.plain_of(frame.f_locals.get("fun")))
    return name in (mine, f"jit({mine})")


def _miss(frame: FrameType, *, placed: bool) -> CacheMiss | None:
    called = _called(frame)
    plain = callee.plain_of(called.function)
    if not _is_the_users(frame, called, plain):
        return None
    file, line = _users(frame)
    return CacheMiss(
        name=callee.name_of(plain),
        signature=cache_key.of_call(called),
        placed=placed,
        line=line,
        text=line_of(file, line),
    )


def _called(frame: FrameType) -> Called:
    """The call as the user made it: that of a library's wrapper, or of what `jax.grad` made."""
    names = {**frame.f_locals}
    found = Called(names["fun"], names["args"], names["kwargs"])
    for each in _until_users(frame):
        names = {**each.f_locals}  # from Python 3.13 on it is no dict
        wrapper = next((names[n] for n in ("self", "jit_wrapper") if n in names), None)
        if type(wrapper).__module__ in callee.WRAPPERS and {"args", "kwargs"} <= set(names):
            found = Called(wrapper, names["args"], names["kwargs"])
        else:
            found = _transformed(each, found)
    return found


def _transformed(frame: FrameType, inner: Called) -> Called:
    """The call around another one, where what a transformation has made runs in a frame."""
    name, within, _ = frame.f_code.co_qualname.partition(".<locals>.")
    names = {**frame.f_locals}
    is_made = within and frame.f_code.co_filename.endswith("api.py")
    if not is_made or not {"args", "kwargs"} <= set(names):
        return inner
    function, args, kwargs, known = inner
    if "fun" not in names:  # it goes on in another one, as `grad` does in `value_and_grad`
        return inner._replace(transformation=name) if known else inner
    if callee.plain_of(names["fun"]) is not callee.plain_of(function):
        return inner
    if name == "vmap":
        name, args, kwargs = callee.per_example(names.get("in_axes", 0), names["args"],
                                              names["kwargs"])  # fmt: skip
    elif not known:
        args, kwargs = names["args"], names["kwargs"]
    return Called(function, args, kwargs, " of ".join(filter(None, (name, known))))


def _is_the_users(frame: FrameType, called: Called, plain: Any) -> bool:
    """Whether the user jitted a function; what libraries jit for themselves is no news."""
    code = getattr(plain, "__code__", None)
    if code is None or is_users_file(code.co_filename):
        return True
    if is_exactly(called.function, *callee.JITTED) or called.function is not plain:
        return True  # as in jax.jit(jnp.sin): the library's own jit would have the plain function
    by_user = next(_until_users(frame), None) is None
    module = sys.modules.get(getattr(plain, "__module__", ""))
    own = unwrap(getattr(module, callee.name_of(plain), None) or len)
    return by_user and (own is not plain or getattr(module, callee.name_of(plain)) is plain)


def _missed(frame: FrameType) -> Iterator[FrameType]:
    """Frames of calls that the fast path had no program for, the innermost first."""
    for each, _ in walk_stack(frame):
        code = each.f_code
        if code.co_name == "cache_miss" and code.co_filename.endswith("pjit.py"):
            yield each


def _until_users(frame: FrameType) -> Iterator[FrameType]:
    """Frames of libraries around one of JAX's own, the nearest first, up to the user's code."""
    for around, _ in walk_stack(frame.f_back):
        if is_users_file(around.f_code.co_filename):
            return
        if not around.f_code.co_filename.endswith("traceback_util.py"):
            yield around


def _users(frame: FrameType | None) -> tuple[str, int]:
    """File and line of the user's code that made a call.

    A thread that has none runs what the main thread, or the one that started it, waits for.
    """
    main = sys._current_frames().get(threading.main_thread().ident or 0)
    every = ((each.f_code.co_filename, line) for top in (frame, main)
             if top is not None for each, line in walk_stack(top))  # fmt: skip
    return next((place for place in every if is_users_file(place[0])), ("", 0))


class JaxRetracing(Retracing):
    """Events of `jax.monitoring`, and the frames of JAX that take calls."""

    def call_watch(self) -> CallWatch:
        """Events of `jax.monitoring`, one call at a time."""
        return JaxCallWatch()

    def is_tracing(self, args: object) -> bool:
        """Whether one of them is a tracer."""
        return any(isinstance(leaf, jax.core.Tracer) for leaf in trees.leaves(args))

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        """From the frames of JAX that take calls which were not traced before."""
        self._learner = Learner(on_miss)
        return True
