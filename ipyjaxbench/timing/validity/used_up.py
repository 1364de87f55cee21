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
#: More calls that look for an empty value, each of at most so many nanoseconds.
_TRIES, _MAX_NS = 3, 1_000_000
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
        self._gave = ""  # what the first call gave, in words, unless that was empty
        self._later = ""  # the empty value that later calls gave, in words

    def inspect_first_call(self, value: object) -> None:
        """Look after the first call."""
        self._ended = [name for name in self._pending if not _is_pending(self._known[name])]
        self._gave = "" if _empty(value) else name_of(type(value))

    def inspect_later_value(self, again: Callable[[], object], first: int, later: float) -> None:
        """Make more calls where the first one gave something, and see whether they give nothing.

        One where the first call was much slower, a few where calls are fast: a single one may
        give nothing by chance.
        """
        __tracebackhide__ = True
        tries = 1 if did_more(first, later) else _TRIES if later < _MAX_NS else 0
        if self._gave and tries:
            values = [_empty(again()) for _ in range(tries)]
            self._later = values[0] if all(values) else ""

    def notes(
        self, unrestored: Sequence[str], moved: Sequence[str], first: int, later: float
    ) -> dict[str, Note]:
        """Return what was used up, by name.

        Args:
            unrestored: names that no call finds as before.
            moved: these, and names whose values were put back after all calls.
            first: nanoseconds of the first call, compilation left out.
            later: nanoseconds of the others.
        """
        found: dict[str, Note] = {}
        if did_more(first, later):
            is_one = self._later and len(unrestored) == 1
            taken = unrestored if is_one else [n for n in self._taken if n in unrestored]
            found |= {name: notes.used_up(name, job=True) for name in self._ended}
            found |= {name: notes.used_up(name) for name in taken}
        if self._later and not found:
            name = moved[0] if len(moved) == 1 else ""
            found[name] = notes.emptied(name, self._gave, self._later)
        return found


def _taken_whole(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names of iterators that the code runs through to their end."""
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


def _empty(value: object) -> str:
    """Return in words what holds nothing; of all else nothing."""
    if value is None:
        return "None"
    is_empty = is_exactly(value, *_RESULTS) and isinstance(value, Sized) and len(value) == 0
    return f"an empty {name_of(type(value))}" if is_empty else ""
