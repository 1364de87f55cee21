"""Limits how often a block of code or a function may be traced, for programs and tests."""

import functools
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ipyjaxbench.errors import OptionError, SnippetError, short_errors
from ipyjaxbench.frameworks import loaded
from ipyjaxbench.import_hook import LEARNED_FROM, ImportHook, is_for_another
from ipyjaxbench.retracing.cache_key import CacheMiss
from ipyjaxbench.retracing.observe import keep_learning, learns
from ipyjaxbench.retracing.protocol import (
    CallCompiler,
    CallWatch,
    Retracing,
    call_watches,
)
from ipyjaxbench.retracing.stale import find_stale
from ipyjaxbench.retracing.stale_in_block import StaleInBlock, stale_program
from ipyjaxbench.retracing.trace_log import TRACE_LOG, TraceLog
from ipyjaxbench.retracing.traces import TracedCall, Traces, number_calls, too_many_traces
from ipyjaxbench.usercode import ask, name_of


class trace_cached:  # noqa: N801  used as a function is
    """Record which calls in a ``with`` block are traced or compiled, and why.

    Cache hits are not listed, unlike in ``%%trace_cached``; with ``stale="error"`` they are
    checked.

    Args:
        max_traces: how many traces are allowed; None for any number.
        stale: "error" to fail if a call in the block, whatever makes it, ran a stale program: what
            it read has changed since it was traced. If the framework does not report a call, as
            JAX does not for one with side effects, what the block names is checked when it ends.

    Attributes:
        traces: the result, available after the block.

    Raises:
        TooManyTracesError: there were more traces; raised at the end of a block without an error.
        StaleProgramError: a program is stale; raised there, too.
        OptionError: max_traces is not a whole number, or stale is no known word.

    Example:
        >>> # with trace_cached() as t: step(x)
        >>> # t.traces.count
    """

    def __init__(self, max_traces: int | None = None, *, stale: str = "ignore") -> None:
        if max_traces is not None:
            _check("max_traces", max_traces)
        self._most = max_traces
        self._stale = StaleInBlock() if _is_error(stale) else None
        self._imports = ImportHook(LEARNED_FROM, self._learn)
        self.traces = Traces("with trace_cached()", {}, ())

    def __enter__(self) -> "trace_cached":
        keep_learning()
        sys.meta_path.insert(0, self._imports)
        self._before = TRACE_LOG.event_count
        if self._stale is not None:
            self._stale.open(sys._getframe(1))
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        __tracebackhide__ = True
        if self._imports in sys.meta_path:
            sys.meta_path.remove(self._imports)
        if self._stale is not None:
            self._stale.close()
        events = TRACE_LOG.events_since(self._before)
        names = {each.framework for each in events}
        versions = {each.name: each.version() for each in loaded()[0] if each.name in names}
        self.traces = Traces("with trace_cached()", versions, number_calls(events))
        if failed is None and self._most is not None and len(events) > self._most:
            raise too_many_traces(self.traces.calls, self._most)
        if failed is None and self._stale is not None:
            error = self._stale.error(sys._getframe(1))
            if error is not None:
                raise error

    def _learn(self, name: str) -> None:
        """Learn from a framework what the rest of the block traces that has imported it."""
        if not is_for_another(name):
            with suppress(Exception):  # what is raised here would stop the import
                keep_learning()
                if self._stale is not None:
                    self._stale.catch_up()

    def __repr__(self) -> str:
        """One line of `traces`."""
        return repr(self.traces)

    def __str__(self) -> str:
        """The report of `traces`."""
        return str(self.traces)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return self.traces._repr_mimebundle_(**kwargs)


@short_errors
def assert_max_traces(
    function: Callable[..., Any], n: int, *, stale: str = "ignore"
) -> Callable[..., Any]:
    """Return a function that fails when it is traced more than ``n`` times.

    Args:
        function: a plain function, to pass on to `jax.jit` or `tf.function`: cache hits then cost
            nothing extra. Or a compiled function, whose calls are checked one by one; with
            `torch.compile` it must be the compiled one.
        n: how often it may be traced.
        stale: "error" to fail also if a cached call ran a stale program: what the function read
            has changed since it was traced. This checks each call, which takes about 0.1 ms, and
            so needs the compiled function.

    Returns:
        The function; the trace after the last allowed one raises TooManyTracesError, a call of a
        stale program StaleProgramError.

    Raises:
        SnippetError: the function is compiled by a framework that does not report its traces.
        OptionError: `function` is not callable, or not compiled where it must be, `n` is not a
            whole number, or `stale` is no known word.

    Example:
        >>> # step = jax.jit(assert_max_traces(step, 1))
    """
    if not callable(function):
        raise OptionError(f"{function!r} is not callable; use assert_max_traces(f, 1)")
    _check("n", n)
    refuses_stale = _is_error(stale)
    keep_learning()
    for framework, watch in call_watches(loaded()[0]):
        if ask(watch.takes, function):
            checked = watch if refuses_stale else None
            return _guarded_calls(function, framework.name, watch.name(function), n, checked)
    if refuses_stale:
        raise OptionError(
            f'stale="error" needs a compiled function, and `{name_of(function)}` is not: pass what'
            " jax.jit gives"
        )
    return _guarded_body(function, n)


def _check(name: str, number: object) -> None:
    if type(number) is not int or number < 0:
        raise OptionError(f"{name} must be a whole number, 0 or more; got {number!r}")


def _is_error(stale: object) -> bool:
    if not isinstance(stale, str) or stale not in ("ignore", "error"):
        raise OptionError(f'stale must be "ignore" or "error"; got {stale!r}')
    return stale == "error"


def _guarded_calls(
    function: Callable[..., Any], framework: str, name: str, n: int, checked: CallWatch | None
) -> Callable[..., Any]:
    if not learns(framework):
        raise SnippetError(
            f"{framework} does not report when `{name}` is traced: pass the function before it is"
            " compiled, or use %%trace_cached --max-traces"
        )
    traces: list[TracedCall] = []

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        before = TRACE_LOG.event_count
        value = function(*args, **kwargs)
        if TRACE_LOG.event_count != before:
            events = [each for each in TRACE_LOG.events_since(before) if each.name == name]
            traces.extend(events)
            if events and len(traces) > n:
                raise too_many_traces(number_calls(traces), n)
        elif checked is not None and (changes := find_stale(checked, function, args, kwargs)):
            raise stale_program(checked, function, changes)
        return value

    return guarded


def _guarded_body(function: Callable[..., Any], n: int) -> Callable[..., Any]:
    counter = _RunCounter(function, n)
    compiler = CallCompiler("", lambda _: None)

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        before = compiler.switch(None)
        try:
            is_traced = counter.add(args, kwargs)
        finally:
            compiler.switch(before)
        if before is not None and not is_traced:
            raise OptionError(
                f"`{counter.name}` runs in each call of what {compiler.name} gave:"
                f" write assert_max_traces({compiler.name}({counter.name}), {n})"
            )
        return function(*args, **kwargs)

    left = (f.capability(Retracing).leave_uncompiled(guarded) for f in loaded()[0])
    compiler = next(filter(None, left), compiler)
    return guarded


class _RunCounter:
    """Counts the runs of a plain function that trace it."""

    def __init__(self, function: Callable[..., Any], most: int) -> None:
        self.name = name_of(function) or name_of(type(function))
        self._function, self._most, self._log = function, most, TraceLog()

    def add(self, args: Any, kwargs: Any) -> bool:
        """Count a run if it is one; return that. Raise where it is one too many."""
        __tracebackhide__ = True
        tracing = [f for f in loaded()[0] if f.capability(Retracing).is_tracing((args, kwargs))]
        for framework, watch in call_watches(tracing):
            signature = watch.signature(self._function, args, kwargs)
            self._log.record(framework.name, CacheMiss(self.name, signature, placed=False))
            if self._log.event_count > self._most:
                raise too_many_traces(number_calls(self._log.events_since(0)), self._most)
        return bool(tracing)
