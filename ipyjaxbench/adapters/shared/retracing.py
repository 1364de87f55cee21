"""Tells traced calls from cached ones: the parts that all frameworks share."""

import threading
from ast import literal_eval
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from traceback import walk_stack
from types import FrameType, MethodType
from typing import Any, Generic, Protocol, TypeVar

from ipyjaxbench import units
from ipyjaxbench.graphs import line_of
from ipyjaxbench.retracing import (
    Args,
    CacheMiss,
    CallWatch,
    Change,
    Invocation,
    Kwargs,
    PartChange,
    ReadChange,
)
from ipyjaxbench.usercode import Site, current_frames, is_users_file

_VALUE_CHARACTERS = 40


class _Event(Protocol):
    """Something that a framework reports; `thread` is None where it is not known."""

    @property
    def thread(self) -> int | None: ...


_E = TypeVar("_E", bound=_Event)


class EventWatch(CallWatch, Generic[_E]):
    """A watch by what a framework reports: the list of events grows while sources are open.

    What the thread of a call reports meanwhile belongs to the call.
    """

    def __init__(
        self,
        wait_for: Callable[[object], object],
        events: Sequence[_E],
        *sources: AbstractContextManager[object],
    ) -> None:
        self._wait_for, self._reported, self._sources = wait_for, events, sources
        self._stack = ExitStack()
        self._owned: set[int] = set()  # positions of what belongs to a call

    def __enter__(self) -> "EventWatch[_E]":
        for source in self._sources:
            self._stack.enter_context(source)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def wait(self, value: object) -> None:
        """Wait for the result of a call."""
        self._wait_for(value)

    def _since(self, start: int) -> dict[int, _E]:
        """Return what this thread reported since a position, each with its own."""
        thread = threading.get_ident()
        new = enumerate(self._reported[start:], start)
        return {position: each for position, each in new if each.thread in (None, thread)}

    def _others(self) -> list[_E]:
        """Return what no call owns."""
        return [each for position, each in enumerate(self._reported) if position not in self._owned]


def cache_miss(name: str, signature: Any, *frames: FrameType | None, **facts: Any) -> CacheMiss:
    """Return a call that was not cached, with its line in the user's code."""
    site = site_of(*frames)
    return CacheMiss(name, signature, line=site.line, text=site.text, **facts)


def site_of(*frames: FrameType | None) -> Site:
    """Return the line of the nearest of the user's frames.

    One frame after the other is looked outward from.
    """
    lines = (
        (frame.f_code.co_filename, line)
        for top in frames
        if top is not None
        for frame, line in walk_stack(top)
    )
    file, line = next((place for place in lines if is_users_file(place[0])), ("", 0))
    return Site(line, line_of(file, line), file)


def main_frame() -> FrameType | None:
    """Return what the main thread runs; None there.

    A thread without the user's code runs what the main thread, or its starter, waits for.
    """
    main = threading.main_thread().ident or 0
    return None if threading.get_ident() == main else current_frames().get(main)


def unbound(
    function: Any,
    args: Args = (),
    kwargs: Kwargs | None = None,
    *,
    is_method: Callable[[type], bool] = lambda kind: kind is MethodType,
    is_partial: Callable[[type], bool] = lambda kind: issubclass(kind, partial),
) -> Invocation:
    """Return the function in methods and partials, and all that it is called with."""
    kwargs = kwargs or {}
    while True:
        kind = type(function)
        if is_method(kind):
            function, args = function.__func__, (function.__self__, *args)
        elif is_partial(kind):
            args, kwargs = (*function.args, *args), {**function.keywords, **kwargs}
            function = function.func
        else:
            return function, args, kwargs


def shorten(text: str) -> str:
    """Return the first characters of a value's text, in one line."""
    line = " ".join(text.split()) if "\n" in text else text
    return units.cut(line, _VALUE_CHARACTERS)


def advise(name: str, advice: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return each text once, with the name and all its paths, quoted, in place of its fields."""
    paths: dict[str, dict[str, None]] = {}
    for text, path in advice:
        paths.setdefault(text, {})[path] = None
    return tuple(
        text.format(name=f"`{name}`", path=", ".join(f"`{path}`" for path in each))
        for text, each in paths.items()
    )


def renewing(why: Iterable[Change]) -> tuple[str, ...]:
    """Return what to do where a part of a program was stale when that was traced."""
    found = dict.fromkeys(each.renew for each in why if isinstance(each, PartChange))
    return tuple(each[:1].upper() + each[1:] for each in found if each)


def defining(name: str, why: Iterable[Change]) -> tuple[str, ...]:
    """Return what to do for names that are gone: traced anew, the function would find none."""
    gone = dict.fromkeys(
        (each.path, each.imprint in ("value", "array"))
        for each in why
        if isinstance(each, ReadChange) and each.is_gone
    )
    return tuple(
        f"`{path}` does not exist any more: define it again"
        + f", or pass it to `{name}` as an argument" * is_data
        for path, is_data in gone
    )


def is_gone(change: Change) -> bool:
    """Whether it is a name that nothing has any more."""
    return isinstance(change, ReadChange) and change.is_gone


def is_of_class(change: Change) -> bool:
    """Whether a tree is of another class, as a tuple in place of a list."""
    return change.kind == "structure" and bool(change.old)


def is_number(text: str) -> bool:
    """Whether a value in Python's words is a number, and no truth value."""
    try:
        return type(literal_eval(text)) in (int, float, complex)
    except (ValueError, SyntaxError):
        return False
