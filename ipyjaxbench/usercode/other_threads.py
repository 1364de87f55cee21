"""Threads, and tasks of the event loop, that run code of the user's beside the code that is timed.

Looks at their frames, and holds none longer than that takes.
"""

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from contextvars import Context
from functools import partial
from itertools import chain
from types import BuiltinMethodType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from ipyjaxbench.usercode.classes import class_dict, mro_of
from ipyjaxbench.usercode.code_objects import names_in
from ipyjaxbench.usercode.frames import current_frames
from ipyjaxbench.usercode.objects import attributes, is_exactly, is_of, items_of
from ipyjaxbench.usercode.origin import is_users_class, is_users_file, is_users_function

if TYPE_CHECKING:
    import asyncio

_PLAIN = (type(None), bool, int, float, str)


class OtherCode(NamedTuple):
    """Code of the user's that a thread or a task runs, with the values that it knows.

    Attributes:
        key: tells the thread or task from all others, ended ones too.
        name: of it, as in "thread 'adder'".
        codes: that it runs, and of the function that it was made for.
        values: what the names in that code stand for.
    """

    key: tuple[str, int]
    name: str
    codes: tuple[CodeType, ...]
    values: dict[str, object]

    @property
    def reach(self) -> tuple[object, ...]:
        """Equal where others run the same code with the same objects, as threads of one kind do."""
        held = (each for each in self.values.values() if not is_exactly(each, *_PLAIN))
        return (self.codes, *sorted(map(id, held)))


def find_other_code() -> Iterator[OtherCode]:
    """Yield what threads and tasks run of the user's, but the one that asks."""
    for ident, thread, top in find_threads():
        given = [] if thread is None else _given_to(thread)
        if found := [*given, *map(_seen_from, _users_frames(top))]:
            name = ident if thread is None else repr(thread.name)
            key = ("thread", ident if thread is None else thread.native_id or ident)
            yield _together(key, f"thread {name}", found)
    for task in chain.from_iterable(map(_tasks, _loops())):
        if found := [*map(_seen_from, _frames_of_task(task))]:
            yield _together(("task", id(task)), f"task {task.get_name()!r}", found)
    for handle in chain.from_iterable(map(_handles, _loops())):
        if found := [*_called_later(handle)]:
            yield _together(("callback", id(handle)), "a callback of the event loop", found)


def find_threads() -> Iterator[tuple[int, threading.Thread | None, FrameType]]:
    """Yield each other thread that runs Python: its id, itself, and the frame that it is in.

    One that `_thread` started is None.
    """
    frames = current_frames()
    frames.pop(threading.get_ident())  # a frame that holds itself keeps all its callers hold
    known = {thread.ident: thread for thread in threading.enumerate()}
    for ident, top in frames.items():
        yield ident, known.get(ident), top


def values_in(frame: FrameType) -> dict[str, object]:
    """Return what the names in the code of a frame stand for, its globals among them."""
    names, known = names_in(frame.f_code), frame.f_globals
    found: dict[str, object] = {n: known[n] for n in names if n in known}
    return found if frame.f_locals is known else {**found, **frame.f_locals}


class _Seen(NamedTuple):
    codes: tuple[CodeType, ...]
    values: dict[str, object]


def _seen_from(frame: FrameType) -> _Seen:
    return _Seen((frame.f_code,), values_in(frame))


def _together(key: tuple[str, int], name: str, found: list[_Seen]) -> OtherCode:
    values = {n: value for each in found for n, value in each.values.items()}
    codes = tuple(code for each in found for code in each.codes)
    return OtherCode(key, name, codes, values)


def _users_frames(top: FrameType | None) -> Iterator[FrameType]:
    while top is not None:
        if is_users_file(top.f_code.co_filename):
            yield top
        top = top.f_back


def _given_to(thread: threading.Thread) -> Iterator[_Seen]:
    """Yield what a thread, or a timer, was given to call, which runs later or in C."""
    held: dict[str, Any] = vars(thread)
    for function, args in (("_target", "_args"), ("function", "args")):
        yield from _given(thread.name, held.get(function), held.get(args) or ())


def _given(name: str, target: Any, args: Iterable[object]) -> Iterator[_Seen]:
    if is_of(target, partial):
        args = (*target.args, *target.keywords.values(), *args)
        target = target.func
    if is_exactly(_parts_of_method(target)[0], Context):  # it calls what it is given first
        target, *args = args or (None,)
    owner, plain = _parts_of_method(target)
    values = {f"{name} ({n})": each for n, each in enumerate((owner, *args))}
    if is_users_function(plain):
        yield _Seen((plain.__code__,), {plain.__name__: plain, **values})
    elif is_of(target, BuiltinMethodType) and not is_of(owner, type(None), ModuleType):
        yield _Seen((), values)  # as in `Timer(1, done.append, [1])`
    elif parts := {f.__qualname__: f for f in _functions_called_by(owner)}:
        held_there = {f"{name}.{n}": each for n, each in attributes(owner).items()}
        yield _Seen((), {**values, **held_there, **parts})


def _parts_of_method(target: Any) -> tuple[object, object]:
    """Return what a method is bound to, and its function."""
    if is_of(target, MethodType):
        return target.__self__, target.__func__
    return (target.__self__, None) if is_of(target, BuiltinMethodType) else (None, target)


def _functions_called_by(owner: object) -> Iterator[FunctionType]:
    """Yield functions of the user's that a library's object has: a server's class of handlers."""
    for each in (owner, *attributes(owner).values()):
        every = (*items_of(each, 0),) if is_exactly(each, list, tuple) else (each,)
        for value in every:
            kind = value if is_of(value, type) else type(value)
            if is_users_function(value):
                yield value
            elif is_users_class(kind):  # whose methods nothing names
                own = (f for k in mro_of(kind) for f in class_dict(k).values())
                yield from filter(is_users_function, own)


def _loops() -> Iterator["asyncio.AbstractEventLoop"]:
    """Yield the loop that runs here, and those that other threads run."""
    if (asyncio := sys.modules.get("asyncio")) is None:
        return
    if (own := asyncio._get_running_loop()) is not None:
        yield own
    for _, _, top in find_threads():
        frame: FrameType | None = top
        while frame is not None:
            loop = frame.f_locals.get("self") if frame.f_code.co_name == "run_forever" else None
            if loop is not None and is_of(loop, asyncio.AbstractEventLoop):
                yield loop
            frame = frame.f_back


def _tasks(loop: "asyncio.AbstractEventLoop") -> Iterator["asyncio.Task[Any]"]:
    """Yield tasks of a loop, but the one that asks."""
    asyncio = sys.modules["asyncio"]
    own = asyncio.current_task() if asyncio._get_running_loop() else None
    with suppress(RuntimeError):  # they change all the time
        yield from (task for task in asyncio.all_tasks(loop) if task is not own)


def _handles(loop: "asyncio.AbstractEventLoop") -> list[Any]:
    """Return what a loop is to call; nothing of one that is not Python's own."""
    with suppress(RuntimeError):  # another thread adds to them
        return [*getattr(loop, "_ready", ()), *getattr(loop, "_scheduled", ())]
    return []


def _called_later(handle: Any) -> Iterator[_Seen]:
    target, args = (getattr(handle, each, None) for each in ("_callback", "_args"))
    owner, plain = _parts_of_method(target)
    if is_users_function(plain) or is_of(owner, list, dict, set):
        yield from _given("callback", target, args or ())


def _frames_of_task(task: "asyncio.Task[Any]") -> Iterator[FrameType]:
    awaited: Any = task.get_coro()
    while (frame := getattr(awaited, "cr_frame", None)) is not None:
        if is_users_file(frame.f_code.co_filename):
            yield frame
        awaited = awaited.cr_await
