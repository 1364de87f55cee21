"""What JAX logs of its caches: read, and shown as if nobody read it."""

import logging
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack

import jax
from jax._src.interpreters import partial_eval

from ipyjaxbench.adapters.jax.own_work import hide_our_lines
from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.adapters.jax.retracing.safe_explanations import SafeExplanations
from ipyjaxbench.retracing import Change
from ipyjaxbench.usercode import is_exactly, is_users_file

#: First lines of what `jax.explain_cache_misses` logs, in the words of all versions so far. JAX
#: knows no caller of a jitted function that `jax.jit(jax.grad(f))` traces.
_MISS = re.compile(r"TRACING CACHE MISS at (?:.*?\((?P<caller>[^)]*)\))?")
_OF = re.compile(
    r"^\s*(?:for )?(?P<name>\S+)(?: id=(?P<id>\d+))? defined at (?P<place>\S+)", re.MULTILINE
)
_SAYS = re.compile(r"^\s*\* (.*)$|^\s*(explanation unavailable.*)$", re.MULTILINE)
#: In what JAX says of a trace of ours, which it keeps under a number that no user has.
_OF_OURS = "jax_pgle_profiling_runs"
_UNKNOWN = "reason unknown: JAX names a trace that looking for stale programs left"
#: First words of what that raises from DEBUG to WARNING, of the cache on disk.
_OF_DISK = ("PERSISTENT COMPILATION CACHE MISS", "Writing %s to persistent",
            "Not writing persistent cache entry")  # fmt: skip
_LOGGERS = ("jax._src.pjit", "jax._src.interpreters.partial_eval")
_OF_DISK_LOGGERS = ("jax._src.compiler", "jax._src.compilation_cache")


class CacheMissLog(AbstractContextManager["CacheMissLog"]):
    """Has JAX explain misses of its caches, and keeps what it says.

    What the user's handlers get is what they would get otherwise: all of it where the user turned
    `jax_explain_cache_misses` on, else messages of the disk cache at their own level.
    """

    def __init__(self) -> None:
        self.messages: list[str] = []
        self._stack = ExitStack()

    def __enter__(self) -> "CacheMissLog":
        hide_our_lines()
        self._is_shown = bool(jax.config.jax_explain_cache_misses)
        self._least: dict[str, int] = {}  # levels of loggers that the user has turned down
        for name in (*_LOGGERS, *_OF_DISK_LOGGERS):
            logger = logging.getLogger(name)
            if name in _LOGGERS and not logger.isEnabledFor(logging.WARNING):
                self._turn_up(logger)
            logger.filters.insert(0, self._filter)  # what it drops is nothing to the user's own
            self._stack.callback(logger.removeFilter, self._filter)
        self._stack.enter_context(jax.explain_cache_misses(True))  # noqa: FBT003
        self._stack.enter_context(SafeExplanations())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _turn_up(self, logger: logging.Logger) -> None:
        """Have a logger make messages that its handlers do not get."""
        level, disabled = logger.level, logger.disabled
        self._least[logger.name] = logging.CRITICAL + 1 if disabled else logger.getEffectiveLevel()
        logger.disabled = False
        logger.setLevel(logging.WARNING)

        def turn_down() -> None:
            logger.disabled = disabled
            logger.setLevel(level)

        self._stack.callback(turn_down)

    def _filter(self, record: logging.LogRecord) -> bool:
        """Whether the user's handlers get a message."""
        text = str(record.msg)
        is_shown = self._is_shown
        if _MISS.search(text):
            self.messages.append(text)
        elif not is_shown and text.startswith(_OF_DISK):
            level = record.levelno = logging.DEBUG
            record.levelname = logging.getLevelName(level)
            is_shown = logging.getLogger(record.name).isEnabledFor(level)
        else:
            is_shown = True
        return is_shown and record.levelno >= self._least.get(record.name, 0)


def tells_traces(function: object) -> bool:
    """Whether JAX logs each trace of a jitted function: from 0.10 on, where it keeps traces.

    It does not log another one after a trace that raised an error.
    """
    jitted, _, _ = callee.unbound(function)
    code = getattr(callee.plain_of(jitted), "__code__", None)
    return (
        is_exactly(jitted, *callee.JITTED)
        and hasattr(partial_eval, "trace_to_jaxpr")
        and not jax.config.jax_check_tracer_leaks
        and all(logging.getLogger(name).isEnabledFor(logging.WARNING) for name in _LOGGERS)
        and code is not None
        and is_users_file(code.co_filename)  # of others JAX logs some
    )


def is_traced(function: object, logged: Sequence[str]) -> bool:
    """Whether JAX logs that a function was traced: below `jax.grad` it has no event for that.

    What `jax.jacfwd` and the like trace around it has its name too, and another identity.
    """
    plain = callee.plain_of(function)
    name, ids = callee.display_name(plain), (None, str(id(plain)))
    traced = (of for text in logged for of in [_OF.search(text)] if of)
    return any(_name(of) == name and of["id"] in ids for of in traced)


def nested(root: str, logged: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Return the user's functions that were traced inside of another one, with their depth."""
    callers: dict[str, str] = {}
    for text in logged:
        miss, of = _MISS.search(text), _OF.search(text)
        if miss and of and _name(of) != root and is_users_file(of["place"]):
            callers.setdefault(_name(of), (miss["caller"] or "").rpartition(".")[2])
    depths: dict[str, int] = {}

    def add_callees(caller: str, depth: int) -> None:
        for name in callers:
            if callers[name] == caller and name not in depths:
                depths[name] = depth
                add_callees(name, depth + 1)

    add_callees(root, 1)
    depths = {**depths, **{name: 1 for name in callers if name not in depths}}
    return tuple((depth, name) for name, depth in depths.items())


def _name(of: re.Match[str]) -> str:
    """Return a function's own name; older versions of JAX put what defines it in front."""
    return of["name"].rpartition(".")[2]


def outermost(logged: Sequence[str]) -> tuple[str, ...]:
    """Return the user's functions that were traced, without those traced within one of them."""
    callers: dict[str, set[str]] = {}
    for text in logged:
        miss, of = _MISS.search(text), _OF.search(text)
        if miss and of and is_users_file(of["place"]):
            caller = (miss["caller"] or "").rpartition(".")[2]
            callers.setdefault(_name(of), set()).add(caller)
    return tuple(name for name, each in callers.items() if not each <= callers.keys() - {name})


def reasons(root: str, logged: Sequence[str]) -> tuple[Change, ...]:
    """Return JAX's reason for tracing a function, in one line."""
    for text in logged:
        of = _OF.search(text)
        if of and _name(of) == root:
            found = ["".join(each) for each in _SAYS.findall(text)]
            theirs = [each for each in found if _OF_OURS not in each]
            says = f"jax: {'; '.join(theirs)}" if theirs else _UNKNOWN
            return (Change("guard", new=says),) if found else ()
    return ()
