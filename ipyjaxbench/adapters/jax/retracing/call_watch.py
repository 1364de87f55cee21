"""What JAX does in each call of a jitted function."""

import logging
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import jax
from jax._src import core

from ipyjaxbench.adapters.jax.compile_events import Event, Events, phases_of, programs_of
from ipyjaxbench.adapters.jax.retracing import cache_key, callee
from ipyjaxbench.adapters.jax.retracing.advice import fixes
from ipyjaxbench.frameworks import Program
from ipyjaxbench.retracing import CallWatch, Change, Outcome, Signature
from ipyjaxbench.usercode import is_users_file

#: First lines of what `jax.explain_cache_misses` logs, in the words of all versions so far.
_MISS = re.compile(r"TRACING CACHE MISS at .*?\((?P<caller>[^)]*)\)")
_OF = re.compile(
    r"^\s*(?:for )?(?P<name>\S+)(?: id=(?P<id>\d+))? defined at (?P<place>\S+)", re.MULTILINE
)
_SAYS = re.compile(r"^\s*\* (.*)$|^\s*(explanation unavailable.*)$", re.MULTILINE)


class Mark(NamedTuple):
    """The state before a call: numbers of events and log messages, and of programs in the cache."""

    events: int
    logged: int
    entries: int


class JaxCallWatch(CallWatch):
    """Events of `jax.monitoring`, sizes of caches, and JAX's own words where it has some."""

    def __init__(self) -> None:
        self._events = Events()
        self._miss_log = _CacheMissLog()
        self._stack = ExitStack()
        self._owned: set[int] = set()  # positions of events that belong to a call

    def __enter__(self) -> "JaxCallWatch":
        self._stack.enter_context(self._events)
        self._stack.enter_context(self._miss_log)
        explain = getattr(jax, "explain_cache_misses", None)  # from 0.4.31 on
        if explain is not None:
            self._stack.enter_context(explain(True))  # noqa: FBT003
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def takes(self, function: Any) -> bool:
        """Jitted functions, also behind a method, a partial, or a wrapper of a library.

        While another one is traced they are parts of that.
        """
        return not _is_tracing() and callee.is_watched(function)

    def name(self, function: Any) -> str:
        """The name of what was jitted."""
        return callee.name_of(callee.plain_of(function))

    def before(self, function: Any) -> Mark:
        """Return positions among events and messages, and the size of the cache."""
        return Mark(len(self._events.events), len(self._miss_log.messages), _entries(function))

    def after(self, function: Any, mark: Mark) -> Outcome | None:
        """The call's own events; where there are none, whether the cache grew."""
        if jax.config.jax_disable_jit:
            return Outcome("BYPASSED")
        if len(self._events.events) == mark.events:
            grown = 0 <= mark.entries < _entries(function)
            return Outcome("SLOW-PATH") if grown else None
        thread = threading.get_ident()
        mine = [
            (position, event)
            for position, event in enumerate(self._events.events[mark.events :], mark.events)
            if event.thread == thread
        ]
        name = self.name(function)
        is_around = callee.transformation_of(function) and not hasattr(function, "lower")
        own = [event for _, event in mine if not is_around or event.name == name]
        if not own:
            return None  # what was compiled is what `jax.grad` and the like do around it
        self._owned.update(position for position, _ in mine)
        logged = self._miss_log.messages[mark.logged :]
        return Outcome(
            state=_state(own, is_traced=_is_traced(function, logged)),
            phases=phases_of([event for _, event in mine]),
            nested=_nested(name, logged),
            fallback_reasons=_reasons_logged(name, logged),
            known=mark.entries > 0 if mark.entries >= 0 else None,
            traced_until=max((e.end for _, e in mine if e.phase == "trace"), default=0.0),
        )

    def signature(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Signature:
        """Of the arguments, those of a method or a partial among them."""
        return cache_key.signature(function, args, kwargs)

    def predicts(
        self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> bool | None:
        """Asked of JAX, which raises where it would trace."""
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

    def wait(self, value: object) -> None:
        """Wait for every array in it."""
        jax.block_until_ready(value)

    def fixes(self, name: str, why: Sequence[Change]) -> tuple[str, ...]:
        """What to write, by what changed."""
        return fixes(name, why)

    def outside(self) -> tuple[Program, ...]:
        """Those of single operations, mostly."""
        events = self._events.events
        return programs_of([e for i, e in enumerate(events) if i not in self._owned])


def _is_tracing() -> bool:
    """Whether this thread builds a jaxpr (private; before 0.4.36 it is not told)."""
    context = getattr(core, "trace_ctx", None)
    return type(getattr(context, "trace", None)).__name__ == "DynamicJaxprTrace"


def _entries(function: Any) -> int:
    """Programs that a jitted function finds without Python's help; -1 where it does not tell."""
    for name in ("_cached", "jitted_fn"):  # of Equinox, of Flax
        function = getattr(function, name, function)
    size = getattr(function, "_cache_size", None)
    return size() if size is not None else -1


def _state(events: Sequence[Event], *, is_traced: bool) -> str:
    phases = {event.phase for event in events}
    if "cache load" in phases and "compile" not in phases:
        return "DISK"
    return "TRACED" if is_traced or "trace" in phases else "RECOMPILED"


def _is_traced(function: Any, logged: Sequence[str]) -> bool:
    """Whether JAX logs that a function was traced: below `jax.grad` it has no event for that.

    What `jax.jacfwd` and the like trace around it has its name too, and another identity.
    """
    plain = callee.plain_of(function)
    found = (of for text in logged for of in [_OF.search(text)] if of)
    return any(
        of["name"] == callee.name_of(plain) and of["id"] in (None, str(id(plain))) for of in found
    )


class _CacheMissLog(logging.Handler):
    """Keeps what JAX logs about its caches, and keeps it from being shown."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self._loggers = [
            logging.getLogger(f"jax._src.{name}") for name in ("pjit", "interpreters.partial_eval")
        ]

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if _MISS.search(text):
            self.messages.append(text)

    def __enter__(self) -> "_CacheMissLog":
        self._before = [(logger, logger.propagate, logger.level) for logger in self._loggers]
        for logger in self._loggers:
            logger.addHandler(self)
            logger.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        for logger, propagate, level in self._before:
            logger.removeHandler(self)
            logger.propagate, logger.level = propagate, level


def _nested(root: str, logged: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Functions that were traced inside of another one; the user's alone."""
    callers: dict[str, str] = {}
    for text in logged:
        miss, of = _MISS.search(text), _OF.search(text)
        if miss and of and of["name"] != root and is_users_file(of["place"]):
            callers.setdefault(of["name"], miss["caller"].rpartition(".")[2])
    found: list[tuple[int, str]] = []

    def under(caller: str, depth: int) -> None:
        for name, mine in list(callers.items()):
            if mine == caller and (name not in {known for _, known in found}):
                found.append((depth, name))
                under(name, depth + 1)

    under(root, 1)
    known = {name for _, name in found}
    return (*found, *((1, name) for name in callers if name not in known))


def _reasons_logged(root: str, logged: Sequence[str]) -> tuple[Change, ...]:
    """JAX's reason for tracing a function, in one line."""
    for text in logged:
        of = _OF.search(text)
        if of and of["name"] == root:
            found = "; ".join("".join(each) for each in _SAYS.findall(text))
            return (Change("guard", new=f"jax says: {found}"),) if found else ()
    return ()
