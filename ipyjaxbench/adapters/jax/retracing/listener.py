"""Keeps the signatures with which functions are traced when nobody looks at the calls."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from traceback import walk_stack
from types import FrameType, FunctionType
from typing import Any

import jax
import jax.monitoring

from ipyjaxbench.adapters.jax import trees
from ipyjaxbench.adapters.jax.compile_events import PHASES
from ipyjaxbench.adapters.jax.disk_cache import SEARCHES
from ipyjaxbench.adapters.jax.retracing import cache_key, callee
from ipyjaxbench.adapters.jax.retracing.call_watch import JaxCallWatch
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.adapters.jax.retracing.traced_code import JaxTracedCode, keep_program
from ipyjaxbench.adapters.shared.retracing import cache_miss
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import CacheMiss, CallWatch, Retracing, TracedCode
from ipyjaxbench.usercode import PACKAGE, is_exactly, is_users_file, unwrap


class _Listener:
    """Reports traces and compilations for as long as the process lives; cached calls are free.

    JAX does not say with which arguments it traces. They stand in the frame of the function that
    takes calls which the fast path has no program for (private: ``cache_miss`` in ``pjit.py``);
    where no such frame is found nothing is reported.
    """

    def __init__(self, on_miss: Callable[[CacheMiss], None]) -> None:
        self._on_miss = on_miss
        self._calls = threading.local()  # the call that is made: its frame, and what it missed
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
        if begins or getattr(calls, "frame", 0) != id(frame):
            if not is_own or phase not in ("trace", "compile"):
                return  # a part of it, reported before the whole
            calls.frame, calls.miss = id(frame), _miss(frame, placed=phase == "compile")
            if calls.miss is not None:
                self._on_miss(calls.miss)
        if calls.miss is not None:
            calls.miss.phases[phase] = calls.miss.phases.get(phase, 0.0) + seconds
            if is_own and phase != "trace":
                _keep_program(calls.miss.code, frame)
        if is_own and phase == "compile":
            calls.frame = 0  # the call is over


def _keep_program(code: TracedCode | None, frame: FrameType) -> None:
    """Have a function that was traced know its program, which stands in the frame by then."""
    program = getattr(frame.f_locals.get("p"), "params", {}).get("jaxpr")
    if isinstance(code, JaxTracedCode) and program is not None:
        keep_program(code, program)


def _is_of(frame: FrameType, name: str | None) -> bool:
    """Whether an event is of the call itself; before JAX 0.6 it has no name."""
    own = callee.display_name(callee.plain_of(frame.f_locals.get("fun")))
    return name in (None, own, f"jit({own})")


def _miss(frame: FrameType, *, placed: bool) -> CacheMiss | None:
    called, static = _user_call(frame)
    plain = callee.plain_of(called.function)
    if not _is_the_users(frame, called, plain):
        return None
    # A thread without the user's code runs what the main thread, or its starter, waits for.
    main = sys._current_frames().get(threading.main_thread().ident or 0)
    signature = cache_key.signature(called)
    code = None if placed else JaxTracedCode(called, static)
    name = callee.display_name(plain)
    return cache_miss(name, signature, frame, main, placed=placed, code=code)


def _user_call(frame: FrameType) -> tuple[Called, frozenset[int | str]]:
    """Return the call that the user made, and which arguments are static.

    It is that of a library's wrapper, or of what `jax.grad` or `jax.pmap` made.
    """
    names = {**frame.f_locals}
    known = callee.static_in(names.get("jit_info"))
    called = Called(names["fun"], names["args"], names["kwargs"], static=known)
    static = known or frozenset()
    for each in _until_users(frame):
        names = {**each.f_locals}  # from Python 3.13 on it is no dict
        wrapper = next((names[n] for n in ("self", "jit_wrapper") if n in names), None)
        mapping = names.get("infer_params")
        if type(wrapper).__module__ in callee.WRAPPERS and {"args", "kwargs"} <= set(names):
            called = Called(wrapper, names["args"], names["kwargs"])
            static = callee.static_arguments(wrapper)
        elif type(mapping) is FunctionType and {"args", "kwargs"} <= set(names):
            function, static = callee.mapped_function(mapping)
            called = Called(function, names["args"], names["kwargs"], "pmap")
        else:
            called = _transformed_call(each, called)
    return called, static


def _transformed_call(frame: FrameType, inner: Called) -> Called:
    """Return the call around another one, where a frame runs what a transformation made."""
    name, within, _ = frame.f_code.co_qualname.partition(".<locals>.")
    names = {**frame.f_locals}
    is_made = within and frame.f_code.co_filename.endswith("api.py")
    if not is_made or not {"args", "kwargs"} <= set(names):
        return inner
    function, args, kwargs, known, static = inner
    if "fun" not in names:  # it goes on in another one, as `grad` does in `value_and_grad`
        return inner._replace(transformation=name) if known else inner
    if callee.plain_of(names["fun"]) is not callee.plain_of(function):
        return inner
    if name == "vmap":
        name, args, kwargs = callee.per_example(names.get("in_axes", 0), names["args"],
                                              names["kwargs"])  # fmt: skip
    elif not known:
        args, kwargs = names["args"], names["kwargs"]
    return Called(function, args, kwargs, " of ".join(filter(None, (name, known))), static)


def _is_the_users(frame: FrameType, called: Called, plain: Any) -> bool:
    """Whether the user jitted a function; what libraries jit for themselves is no news."""
    code = getattr(plain, "__code__", None)
    if code is None or is_users_file(code.co_filename):
        return True
    if code.co_filename.startswith(PACKAGE):
        return False
    if is_exactly(called.function, *callee.JITTED) or called.function is not plain:
        return True  # as in jax.jit(jnp.sin): the library's own jit would have the plain function
    by_user = next(_until_users(frame), None) is None
    module = sys.modules.get(getattr(plain, "__module__", ""))
    own = unwrap(getattr(module, callee.display_name(plain), None) or len)
    return by_user and (own is not plain or getattr(module, callee.display_name(plain)) is plain)


def _cache_misses(frame: FrameType) -> Iterator[FrameType]:
    """Yield frames of calls that the fast path had no program for, the innermost first."""
    for each, _ in walk_stack(frame):
        code = each.f_code
        if code.co_name == "cache_miss" and code.co_filename.endswith("pjit.py"):
            yield each


def _until_users(frame: FrameType) -> Iterator[FrameType]:
    """Yield frames of libraries around one of JAX's own, outward, up to the user's code or ours."""
    for around, _ in walk_stack(frame.f_back):
        file = around.f_code.co_filename
        if is_users_file(file) or file.startswith(PACKAGE):
            return
        if not around.f_code.co_filename.endswith("traceback_util.py"):
            yield around


class JaxRetracing(Retracing):
    """Events of `jax.monitoring`, and the frames of JAX that take calls."""

    def call_watch(self) -> CallWatch:
        """Return a watch by events of `jax.monitoring`."""
        return JaxCallWatch()

    def is_tracing(self, args: object) -> bool:
        """Whether one of them is a tracer."""
        return any(isinstance(leaf, jax.core.Tracer) for leaf in trees.leaves(args))

    def listen(self, on_miss: Callable[[CacheMiss], None]) -> bool:
        """Report by events of `jax.monitoring`, and the frames of JAX that take calls."""
        _Listener(on_miss)
        return True
