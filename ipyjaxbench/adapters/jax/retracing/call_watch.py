"""What JAX does in each call of a jitted function."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import jax
from jax._src import core

from ipyjaxbench.adapters.jax.compile_events import Event, Events, phases_of, programs_of
from ipyjaxbench.adapters.jax.retracing import (
    cache_key,
    cache_miss_log,
    callee,
    kept_bodies,
    ufuncs,
)
from ipyjaxbench.adapters.jax.retracing.advice import fixes
from ipyjaxbench.adapters.jax.retracing.cache_miss_log import CacheMissLog
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.adapters.jax.retracing.define_again import (
    how_to_define_again,
    is_frozen,
    keeps_parts,
)
from ipyjaxbench.adapters.jax.retracing.differentiated import applied_call, is_applying
from ipyjaxbench.adapters.jax.retracing.equinox_calls import within_equinox
from ipyjaxbench.adapters.jax.retracing.fast_calls import FastCalls
from ipyjaxbench.adapters.jax.retracing.kept_programs import JaxKeptPrograms, count_programs
from ipyjaxbench.adapters.jax.retracing.traced_code import FrozenCode, JaxTracedCode, latest_code
from ipyjaxbench.adapters.shared.retracing import EventWatch
from ipyjaxbench.adapters.shared.stale_programs import define_all_again
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import Program
from ipyjaxbench.retracing import (
    Args,
    Change,
    Invocation,
    KeptBody,
    Kwargs,
    OnHit,
    Outcome,
    Signature,
)
from ipyjaxbench.usercode import living_token, module_of

_AHEAD = Change("first", new="compiled ahead of time by .compile()")


class Mark(NamedTuple):
    """The state before a call: numbers of events and log messages, and of programs in the cache."""

    events: int
    logged: int
    entries: int
    signature: Signature | None = None  # where tracing may change the arguments
    again: Callable[[], Signature] | None = None  # reads it once more


class JaxCallWatch(EventWatch[Event]):
    """Events of `jax.monitoring`, sizes of caches, and JAX's own words where it has some."""

    kept = JaxKeptPrograms()
    how_to_drop_all = "call `jax.clear_caches()`"

    def __init__(self) -> None:
        events, log, self._fast = Events(), CacheMissLog(), FastCalls()
        self._events, self._messages = events.events, log.messages
        self._told: set[int] = set()  # messages that belong to a call
        self._changes: dict[int, bool] = {}  # by function, whether tracing it changed an argument
        super().__init__(jax.block_until_ready, events.events, events, log, self._fast)

    def takes(self, function: Any) -> bool:
        """Whether it is jitted, and not called while another one is traced: then it is part."""
        return not is_building() and callee.is_watched(function)

    def name(self, function: Any) -> str:
        """Return the name of what was jitted."""
        return callee.lowered_name(function) or callee.called_name(function)

    def full_name(self, function: Any) -> str:
        """Return that with what defines it."""
        return callee.full_name(callee.plain_of(function))

    def begin_call(self, function: Any, args: Args, kwargs: Kwargs) -> Mark:
        """Return positions among events and messages, and the size of the cache.

        Flax changes its modules in place, after a trace too. To read a signature takes longer than
        a call: it is read before the first call, and others if the latest trace changed something.
        """
        mark = Mark(len(self._events), len(self._messages), count_programs(function))
        if not _is_of_flax(function) or not self._changes.get(self.token(function), True):
            return mark
        read = partial(self.signature, function, args, kwargs)
        try:
            return mark._replace(signature=read(), again=read)
        except CODE_ERRORS:  # the call itself may go well
            return mark

    def end_call(self, function: Any, mark: Mark) -> Outcome | None:
        """Return what the call's own events say; where there are none, whether the cache grew."""
        if jax.config.jax_disable_jit:
            return Outcome("BYPASSED")
        self._told.update(range(mark.logged, len(self._messages)))
        if len(self._events) == mark.events:
            grown = 0 <= mark.entries < count_programs(function)
            return Outcome("SLOW-PATH") if grown else None
        new = self._since(mark.events)
        name = self.name(function)
        is_around = callee.transformation_of(function) and not hasattr(function, "lower")
        own = [event for event in new.values() if not is_around or event.name == name]
        if not own:
            return None  # what was compiled is what `jax.grad` and the like do around it
        self._owned.update(new)
        if mark.again is not None:
            with suppress(*CODE_ERRORS):
                self._changes[self.token(function)] = mark.signature != mark.again()
        logged = self._messages[mark.logged :]
        if callee.lowered_name(function):
            return Outcome("RECOMPILED", phases_of([*new.values()]), why=(_AHEAD,))
        return Outcome(
            state=_state(own, is_traced=cache_miss_log.is_traced(function, logged)),
            may_be_found=not logged and cache_miss_log.tells_traces(function),
            phases=phases_of([*new.values()]),
            nested=cache_miss_log.nested(name, logged),
            fallback_reasons=cache_miss_log.reasons(name, logged),
            disk_misses=tuple(e.search.miss for e in new.values() if e.search is not None),
            known=mark.entries > 0 if mark.entries >= 0 else None,
            signature=mark.signature,
            traced_until=max((e.end for e in new.values() if e.phase == "trace"), default=0.0),
        )

    def report_hits(self, on_hit: OnHit) -> None:
        """Report by JAX's own hook for calls that need no Python."""
        self._fast.on_hit = on_hit

    def signature(self, function: Any, args: Args, kwargs: Kwargs) -> Signature:
        """Return that of the arguments, those of a method or a partial among them."""
        if callee.lowered_name(function):
            return Signature({})
        called = Called.from_call(function, args, kwargs)
        names = (callee.transformation_around(), called.transformation)
        return cache_key.signature(called._replace(transformation=" of ".join(filter(None, names))))

    def token(self, function: Any) -> int:
        """Return that of what was jitted; all the rest of a signature takes a millisecond."""
        if callee.lowered_name(function):
            return 0
        return living_token(Called.from_call(function, (), {}).function)

    def owner(self, function: Any) -> Any:
        """Return the object of a method, or a ufunc: all of them share one jitted function."""
        return function if ufuncs.function_of(function) else super().owner(function)

    def methods(self, value: Any) -> Mapping[str, Any]:
        """Return those of a ufunc of the user's."""
        return ufuncs.methods_of(value)

    def traced_code(
        self, function: Any, args: Args, kwargs: Kwargs
    ) -> JaxTracedCode | FrozenCode | None:
        """Return the function that was jitted, with what is static and the shapes of the rest."""
        if callee.lowered_name(function):
            return None
        if is_frozen(function):
            return FrozenCode()
        called = Called.from_call(function, args, kwargs)
        static = callee.static_arguments(callee.jitted_in(function))
        return JaxTracedCode(called, static, latest_code(called.function))

    def inspected(self, function: Any) -> Any:
        """Return it where the method is ``lower``, ``trace`` or ``eval_shape``."""
        return callee.inspected_by(function)

    def applies(self, function: Any) -> bool:
        """Whether it is `jax.jvp`, `jax.vjp` or `jax.linearize`, called while nothing is traced."""
        return is_applying(function) and not is_building()

    def applied(self, function: Any, args: Args) -> Invocation | None:
        """Return the call of the jitted function that it is given."""
        return applied_call(function, args)

    def may_hold_kept(self, function: Any) -> bool:
        """Whether it names a loop or the like, and functions that may have been traced before."""
        return keeps_parts(callee.plain_of(function))

    def keeps_bodies(self, function: Any) -> bool:
        """Whether it is `jax.lax.scan` or the like, or what `jax.checkpoint` gave."""
        return kept_bodies.keeps_bodies(function) and not is_building()

    def bodies(self, function: Any, args: Args, kwargs: Kwargs) -> Iterator[KeptBody]:
        """Yield the user's functions among the arguments, or within."""
        return kept_bodies.look_at_bodies(function, args, kwargs)

    def stale_body(self, body: KeptBody, *call: Any) -> Change | None:
        """Trace the call anew, aside, and hold it against what is kept."""
        return kept_bodies.stale_body(body, *call)

    def how_to_renew_body(self, body: KeptBody) -> str:
        """Return what to type: JAX keeps the trace of this very function."""
        return kept_bodies.how_to_renew_body(body)

    def also_traced(self) -> tuple[str, ...]:
        """Return those that JAX logs."""
        rest = (text for n, text in enumerate(self._messages) if n not in self._told)
        return cache_miss_log.outermost([*rest])

    def predicts(self, function: Any, args: Args, kwargs: Kwargs) -> bool | None:
        """Whether JAX, which is asked to trace nothing, raises."""
        function, args, kwargs = callee.unbound(function, args, kwargs)
        function, args, kwargs = within_equinox(function, args, kwargs)
        trace = getattr(function, "trace", None)
        if trace is None or not hasattr(jax, "no_tracing"):
            return None
        try:
            with jax.no_tracing(True):  # noqa: FBT003
                trace(*args, **kwargs)
        except RuntimeError as error:
            if "no_tracing" in str(error):
                return True
            raise
        return False

    def fixes(self, name: str, why: Sequence[Change], function: Any) -> tuple[str, ...]:
        """Return what to write, by what changed."""
        is_stale = any(each.kind == "stale" for each in why)
        return fixes(
            name, why, function, self.how_to_define_again(function, "`") if is_stale else ""
        )

    def how_to_define_again(self, function: Any, quote: str = "") -> str:
        """Return what to do for another object of the same code: that one JAX traces."""
        return define_all_again(self, function, partial(how_to_define_again, quote=quote))

    def outside(self) -> tuple[Program, ...]:
        """Return those of single operations, mostly."""
        return programs_of(self._others())


def is_building() -> bool:
    """Whether this thread builds a jaxpr (private; not known before 0.4.36)."""
    context = getattr(core, "trace_ctx", None)
    return type(getattr(context, "trace", None)).__name__ == "DynamicJaxprTrace"


def _is_of_flax(function: Any) -> bool:
    if type(function) is callee.JITTED[0]:  # asked first, for it is asked in every call
        return False
    return module_of(type(callee.unbound(function)[0])) == callee.FLAX


def _state(events: Sequence[Event], *, is_traced: bool) -> str:
    phases = {event.phase for event in events}
    if "cache load" in phases and "compile" not in phases:
        return "DISK"
    return "TRACED" if is_traced or "trace" in phases else "RECOMPILED"
