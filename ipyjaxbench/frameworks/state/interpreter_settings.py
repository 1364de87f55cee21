"""What calls change of Python's own settings: they are no attributes of what the code names."""

import contextvars
import gc
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ipyjaxbench.frameworks.state.alarms import Alarm
from ipyjaxbench.frameworks.state.log_handlers import (
    Logger,
    forget_loggers,
    handler_states,
    loggers,
)
from ipyjaxbench.frameworks.state.mock_patches import started_patches
from ipyjaxbench.frameworks.state.names import AttributeNames, DictNames
from ipyjaxbench.frameworks.state.undo import Holder, Setting, State
from ipyjaxbench.usercode import (
    class_dict,
    is_exactly,
    is_of,
    is_users_class,
    module_of,
    mro_of,
)

_UNSET: Any = object()
#: Of a context of `decimal`; its flags are left to it.
_DECIMAL_FIELDS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


class Variable(Setting):
    """What a context variable stands for; one that was not set cannot be unset again."""

    def __init__(self, variable: Any) -> None:
        is_set = variable.get(_UNSET) is not _UNSET
        write = (lambda values: variable.set(*values)) if is_set else None
        self._default = None
        with suppress(LookupError):  # it has none
            self._default = variable.get()
        super().__init__(lambda: [variable.get(_UNSET)], write)

    @property
    def parts(self) -> list[Any]:
        """The value, or the default, which code may change in place."""
        return [self._default if each is _UNSET else each for each in self._before]


def interpreter_states(value: Any) -> list[State] | None:
    """Return what calls change through an object of Python's own; None elsewhere."""
    decimal: Any = sys.modules.get("decimal")
    if value is os.environ:
        return [Setting(read_environment, write_environment)]
    if value is sys.modules:  # those that are taken away are imported again, and are two then
        return [Setting(lambda: [*sys.modules.values()], None)]
    if decimal is not None and is_exactly(value, decimal.Context):
        return [decimal_setting(value)]
    for kind, states in _BY_KIND:
        if is_of(value, kind):
            return states(value)
    if is_exactly(value, memoryview):
        return [Holder(value, [value.obj])]
    is_holder = is_exactly(value, MappingProxyType) or module_of(type(value)) == "_csv"
    return [Holder(value, gc.get_referents(value))] if is_holder else None


def _context_states(context: Any) -> list[State]:
    return [Setting(lambda: [each for item in context.items() for each in item], None)]


def _local_states(local: Any) -> list[State]:
    """Return what it holds in this thread; to ask one with a start of its own may call that."""
    if any("__init__" in class_dict(k) for k in mro_of(type(local)) if is_users_class(k)):
        return []
    return [DictNames(threading.local.__getattribute__(local, "__dict__"))]


#: What is looked at by itself, though its class is Python's own.
_BY_KIND: tuple[tuple[type, Callable[[Any], list[State] | None]], ...] = (
    (contextvars.ContextVar, lambda it: [Variable(it)]),
    (contextvars.Context, _context_states),
    (threading.local, _local_states),
    (logging.Logger, lambda it: [Logger(it)]),
    (logging.Handler, handler_states),
)


def _set_filters(warnings: Any, filters: list[Any]) -> None:
    """Set them so that Python sees it, as it does where one is put in front."""
    warnings.simplefilter("default")
    warnings.filters[:] = filters


def _read_umask(os: Any) -> int:
    """Return which permissions new files lack.

    Only Linux tells, from 4.7 on; elsewhere it is the strictest for the moment of asking.
    """
    with suppress(OSError):
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
        for line in lines:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    os.umask(mask := os.umask(0o077))
    return int(mask)


class _ThreadNames(AttributeNames):
    """The name of a thread, and what code keeps in its attributes; the rest is Python's own."""

    def _values(self) -> dict[str, Any]:
        held = super()._values().items()
        return {name: value for name, value in held if name == "_name" or name[:1] != "_"}


def _handlers(signal: Any) -> list[Any]:
    """Return what is called when a signal comes."""
    return [each for each in map(signal.getsignal, _signals(signal)) if callable(each)]


def _signals(signal: Any) -> list[int]:
    return sorted(signal.valid_signals())


def _set_handlers(signal: Any, handlers: list[Any]) -> None:
    for number, handler in zip(_signals(signal), handlers, strict=True):
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def _tables_of_types(mimetypes: Any) -> list[Any]:
    known = mimetypes._db  # to ask for one makes it
    return [] if known is None else [*known.types_map, *known.types_map_inv]


def _stack_size(threading: Any) -> int:
    threading.stack_size(size := threading.stack_size())  # to ask sets it to 0
    return int(size)


def _limits(resource: Any) -> list[int]:
    return [number for name, number in vars(resource).items() if name.startswith("RLIMIT_")]


class _Row(NamedTuple):
    """A setting, and how it is read and set; None where it cannot be set."""

    label: str
    read: Callable[[Any], list[Any]]
    write: Callable[[Any, list[Any]], object] | None


#: By the name of the module, which is handed to the functions.
_ROWS: dict[str, tuple[_Row, ...]] = {
    "os": (
        _Row("the working directory", lambda m: [m.getcwd()], lambda m, v: m.chdir(*v)),
        _Row("os.environ", lambda _: read_environment(), lambda _, v: write_environment(v)),
        _Row("os.umask()", lambda m: [_read_umask(m)], lambda m, v: m.umask(*v)),
        _Row("os.nice()", lambda m: [m.getpriority(m.PRIO_PROCESS, 0)],
             lambda m, v: m.setpriority(m.PRIO_PROCESS, 0, *v)),
        _Row("os.sched_getaffinity()", lambda m: sorted(m.sched_getaffinity(0)),
             lambda m, v: m.sched_setaffinity(0, v)),
    ),
    "sys": (
        _Row("the recursion limit", lambda m: [m.getrecursionlimit()],
             lambda m, v: m.setrecursionlimit(*v)),
        _Row("the switch interval", lambda m: [m.getswitchinterval()],
             lambda m, v: m.setswitchinterval(*v)),
        _Row("sys.get_int_max_str_digits()", lambda m: [m.get_int_max_str_digits()],
             lambda m, v: m.set_int_max_str_digits(*v)),
        _Row("sys.getdlopenflags()", lambda m: [m.getdlopenflags()],
             lambda m, v: m.setdlopenflags(*v)),
        _Row("sys.get_coroutine_origin_tracking_depth()",
             lambda m: [m.get_coroutine_origin_tracking_depth()],
             lambda m, v: m.set_coroutine_origin_tracking_depth(*v)),
        _Row("sys.getprofile()", lambda m: [m.getprofile()], lambda m, v: m.setprofile(*v)),
        _Row("sys.gettrace()", lambda m: [m.gettrace()], lambda m, v: m.settrace(*v)),
    ),
    "gc": (
        _Row("gc.isenabled()", lambda m: [m.isenabled()],
             lambda m, v: m.enable() if v[0] else m.disable()),
        _Row("gc.freeze()", lambda m: [m.get_freeze_count() > 0],
             lambda m, v: m.freeze() if v[0] else m.unfreeze()),
        _Row("gc.get_threshold()", lambda m: [*m.get_threshold()],
             lambda m, v: m.set_threshold(*v)),
        _Row("gc.get_debug()", lambda m: [m.get_debug()], lambda m, v: m.set_debug(*v)),
    ),
    "warnings": (_Row("warnings.filters", lambda m: [*m.filters], _set_filters),),
    "signal": (_Row("handlers of signals", lambda m: [*map(m.getsignal, _signals(m))],
                    _set_handlers),
               _Row("signal.getitimer()", lambda m: [
                   each > 0 for which in (m.ITIMER_VIRTUAL, m.ITIMER_PROF)
                   for each in m.getitimer(which)], None),
               _Row("signal.pthread_sigmask()",
                    lambda m: sorted(m.pthread_sigmask(m.SIG_BLOCK, [])),
                    lambda m, v: m.pthread_sigmask(m.SIG_SETMASK, v))),
    "threading": (_Row("threading.stack_size()", lambda m: [_stack_size(m)],
                       lambda m, v: m.stack_size(*v)),),
    "readline": (_Row("history of readline", lambda m: [m.get_current_history_length()], None),),
    "time": (_Row("the time zone", lambda m: [m.timezone, m.altzone, *m.tzname],
                  lambda m, _: m.tzset()),),  # by `os.environ`, which is put back too
    "resource": (_Row("resource.getrlimit()", lambda m: [*map(m.getrlimit, _limits(m))],
                      lambda m, v: [*map(m.setrlimit, _limits(m), v)]),),
    "multiprocessing": (_Row("multiprocessing.get_start_method()",
                             lambda m: [m.get_start_method(allow_none=True)],
                             lambda m, v: m.set_start_method(*v, force=True)),),
    "locale": (_Row("the locale", lambda m: [m.setlocale(m.LC_ALL)],
                    lambda m, v: m.setlocale(m.LC_ALL, *v)),),
    "socket": (_Row("socket.getdefaulttimeout()", lambda m: [m.getdefaulttimeout()],
                    lambda m, v: m.setdefaulttimeout(*v)),),
    "csv": (_Row("csv.field_size_limit()", lambda m: [m.field_size_limit()],
                 lambda m, v: m.field_size_limit(*v)),
            _Row("csv.list_dialects()", lambda m: m.list_dialects(), None)),
    "atexit": (_Row("functions registered by atexit", lambda m: [m._ncallbacks()], None),),
    "weakref": (_Row("weakref.finalize", lambda m: [len(m.finalize._registry)], None),),
    "logging": (_Row("loggers", lambda m: [*m.root.manager.loggerDict],
                     forget_loggers),
                _Row("logging.disable", lambda m: [m.root.manager.disable],
                     lambda m, v: m.disable(*v))),
    "tracemalloc": (_Row("tracemalloc.is_tracing()", lambda m: [m.is_tracing()],
                         lambda m, v: m.start() if v[0] else m.stop()),),
    "faulthandler": (_Row("faulthandler.is_enabled()", lambda m: [m.is_enabled()], None),),
    "decimal": (_Row("decimal.getcontext()", lambda m: _read_decimal(m.getcontext()),
                     lambda m, v: _write_decimal(m.getcontext(), v)),),
}  # fmt: skip
#: What a module keeps in tables and objects, by what it is called.
_HELD: dict[str, tuple[tuple[str, Callable[[Any], list[Any]]], ...]] = {
    "logging": (("handlers of loggers", loggers),),
    "signal": (("what signals call", _handlers),),
    "mimetypes": (("types of mimetypes", _tables_of_types),),
    "sqlite3": (("adapters of sqlite3", lambda m: [m.adapters, m.converters]),),
}
#: What is read and put back in ways of its own.
_OTHERS: dict[str, Callable[[Any], Iterator[tuple[str, State]]]] = {
    "threading": lambda m: iter([("the current thread", _ThreadNames(m.current_thread()))]),
    "signal": lambda m: iter([("signal.alarm()", Alarm())] if hasattr(m, "getitimer") else ()),
    "unittest": started_patches,
}
_SAME_AS = {"posix": "os", "nt": "os", "_decimal": "decimal", "_csv": "csv", "_signal": "signal",
            "_locale": "locale", "_socket": "socket", "_warnings": "warnings"}  # fmt: skip


def interpreter_settings(module: str) -> Iterator[tuple[str, State]]:
    """Yield settings of one of Python's modules by what they are called; none of others."""
    name = _SAME_AS.get(module, module)
    found = sys.modules.get(name)
    for label, read, write in _ROWS.get(name, ()) if found is not None else ():
        set_ = None if write is None else _applied(write, found)
        try:
            yield label, Setting(_applied(read, found), set_)
        except (AttributeError, OSError):  # a platform that has none
            continue
    if name in _OTHERS and found is not None:
        yield from _OTHERS[name](found)
    for label, parts in _HELD.get(name, ()) if found is not None else ():
        yield label, Holder(None, parts(found))


def _applied(function: Callable[..., Any], module: object) -> Callable[..., Any]:
    return lambda *values: function(module, *values)


def read_environment() -> list[str]:
    """Return the names and values of all variables, one after the other."""
    return [text for item in os.environ.items() for text in item]


def write_environment(texts: list[str]) -> None:
    """Have the environment hold these variables and no others."""
    old = dict(zip(texts[::2], texts[1::2], strict=True))
    for name in [*os.environ]:
        if name not in old:
            del os.environ[name]
    for name, value in old.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def decimal_setting(context: Any) -> Setting:
    """Return what calls change of a context of `decimal`."""
    return Setting(lambda: _read_decimal(context), lambda values: _write_decimal(context, values))


def _read_decimal(context: Any) -> list[Any]:
    return [*(getattr(context, name) for name in _DECIMAL_FIELDS), *context.traps.values()]


def _write_decimal(context: Any, values: list[Any]) -> None:
    count = len(_DECIMAL_FIELDS)
    for name, value in zip(_DECIMAL_FIELDS, values[:count], strict=True):
        setattr(context, name, value)
    for signal, is_raised in zip([*context.traps], values[count:], strict=True):
        context.traps[signal] = is_raised
