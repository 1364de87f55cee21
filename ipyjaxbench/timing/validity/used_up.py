"""What the first call uses up: iterators of any class, results that are there once, jobs."""

import ast
import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from concurrent import futures
from types import FunctionType

from ipyjaxbench.reports import Note
from ipyjaxbench.timing.validity import notes
from ipyjaxbench.usercode import (
    attribute,
    attributes,
    is_exactly,
    is_of,
    is_users_class,
    module_of,
    mro_of,
    name_of,
    nodes_of,
)

#: A first call slower so many times, and by so many nanoseconds, did what later ones did not.
_RATIO, _NS = 5, 40_000
_TAKE_ALL = frozenset(("list", "tuple", "set", "frozenset", "dict", "sorted", "sum", "min", "max"))
_RESULTS = (list, tuple, set, dict, str, bytes, bytearray)
_RETURNS_SELF = (lambda self: self).__code__.co_code


def did_more(first: int, later: float) -> bool:
    """Whether a first call of so many nanoseconds did what later ones did not."""
    return first > _RATIO * later and first - later > _NS


class UsedUp:
    """Tells what was there for the first call and for no later one; takes nothing from anything.

    Args:
        statements: the code.
        known: what the names that it uses stand for.
    """

    def __init__(self, statements: Sequence[ast.stmt], known: Mapping[str, object]) -> None:
        self._known = known
        self._taken = [n for n in _taken_whole(statements) if _is_its_own_iterator(known.get(n))]
        self._pending = [name for name, value in known.items() if _is_pending(value)]
        self._ended: list[str] = []
        self._gave: type | None = None  # what the first call gave, unless that was empty
        self._is_emptied = False

    def inspect_first_call(self, value: object) -> None:
        """Look after the first call."""
        self._ended = [name for name in self._pending if not _is_pending(self._known[name])]
        if _is_full(value):
            self._gave = type(value)

    def inspect_later_value(self, again: Callable[[], object], first: int, later: float) -> None:
        """Make one more call where the first one gave much more slowly what it gave."""
        __tracebackhide__ = True
        if self._gave is not None and did_more(first, later):
            value = again()
            self._is_emptied = value is None or (type(value) is self._gave and not _is_full(value))

    def notes(self, unrestored: Sequence[str], first: int, later: float) -> dict[str, Note]:
        """Return what was used up, by name; ``unrestored`` are names that no call finds as before.

        ``first`` and ``later`` are the nanoseconds of calls, compilation left out.
        """
        if not did_more(first, later):
            return {}
        taken = [name for name in self._taken if name in unrestored]
        if self._is_emptied and len(unrestored) == 1:
            taken = [*unrestored]
        found = {name: notes.used_up(name, job=True) for name in self._ended}
        return found | {name: notes.used_up(name) for name in taken}


def _taken_whole(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield names of which the code takes all that there is."""
    for node in nodes_of(statements):
        match node:
            case ast.For(iter=iterated, body=body) | ast.AsyncFor(iter=iterated, body=body):
                if any(isinstance(each, ast.Break) for each in nodes_of(body)):
                    continue
            case ast.ListComp(generators=[first, *_]) | ast.SetComp(generators=[first, *_]):
                iterated = first.iter
            case ast.Call(func=ast.Name(called), args=[iterated]) if called in _TAKE_ALL:
                pass
            case ast.Starred(iterated):
                pass
            case _:
                continue
        match iterated:
            case ast.Name(name) | ast.Call(func=ast.Name("enumerate"), args=[ast.Name(name), *_]):
                yield name


def _is_its_own_iterator(value: object) -> bool:
    """Whether to iterate over it goes on where it was left, and does not begin anew."""
    kind = type(value)
    if attribute(kind, "__next__") is None:
        return False
    begin = attribute(kind, "__iter__")
    if type(begin) is FunctionType:
        return begin.__code__.co_code == _RETURNS_SELF
    return begin is not None and not is_users_class(kind)


def _is_pending(value: object) -> bool:
    """Whether it is a job that goes on."""
    if is_of(value, asyncio.Future, futures.Future):
        return not value.done()  # type: ignore[attr-defined]
    if is_of(value, threading.Thread):
        return threading.Thread.is_alive(value)  # type: ignore[arg-type]
    kinds = ((module_of(kind), name_of(kind)) for kind in mro_of(type(value)))
    return ("subprocess", "Popen") in kinds and attributes(value).get("returncode", 0) is None


def _is_full(value: object) -> bool:
    return is_exactly(value, *_RESULTS) and isinstance(value, Sized) and len(value) > 0
