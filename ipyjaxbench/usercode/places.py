"""The places that a function was seen to read, and whether the same objects stand there now.

To look at all values again takes a hundred times as long: who asks often asks here first. A place
holds what stands there, so it is not to be kept.
"""

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode.classes import class_dict, mro_of
from ipyjaxbench.usercode.objects import attribute, attributes, is_exactly, is_of, items_of, slots
from ipyjaxbench.usercode.origin import is_users_module, names_of_module

MISSING: Any = object()


class Place(NamedTuple):
    """A name, a part of an object, or all of its parts.

    Attributes:
        stands: whether the same stands there, of the other three.
        owner: what holds it.
        key: the name or the key of it there; None for all that it holds.
        value: what stood there.
    """

    stands: Callable[[Any, Any, Any], bool]
    owner: Any
    key: Any
    value: Any


def all_stand(places: Iterable[Place]) -> bool:
    """Whether the same objects stand in all of these places."""
    try:
        return all(stands(owner, key, value) for stands, owner, key, value in places)
    except CODE_ERRORS:  # it is gone, or changes while it is looked at
        return False


def own_attributes(value: object) -> dict[str, Any]:
    """Return the attributes of an object itself, those in slots among them."""
    return {**attributes(value), **slots(value)}


def part_of(owner: Any, key: Any, *, item: bool) -> Any:
    """Return an attribute without running code, or an item of one of Python's own containers.

    Of modules these are the user's alone; `MISSING` for what is not there, or would run code.
    """
    if item:
        return owner[key] if is_exactly(owner, dict, list, tuple) else MISSING
    if is_of(owner, ModuleType):
        return names_of_module(owner).get(key, MISSING) if is_users_module(owner) else MISSING
    found = own_attributes(owner)
    return found[key] if key in found else attribute(owner, key, MISSING)


def place_of_name(names: Mapping[str, Any], name: str, value: Any) -> Place:
    """Return the place of a global."""
    return Place(_is_item, names, name, value)


def place_of_part(owner: Any, key: Any, value: Any, *, item: bool) -> Place:
    """Return the place of what `part_of` gives."""
    if item:
        return Place(_is_item, owner, key, value)
    if is_of(owner, ModuleType):
        return place_of_name(names_of_module(owner), key, value)
    is_plain = not any(key in each for each in map(class_dict, mro_of(type(owner))))
    return Place(_is_attribute if is_plain else _is_found, owner, key, value)


def places_of_cells(function: FunctionType) -> Iterator[Place]:
    """Yield the places of what a function closes over."""
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # it is empty
            yield Place(_is_in_cell, cell, None, cell.cell_contents)


def place_of_content(owner: Any) -> Place:
    """Return that of all that one of Python's containers, or an object, holds."""
    if is_of(owner, dict):
        return Place(_holds_items, owner, None, (*dict.keys(owner), *dict.values(owner)))
    if is_of(owner, list, tuple, deque, set, frozenset):
        return Place(_holds, owner, None, (*items_of(owner, 0),))
    return Place(_has_attributes, owner, None, own_attributes(owner))


def _is_item(owner: Any, key: Any, value: Any) -> bool:
    return owner[key] is value


def _is_in_cell(owner: Any, _: Any, value: Any) -> bool:
    return owner.cell_contents is value


def _is_attribute(owner: Any, key: str, value: Any) -> bool:
    """No class has that name, so that no code runs."""
    return object.__getattribute__(owner, key) is value


def _is_found(owner: Any, key: str, value: Any) -> bool:
    return part_of(owner, key, item=False) is value


def _holds(owner: Any, _: Any, value: tuple[Any, ...]) -> bool:
    held = (*items_of(owner, 0),)
    return len(held) == len(value) and _are_same(held, value)


def _holds_items(owner: Any, _: Any, value: tuple[Any, ...]) -> bool:
    size = dict.__len__(owner)
    if 2 * size != len(value) or not _are_same(dict.keys(owner), value[:size]):
        return False
    return _are_same(dict.values(owner), value[size:])


def _has_attributes(owner: Any, _: Any, value: dict[str, Any]) -> bool:
    own = own_attributes(owner)
    return own.keys() == value.keys() and all(own[name] is value[name] for name in value)


def _are_same(some: Iterable[Any], others: Iterable[Any]) -> bool:
    return all(map(operator.is_, some, others))
