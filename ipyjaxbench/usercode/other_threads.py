"""Threads, and tasks of the event loop, that run code of the user's beside the code that is timed.

Looks at their frames, and holds none longer than that takes.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import BuiltinMethodType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from ipyjaxbench.usercode.classes import class_dict, mro_of
from ipyjaxbench.usercode.code_objects import names_in
from ipyjaxbench.usercode.objects import attributes, is_exactly, is_of, items_of
from ipyjaxbench.usercode.origin import is_users_class, is_users_file, is_users_function

if TYPE_CHECKING:
    import asyncio


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


def find_other_code() -> Iterator[OtherCode]:
    """Yield what threads and tasks run of the user's, but the one that asks."""
    for ident, thread, top in other_threads():
        given = [] if thread is None else _given_to(thread)
        if found := [*given, *map(_seen_from, _users_frames(top))]:
            name = ident if thread is None else repr(thread.name)
            key = ("thread", ident if thread is None else thread.native_id or ident)
            yield _together(key, f"thread {name}", found)
    for task in [*_tasks_beside_us(), *_tasks_of_other_threads()]:
        if found := [*map(_seen_from, _frames_of_task(task))]:
            yield _together(("task", id(task)), f"task {task.get_name()!r}", found)


def other_threads() -> Iterator[tuple[int, threading.Thread | None, FrameType]]:
    """Yield each other thread that runs Python: its id, itself, and the frame that it is in.

    One that `_thread` started is None.
    """
    frames = sys._current_frames()
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
        target = held.get(function)
        owner, plain = _parts_of_method(target)
        given = (owner, *(held.get(args) or ()))
        values = {f"{thread.name} ({n})": each for n, each in enumerate(given)}
        if is_users_function(plain):
            yield _Seen((plain.__code__,), {plain.__name__: plain, **values})
        elif is_of(target, BuiltinMethodType) and not is_of(owner, type(None), ModuleType):
            yield _Seen((), values)  # as in `Timer(1, done.append, [1])`
        elif parts := {f.__qualname__: f for f in _functions_called_by(owner)}:
            held_there = {f"{thread.name}.{n}": each for n, each in attributes(owner).items()}
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


def _tasks_of_other_threads() -> Iterator["asyncio.Task[Any]"]:
    """Yield tasks that wait in loops which other threads run."""
    if (asyncio := sys.modules.get("asyncio")) is None:
        return
    for _, _, top in other_threads():
        frame: FrameType | None = top
        while frame is not None:
            loop = frame.f_locals.get("self") if frame.f_code.co_name == "run_forever" else None
            if is_of(loop, asyncio.AbstractEventLoop):
                with suppress(RuntimeError):  # they change all the time
                    yield from asyncio.all_tasks(loop)
            frame = frame.f_back


def _tasks_beside_us() -> list["asyncio.Task[Any]"]:
    if (asyncio := sys.modules.get("asyncio")) is None:
        return []
    try:
        own, tasks = asyncio.current_task(), asyncio.all_tasks()
    except RuntimeError:  # no loop runs here
        return []
    return [task for task in tasks if task is not own]


def _frames_of_task(task: "asyncio.Task[Any]") -> Iterator[FrameType]:
    awaited: Any = task.get_coro()
    while (frame := getattr(awaited, "cr_frame", None)) is not None:
        if is_users_file(frame.f_code.co_filename):
            yield frame
        awaited = awaited.cr_await
