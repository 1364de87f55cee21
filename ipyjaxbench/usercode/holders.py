"""Which of the user's variables holds an object, and what to type to reach it from there."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from traceback import walk_stack
from types import FrameType
from typing import Any

from ipyjaxbench.usercode.objects import attributes, is_exactly
from ipyjaxbench.usercode.origin import is_users_class, is_users_file

#: Gives what an object of a framework holds, each with the step that leads there; None of others.
Parts = Callable[[Any], Iterable[tuple[str, Any]] | None]
_MOST, _ITEMS = 2000, 200  # objects that are looked at, and items of each
_OF_METHODS = ("self", "cls")  # names that say nothing of which object it is


def variables_of(value: object) -> Iterator[str]:
    """Yield the names of the session that stand for an object."""
    yield from (name for name, each in _named(vars(sys.modules["__main__"])) if each is value)


def users_names(inner: FrameType | None, *more: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the names that the user can type: those of all code first, then local ones.

    Args:
        inner: the frame that is looked outward from.
        more: names of other code.
    """
    frames = [f for f, _ in walk_stack(inner) if is_users_file(f.f_code.co_filename)]
    outer = [f.f_globals for f in frames if f.f_locals is f.f_globals]
    local = [f.f_locals for f in frames if f.f_locals is not f.f_globals]
    of_files = [f.f_globals for f in frames]
    found = [*outer, vars(sys.modules["__main__"]), *local, *of_files, *more]
    return [*{id(each): each for each in found}.values()]


def path_to(
    value: object, spaces: Iterable[Mapping[str, Any]], parts: Parts, levels: int = 2
) -> str:
    """Return what to type for an object: a variable, or a part of what one holds; "" for none.

    Args:
        value: the object.
        spaces: names, those first that are to be preferred.
        parts: gives what an object of a framework holds.
        levels: steps from a variable that are looked at.

    Example:
        >>> path_to(len, [{"functions": {"a": [len]}}], lambda _: None)
        "functions['a'][0]"
    """
    found = ((name, each) for names in spaces for name, each in _named(names))
    waiting = deque((name, each, 0) for name, each in found)
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        path, each, level = waiting.popleft()
        if each is value:
            return path
        if level < levels and id(each) not in seen:
            seen.add(id(each))
            held = parts(each)
            steps = islice(_held(each) if held is None else held, _ITEMS)
            waiting.extend((path + step, part, level + 1) for step, part in steps)
    return ""


def _named(names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in [*names.items()]:
        if not name.startswith("_") and name not in _OF_METHODS:
            yield name, value


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what one of Python's own containers, or an object of the user's class, holds."""
    if is_exactly(value, dict):
        pairs = (pair for pair in [*value.items()] if is_exactly(pair[0], str, int))
        yield from ((f"[{key!r}]", part) for key, part in pairs)
    elif is_exactly(value, list, tuple):
        yield from ((f"[{index}]", part) for index, part in enumerate(value))
    elif is_users_class(type(value)):
        yield from ((f".{name}", part) for name, part in attributes(value).items())
