"""The places that a function was seen to read, and whether the same objects stand there now.

To look at all values again takes a hundred times as long: who asks often asks here first. A place
holds what stands there, so it is not to be kept.
"""

import operator
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode.classes import class_dict, mro_of
from ipyjaxbench.usercode.code_objects import names_in, texts_in
from ipyjaxbench.usercode.members import (
    MISSING,
    Find,
    code_beside,
    code_in,
    own_attributes,
    part_of,
)
from ipyjaxbench.usercode.objects import is_exactly, is_of, items_of
from ipyjaxbench.usercode.origin import is_users_class, names_of_module


class Place(NamedTuple):
    """A name, a part of an object, or all of its parts.

    Attributes:
        stands: whether the same stands there, of the other three.
        owner: what holds it.
        key: the name or the key of it there, or what finds it; None for all that it holds.
        value: what stood there.
    """

    stands: Callable[[Any, Any, Any], bool]
    owner: Any
    key: Any
    value: Any


def all_stand(places: Iterable[Place]) -> bool:
    """Whether the same objects stand in all of these places."""
    try:
        for stands, owner, key, value in places:  # a generator takes longer than the look
            if not stands(owner, key, value):
                return False
    except CODE_ERRORS:  # it is gone, or changes while it is looked at
        return False
    return True


def place_of_name(names: Mapping[str, Any], name: str, value: Any) -> Place:
    """Return the place of a global, which is `MISSING` where it is not there."""
    return Place(_is_absent if value is MISSING else _is_item, names, name, value)


def place_of_part(owner: Any, key: Any, value: Any, *, item: bool) -> Place:
    """Return the place of what `part_of` gives."""
    if item:
        return Place(_is_item, owner, key, value)
    if is_of(owner, ModuleType):
        return place_of_name(names_of_module(owner), key, value)
    is_of_kind = any(key in each for each in map(class_dict, mro_of(type(owner))))
    is_plain = not is_of_kind and not is_of(owner, type)
    return Place(_is_attribute if is_plain else _is_found, owner, key, value)


def places_of_constant(module: object, keys: Iterable[str]) -> Iterator[tuple[str, Place]]:
    """Yield the place of a plain number in a library's module, with the end of its path.

    Args:
        module: where the names begin; modules may lead to others.
        keys: the names.
    """
    end = ""
    value: Any
    for key in keys:
        names = names_of_module(module)
        value, end = names.get(key), f"{end}.{key}"
        if is_exactly(value, bool, int, float, complex):
            yield end, place_of_name(names, key, value)
        if not is_of(value, ModuleType):
            return
        module = value


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


def places_of_parts(owner: Any, find: Find) -> Iterator[Place]:
    """Yield those of what a function finds in an object, by the ends of its path.

    Code beside what is wrapped is part of all its code, which is looked at once; a function of
    Python's has none.
    """
    if type(owner) is not FunctionType:
        find = code_in if find is code_beside else find
        yield Place(_has_parts, owner, find, (*find(owner),))


def place_of_data(owner: Any, imprint: Callable[[Any], Any], found: Any) -> Place:
    """Return that of what is in data that can change in place."""
    return Place(_has_imprint, owner, imprint, found)


def places_of_class(kind: type) -> Iterator[Place]:
    """Yield those of what a class, and those that it extends, define where the user wrote them."""
    for each in mro_of(kind):
        if is_users_class(each):
            yield Place(_defines, each, None, dict(class_dict(each)))


def places_of_environment(code: CodeType) -> Iterator[Place]:
    """Yield the environment variables that code names as text, where it reads any."""
    if not {"environ", "getenv"}.isdisjoint(names_in(code)):
        for text in filter(str.isidentifier, texts_in(code)):
            yield Place(_is_set, os.environ, text, os.environ.get(text))


def _is_set(owner: Any, key: str, value: Any) -> bool:
    return bool(owner.get(key) == value)


def _is_item(owner: Any, key: Any, value: Any) -> bool:
    return owner[key] is value


def _is_absent(owner: Any, key: str, _: Any) -> bool:
    return key not in owner


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
    return _are_same_names(own_attributes(owner), value)


def _defines(owner: type, _: Any, value: dict[str, Any]) -> bool:
    return _are_same_names(class_dict(owner), value)


def _has_parts(owner: Any, find: Any, value: tuple[tuple[str, Any], ...]) -> bool:
    parts = (*find(owner),)
    if len(parts) != len(value):
        return False
    for (name, part), (old_name, old_part) in zip(parts, value, strict=True):
        if part is not old_part or name != old_name:
            return False
    return True


def _has_imprint(owner: Any, imprint: Any, value: Any) -> bool:
    return bool(imprint(owner) == value)


def _are_same_names(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    return some.keys() == others.keys() and all(some[name] is others[name] for name in others)


def _are_same(some: Iterable[Any], others: Iterable[Any]) -> bool:
    return all(map(operator.is_, some, others))
