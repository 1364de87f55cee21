"""Attributes of objects that have no dictionary yet.

In Python 3.11 and 3.12 an object keeps its attributes beside itself ("inline values") until its
``__dict__`` is asked for; from then on it reads each of them more slowly, for good: a method of
90 ns takes 180. So what only looks reads them one by one. From Python 3.13 on nothing is lost.
"""

import dis
import gc
import itertools
import operator
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any, NamedTuple

from ipyjaxbench.usercode.classes import (
    PerClass,
    class_dict,
    filled_slots,
    flags_of,
    is_made,
    mro_of,
    slots_of,
)
from ipyjaxbench.usercode.code_objects import names_in

_Line = Sequence[Mapping[str, Any]]  # what a class defines, and those that it extends
_MANAGED = 1 << 4  # flag of a class whose objects have inline values
_MISSING: Any = object()


class _Known(NamedTuple):
    """What is known of the objects of a class: names of attributes, in Python's order."""

    names: tuple[str, ...]
    has_slots: bool
    is_new: bool = False


_KNOWN: PerClass[_Known] = PerClass()
#: Their objects also hold what Python's own do, as a list does.
_HOLD_MORE: PerClass[bool] = PerClass()


def read_inline_values(value: object) -> dict[str, Any] | None:
    """Return the attributes of an object that has no dictionary yet; no code of it is run.

    Returns:
        None where it has one, or where the names are not known: then ``__dict__`` is to be asked
        for.

    Example:
        >>> read_inline_values(3) is None
        True
    """
    kind = type(value)
    if sys.version_info >= (3, 13) or not flags_of(kind) & _MANAGED or _HOLD_MORE.get(kind):
        return None
    line = [*map(class_dict, mro_of(kind))]
    known = _KNOWN.get(kind)
    if known is None:
        if not all(map(is_made, mro_of(kind)[:-1])):
            _HOLD_MORE.set(kind, known=True)
            return None
        known = _Known((), has_slots=bool(slots_of(kind)), is_new=True)
    held = [each for each in gc.get_referents(value) if each is not kind]
    slots = [*filled_slots(value, slots_of(kind)).values()] if known.has_slots else []
    if not known.is_new:
        own = _ordered_attributes(value, known.names, line)
        if own is not None and _are_same([*slots, *own.values()], held):
            return own
        if len(held) == len(slots) + 1 and type(held[-1]) is dict:
            return None
    found = _matched(value, dict.fromkeys([*known.names, *_written(line)]), line, held, slots)
    names = known.names if found is None else tuple(found)
    _KNOWN.set(kind, _Known(names, known.has_slots))
    return found


def learn_inline_names(kind: type, names: Iterable[str]) -> None:
    """Look for the names that one object of a class has in the others too."""
    known = _KNOWN.get(kind)
    if known is not None:
        own = tuple(name for name in names if type(name) is str)
        _KNOWN.set(kind, _Known(own, known.has_slots))


def _ordered_attributes(
    value: object, names: Collection[str], line: _Line
) -> dict[str, Any] | None:
    """Return the attributes with these names; None where asking for one runs code."""
    if not all(map(frozenset(names).isdisjoint, line)):
        defaults = [each[name] for name in names for each in line if name in each]
        if any(map(_is_descriptor, defaults)):
            return None
    found = {name: _attribute(value, name) for name in names}
    return {name: each for name, each in found.items() if each is not _MISSING}


def _matched(
    value: object, names: Collection[str], line: _Line, held: list[Any], slots: Collection[Any]
) -> dict[str, Any] | None:
    """Return the attributes with these names, in order, where they are all that an object holds."""
    left = Counter(map(id, held))
    left.subtract(map(id, slots))
    own: dict[str, Any] = {}
    of_class: dict[str, Any] = {}
    for name in names:
        default = next((each[name] for each in line if name in each), _MISSING)
        if default is not _MISSING and _is_descriptor(default):
            continue  # asking for it runs code
        found = _attribute(value, name)
        if found is not _MISSING:
            (of_class if found is default else own)[name] = found
    left.subtract(map(id, own.values()))
    hiding = _hiding(of_class, left, line)
    if hiding is None or any(left.values()):
        return None
    own |= hiding
    named: dict[int, list[str]] = {}
    for name in [name for name in names if name in own]:
        named.setdefault(id(own[name]), []).append(name)
    order = [named[id(each)].pop(0) for each in held if named.get(id(each))]
    return {name: own[name] for name in order}


def _hiding(of_class: Mapping[str, Any], left: Counter[int], line: _Line) -> dict[str, Any] | None:
    """Return the attributes that hide what the class has; None where that cannot be known."""
    own: dict[str, Any] = {}
    for name, found in of_class.items():
        if left[id(found)] > 0:
            if name not in _of_objects(line):
                return None  # a name that is not known may hold it
            own[name] = found
            left[id(found)] -= 1
        elif sum(each is found for each in of_class.values()) > 1:
            return None  # which of these names holds it is not known
    return own


def _is_descriptor(value: object) -> bool:
    return any("__get__" in each for each in map(class_dict, mro_of(type(value))))


def _attribute(value: object, name: str) -> Any:
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return _MISSING


def _are_same(values: list[Any], others: list[Any]) -> bool:
    return len(values) == len(others) and all(map(operator.is_, values, others))


def _written(line: _Line) -> Iterator[str]:
    """Yield names that the code of classes uses, and those that they annotate."""
    yield from _annotated(line)
    for function in _functions(line):
        yield from names_in(function.__code__)


def _of_objects(line: _Line) -> set[str]:
    """Return names that classes annotate, or set of their first argument, as ``self.n = 0``."""
    found = {*_annotated(line)}
    for function in _functions(line):
        first = function.__code__.co_varnames[:1]
        for before, each in itertools.pairwise(dis.get_instructions(function.__code__)):
            if each.opname == "STORE_ATTR" and before.opname == "LOAD_FAST":
                found |= {each.argval} if (before.argval,) == first else set()
    return found


def _annotated(line: _Line) -> Iterator[str]:
    for each in line:
        annotated = each.get("__annotations__")
        if type(annotated) is dict:
            yield from (name for name in annotated if type(name) is str)


def _functions(line: _Line) -> Iterator[FunctionType]:
    for each in line:
        for member in [*each.values()]:
            function = _function(member)
            if type(function) is FunctionType:
                yield function


def _function(member: Any) -> Any:
    if type(member) in (staticmethod, classmethod):
        return member.__func__
    if type(member) is property:
        return member.fget
    return member.func if type(member) is cached_property else member
