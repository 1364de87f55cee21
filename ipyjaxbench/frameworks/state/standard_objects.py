"""What objects of Python's own library hold: put back where it is in memory alone, else watched."""

import functools
import gc
import itertools
import sys
from collections.abc import Callable, Iterator
from types import MemberDescriptorType
from typing import Any

from ipyjaxbench.frameworks.state.interpreter_settings import decimal_setting
from ipyjaxbench.frameworks.state.streams import connection_state, socket_state
from ipyjaxbench.frameworks.state.undo import Contents, Holder, Setting, State
from ipyjaxbench.frameworks.state.unread_bases import unread_base
from ipyjaxbench.usercode import (
    attributes,
    class_dict,
    is_exactly,
    is_made,
    is_users_class,
    is_users_function,
    module_of,
    mro_of,
    name_of,
)

#: Modules whose objects are what users put into them.
_ENTERED = frozenset((
    "types", "collections", "argparse", "queue", "functools", "copy", "contextlib", "configparser",
    "string", "unittest", "sched", "graphlib", "csv", "email", "html", "json", "statistics",
    "tempfile", "xml",
))  # fmt: skip
#: Modules whose objects go with threads, processes, event loops, or with Python itself: they change
#: without the code, and putting them back would break them.
_LEFT_ALONE = frozenset((
    "threading", "_thread", "asyncio", "_asyncio", "concurrent", "multiprocessing", "weakref",
    "_weakref", "_weakrefset", "importlib", "_frozen_importlib", "_frozen_importlib_external",
    "zipimport", "subprocess", "selectors", "select", "socket", "_socket", "ssl", "_ssl", "signal",
    "contextvars", "_contextvars", "typing", "abc", "_abc", "inspect", "enum", "re", "dis", "ast",
    "io", "_io", "pathlib", "datetime", "zoneinfo", "codeop", "code", "pdb", "bdb", "logging",
))  # fmt: skip
_CACHE = functools._lru_cache_wrapper
_NUMBERS = (bool, int, float, str, bytes)
_SIZED = (list, dict, set, bytearray)
_MOST_KEYS = 1_000  # of a shelf: of a larger one it is looked at how many it has


def changes_by_itself(kind: type) -> bool:
    """Whether objects of a class go with threads, processes, event loops, or with Python itself."""
    return module_of(kind).partition(".")[0] in _LEFT_ALONE


def is_own_part(value: object) -> bool:
    """Whether it is what a library counts by and locks with, in objects of its own."""
    return is_exactly(value, itertools.count) or module_of(type(value)) in ("_thread", "threading")


def cache_states(value: Any) -> Iterator[State]:
    """Yield how full the cache of a function of the user's is: what it holds cannot be taken out.

    How often it was asked is left out: what is asked for again changes nothing.
    """
    if issubclass(type(value), _CACHE) and is_users_function(value.__wrapped__):
        yield Setting(lambda: [*value.cache_info()[1:]], None)


def standard_states(value: Any, package: str) -> list[State] | None:
    """Return what calls change of an object of Python's library; () where nothing shows that.

    Args:
        value: the object; its class was not written by the user.
        package: of its class.

    Returns:
        None for what is none of Python's library, and for what is to be entered as others are.
    """
    kind = type(value)
    found = _BY_CLASS.get((module_of(kind), name_of(kind)))
    if found is not None:
        state = found(value)
        return [] if state is None else [state]
    if package not in sys.stdlib_module_names or package in _ENTERED:
        return None
    if "hexdigest" in class_dict(kind):
        return [Setting(lambda: [value.hexdigest()], None)]
    if package in _LEFT_ALONE or not attributes(value):
        return []
    return [Setting(lambda: _outline(value), None)]


def states_of_base(value: Any) -> Iterator[State]:
    """Yield what the class keeps that a class of the user's extends, where that is in C."""
    for kind in mro_of(type(value)):
        if (found := _BY_CLASS.get((module_of(kind), name_of(kind)))) is not None:
            state = found(value)
            yield from () if state is None else (state,)
            return
    yield from unread_base(value)


def _outline(value: object) -> list[Any]:
    """Return numbers in attributes, and how many items containers in them have."""
    found: list[Any] = []
    for name, each in attributes(value).items():
        if is_exactly(each, *_NUMBERS):
            found += [name, each]
        elif is_exactly(each, *_SIZED):
            found += [name, len(each)]
    return found


class _WeakContents(Contents):
    """What a table of weak references holds; of libraries' objects it is none of the user's."""

    @property
    def parts(self) -> list[object]:
        """Containers, and objects of the user's."""
        return [each for each in super().parts if is_exactly(each, *_SIZED) or _is_of_user(each)]


def _is_of_user(value: object) -> bool:
    """Whether the user wrote the class of an object."""
    return is_users_class(type(value))


def _element(element: Any) -> Setting:
    def write(values: list[Any]) -> None:
        element.text, element.tail, element.attrib, *element[:] = values

    return Contents(lambda: [element.text, element.tail, element.attrib, *element], write)


def _exception(error: Any) -> Setting:
    members = [each for k in mro_of(type(error)) if not is_made(k) for each in _members(k)]

    def write(values: list[Any]) -> None:
        now = [each.__get__(error) for each in members]
        for each, new, old in zip(members, now, values, strict=True):
            if new is not old:
                each.__set__(error, old)

    return Contents(lambda: [each.__get__(error) for each in members], write)


def _members(kind: type) -> Iterator[Any]:
    """Yield what a class of errors keeps in C: `errno`, and what was handed to it."""
    own = class_dict(kind)
    yield from (each for each in own.values() if is_exactly(each, MemberDescriptorType))
    yield from (own["args"],) if kind is BaseException else ()


def _shelf(shelf: Any) -> Setting:
    raw = shelf.dict  # of bytes

    def write(values: list[Any]) -> None:
        before = dict(zip(values[::2], values[1::2], strict=True))
        for key in raw.keys() - before.keys():
            del raw[key]
        for key, value in before.items():
            raw[key] = value

    if len(raw) > _MOST_KEYS:
        found = Setting(lambda: [len(raw)], None)
        found.is_read = False
        return found
    return Setting(lambda: [each for key in sorted(raw.keys()) for each in (key, raw[key])], write)


def _weak(table: Any) -> Setting:
    """Return what remembers keys and values, which it holds itself for as long."""

    def write(values: list[Any]) -> None:
        table.clear()
        table.update(zip(values[::2], values[1::2], strict=True))

    return _WeakContents(lambda: [each for item in table.items() for each in item], write)


def _weak_items(table: Any) -> Setting:
    def write(values: list[Any]) -> None:
        table.clear()
        table.update(values)

    return _WeakContents(lambda: [*table], write)


def _shown(*names: str) -> Callable[[Any], State]:
    """Return what remembers attributes and results of methods: changes are reported, not undone.

    Threads, tasks and processes that wait for one of these go on with what it is.
    """

    def read(it: Any) -> list[Any]:
        found = (getattr(it, name) for name in names)
        return [each() if callable(each) else each for each in found]

    return lambda it: Setting(lambda: read(it), None)


def _event_loop(loop: Any) -> State | None:
    """Return what shows that code was given to a loop; of one that runs nothing does."""
    if loop.is_running():
        return None
    return Setting(lambda: [len(loop._ready), len(loop._scheduled), loop.get_debug()], None)


#: Of objects that keep nothing in attributes, or what goes with others, by module and class.
_BY_CLASS: dict[tuple[str, str], Callable[[Any], State | None]] = {
    ("sqlite3", "Connection"): lambda it: Setting(
        lambda: [it.total_changes, it.row_factory, it.text_factory], None),
    ("sqlite3", "Cursor"): lambda it: Holder(it, [it.connection]),
    ("builtins", "BaseException"): _exception,
    ("decimal", "Context"): decimal_setting,
    ("functools", "KeyWrapper"): lambda it: Holder(it, gc.get_referents(it)),
    ("_pickle", "Pickler"): lambda it: Contents(
        lambda: [len(it.memo.copy()), *gc.get_referents(it)], None),
    ("_pickle", "Unpickler"): lambda it: Holder(it, gc.get_referents(it)),
    ("cProfile", "Profile"): lambda it: Setting(
        lambda: [sum(each.callcount for each in it.getstats())], None),
    ("_queue", "SimpleQueue"): _shown("qsize"),
    ("xml.etree.ElementTree", "Element"): _element,
    ("weakref", "WeakValueDictionary"): _weak,
    ("weakref", "WeakKeyDictionary"): _weak,
    ("_weakrefset", "WeakSet"): _weak_items,
    ("shelve", "DbfilenameShelf"): _shelf,
    ("itertools", "count"): lambda it: Setting(lambda: [itertools.count.__repr__(it)], None),
    ("zlib", "Compress"): lambda it: Setting(lambda: [it.copy().flush()], None),
    ("_thread", "lock"): _shown("locked"),
    ("_thread", "RLock"): lambda it: Setting(lambda: [repr(it) if it._is_owned() else ""], None),
    ("threading", "Condition"): lambda it: Holder(it, [it._lock]),
    ("threading", "Semaphore"): _shown("_value"),
    ("threading", "BoundedSemaphore"): _shown("_value"),
    ("threading", "Event"): _shown("is_set"),
    ("threading", "Barrier"): _shown("n_waiting", "broken"),
    ("asyncio.unix_events", "_UnixSelectorEventLoop"): _event_loop,
    ("_asyncio", "Future"): lambda it: Setting(lambda: [it.done(), len(it._callbacks or ())], None),
    ("concurrent.futures._base", "Future"): lambda it: Setting(
        lambda: [it.done(), len(attributes(it).get("_done_callbacks") or ())], None),
    ("asyncio.locks", "Lock"): _shown("locked"),
    ("asyncio.locks", "Condition"): _shown("locked"),
    ("asyncio.locks", "Event"): _shown("is_set"),
    ("asyncio.locks", "Semaphore"): _shown("_value"),
    ("asyncio.locks", "BoundedSemaphore"): _shown("_value"),
    **{("asyncio.queues", name): _shown("qsize", "_unfinished_tasks")
       for name in ("Queue", "PriorityQueue", "LifoQueue")},
    **{("multiprocessing.synchronize", name): lambda it: Setting(lambda: [repr(it)], None)
       for name in ("Lock", "RLock")},
    **{("multiprocessing.sharedctypes", name): lambda it: Holder(it, [it.get_obj()])
       for name in ("Synchronized", "SynchronizedArray", "SynchronizedString")},
    ("multiprocessing.shared_memory", "SharedMemory"): lambda it: Holder(it, [it.buf]),
    ("multiprocessing.synchronize", "Semaphore"): _shown("get_value"),
    ("multiprocessing.synchronize", "BoundedSemaphore"): _shown("get_value"),
    ("multiprocessing.synchronize", "Event"): _shown("is_set"),
    ("multiprocessing.queues", "Queue"): _shown("qsize"),
    ("multiprocessing.queues", "SimpleQueue"): lambda it: Holder(it, [it._reader]),
    ("multiprocessing.connection", "Connection"): connection_state,
    ("socket", "socket"): socket_state,
    ("ssl", "SSLSocket"): socket_state,
    **{("selectors", name): lambda it: Setting(lambda: [len(it.get_map() or ())], None)
       for name in ("EpollSelector", "PollSelector", "SelectSelector", "KqueueSelector")},
    ("subprocess", "Popen"): lambda it: Holder(it, [it.stdin, it.stdout, it.stderr]),
}  # fmt: skip
