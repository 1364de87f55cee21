"""What JAX does in each call of a jitted function."""

import logging
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
from jax._src import core

from ipyjaxbench.adapters.jax.compile_events import Event, Events, phases_of, programs_of
from ipyjaxbench.adapters.jax.retracing import cache_key, callee
from ipyjaxbench.adapters.jax.retracing.advice import fixes
from ipyjaxbench.adapters.jax.retracing.callee import Called
from ipyjaxbench.adapters.jax.retracing.traced_code import JaxTracedCode, latest_program
from ipyjaxbench.adapters.shared.retracing import EventWatch
from ipyjaxbench.frameworks import Program
from ipyjaxbench.retracing import Args, Change, Kwargs, Outcome, Signature
from ipyjaxbench.usercode import is_users_file

#: First lines of what `jax.explain_cache_misses` logs, in the words of all versions so far.
_MISS = re.compile(r"TRACING CACHE MISS at .*?\((?P<caller>[^)]*)\)")
_OF = re.compile(
    r"^\s*(?:for )?(?P<name>\S+)(?: id=(?P<id>\d+))? defined at (?P<place>\S+)", re.MULTILINE
)
#: First words of what is logged then of the cache on disk.
_OF_DISK = ("PERSISTENT COMPILATION CACHE MISS", "Persistent compilation cache hit",
            "Writing %s to persistent", "Not writing persistent cache entry")  # fmt: skip
_SAYS = re.compile(r"^\s*\* (.*)$|^\s*(explanation unavailable.*)$", re.MULTILINE)


class Mark(NamedTuple):
    """The state before a call: numbers of events and log messages, and of programs in the cache."""

    events: int
    logged: int
    entries: int


class JaxCallWatch(EventWatch[Event]):
    """Events of `jax.monitoring`, sizes of caches, and JAX's own words where it has some."""

    def __init__(self) -> None:
        events, log = Events(), _CacheMissLog()
        self._events, self._messages = events.events, log.messages
        explain = jax.explain_cache_misses(True)  # noqa: FBT003
        super().__init__(jax.block_until_ready, events.events, events, log, explain)

    def takes(self, function: Any) -> bool:
        """Whether it is jitted, and not called while another one is traced: then it is part."""
        return not _is_tracing() and callee.is_watched(function)

    def name(self, function: Any) -> str:
        """Return the name of what was jitted."""
        return callee.display_name(callee.plain_of(function))

    def begin_call(self, function: Any) -> Mark:
        """Return positions among events and messages, and the size of the cache."""
        return Mark(len(self._events), len(self._messages), _entries(function))

    def end_call(self, function: Any, mark: Mark) -> Outcome | None:
        """Return what the call's own events say; where there are none, whether the cache grew."""
        if jax.config.jax_disable_jit:
            return Outcome("BYPASSED")
        if len(self._events) == mark.events:
            grown = 0 <= mark.entries < _entries(function)
            return Outcome("SLOW-PATH") if grown else None
        new = self._since(mark.events)
        name = self.name(function)
        is_around = callee.transformation_of(function) and not hasattr(function, "lower")
        own = [event for event in new.values() if not is_around or event.name == name]
        if not own:
            return None  # what was compiled is what `jax.grad` and the like do around it
        self._owned.update(new)
        logged = self._messages[mark.logged :]
        return Outcome(
            state=_state(own, is_traced=_is_traced(function, logged)),
            phases=phases_of([*new.values()]),
            nested=_nested(name, logged),
            fallback_reasons=_reasons_logged(name, logged),
            disk_misses=tuple(e.search.miss for e in new.values() if e.search is not None),
            known=mark.entries > 0 if mark.entries >= 0 else None,
            traced_until=max((e.end for e in new.values() if e.phase == "trace"), default=0.0),
        )

    def signature(self, function: Any, args: Args, kwargs: Kwargs) -> Signature:
        """Return that of the arguments, those of a method or a partial among them."""
        called = Called.from_call(function, args, kwargs)
        names = (callee.transformation_around(), called.transformation)
        return cache_key.signature(called._replace(transformation=" of ".join(filter(None, names))))

    def traced_code(self, function: Any, args: Args, kwargs: Kwargs) -> JaxTracedCode:
        """Return the function that was jitted, with what is static and the shapes of the rest."""
        called = Called.from_call(function, args, kwargs)
        static = callee.static_arguments(callee.jitted_in(function))
        return JaxTracedCode(called, static, latest_program(called.function))

    def predicts(self, function: Any, args: Args, kwargs: Kwargs) -> bool | None:
        """Whether JAX, which is asked to trace nothing, raises."""
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

    def fixes(self, name: str, why: Sequence[Change]) -> tuple[str, ...]:
        """Return what to write, by what changed."""
        return fixes(name, why)

    def outside(self) -> tuple[Program, ...]:
        """Return those of single operations, mostly."""
        return programs_of(self._others())


def _is_tracing() -> bool:
    """Whether this thread builds a jaxpr (private; not known before 0.4.36)."""
    context = getattr(core, "trace_ctx", None)
    return type(getattr(context, "trace", None)).__name__ == "DynamicJaxprTrace"


def _entries(function: Any) -> int:
    """Count the programs that a jitted function finds without Python; -1 where not known."""
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
    name, ids = callee.display_name(plain), (None, str(id(plain)))
    traced = (of for text in logged for of in [_OF.search(text)] if of)
    return any(of["name"] == name and of["id"] in ids for of in traced)


def _is_not_of_disk(record: logging.LogRecord) -> bool:
    """Whether a message is not one of those that explaining cache misses turns on."""
    return not str(record.msg).startswith(_OF_DISK)


class _CacheMissLog(logging.Handler):
    """Keeps what JAX logs about its caches, and keeps it from being shown."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self._loggers = [
            logging.getLogger(f"jax._src.{name}") for name in ("pjit", "interpreters.partial_eval")
        ]
        # These also log what is no business of ours.
        self._of_disk = [
            logging.getLogger(f"jax._src.{name}") for name in ("compiler", "compilation_cache")
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
        for logger in self._of_disk:
            logger.addFilter(_is_not_of_disk)
        return self

    def __exit__(self, *_: object) -> None:
        for logger, propagate, level in self._before:
            logger.removeHandler(self)
            logger.propagate, logger.level = propagate, level
        for logger in self._of_disk:
            logger.removeFilter(_is_not_of_disk)


def _nested(root: str, logged: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Return the user's functions that were traced inside of another one, with their depth."""
    callers: dict[str, str] = {}
    for text in logged:
        miss, of = _MISS.search(text), _OF.search(text)
        if miss and of and of["name"] != root and is_users_file(of["place"]):
            callers.setdefault(of["name"], miss["caller"].rpartition(".")[2])
    depths: dict[str, int] = {}

    def add_callees(caller: str, depth: int) -> None:
        for name in callers:
            if callers[name] == caller and name not in depths:
                depths[name] = depth
                add_callees(name, depth + 1)

    add_callees(root, 1)
    depths = {**depths, **{name: 1 for name in callers if name not in depths}}
    return tuple((depth, name) for name, depth in depths.items())


def _reasons_logged(root: str, logged: Sequence[str]) -> tuple[Change, ...]:
    """Return JAX's reason for tracing a function, in one line."""
    for text in logged:
        of = _OF.search(text)
        if of and of["name"] == root:
            reasons = "; ".join("".join(each) for each in _SAYS.findall(text))
            return (Change("guard", new=f"jax: {reasons}"),) if reasons else ()
    return ()
