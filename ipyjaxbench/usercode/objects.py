"""Looks at any object without running code of its class, and never raises.

An object may answer what it likes: with a catch-all ``__getattr__``, a property that raises, a
``__class__`` that lies, an ``__eq__`` that gives an array. What is asked here is answered by
Python itself.
"""

import ast
import inspect
import itertools
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import (
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, cast

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import inline_values
from ipyjaxbench.usercode.classes import (
    class_dict as class_dict,
    class_name,
    filled_slots,
    module_of as module_of,
    mro_of as mro_of,
    slots_of,
    unnamed_dictionary,
)

_CONTAINERS: tuple[Any, ...] = (dict, list, tuple, set, frozenset, deque)
#: By identity: a metaclass may define equality.
_PLAIN = frozenset(map(id, (*_CONTAINERS, type(None), bool, int, float, complex, str, bytes)))
#: What the class of functions has, where they themselves have nothing of that name.
_OF_FUNCTIONS = {**vars(object), **vars(FunctionType)}

_tokens: dict[int, tuple[Any, int]] = {}  # by identities; each as long as its object lives
_methods: dict[int, tuple[Any, int]] = {}  # by their tokens
_numbers = itertools.count(1)


def ask(question: Callable[[Any], object], value: object) -> bool:
    """Return the answer to a question about a user's object; no, where asking raises.

    Example:
        >>> ask(callable, print), ask(lambda value: value.missing, 3)
        (True, False)
    """
    try:
        return bool(question(value))
    except CODE_ERRORS:  # the object may raise anything
        return False


def is_of(value: object, *kinds: type) -> bool:
    """Whether a value is of a class, by its real type: `isinstance` also asks for ``__class__``.

    Example:
        >>> is_of(True, int), is_of([], tuple, dict)
        (True, False)
    """
    return extends(type(value), *kinds)


def extends(kind: type, *kinds: type) -> bool:
    """Return what `issubclass` answers; no, where a metaclass raises.

    Example:
        >>> extends(bool, int)
        True
    """
    try:
        return issubclass(kind, kinds)
    except CODE_ERRORS:  # an abstract class hashes what it is asked about
        return False


def is_a(value: object, *kinds: type) -> bool:
    """Return what `isinstance` answers; no, where it raises: for classes with a say in that."""
    try:
        return isinstance(value, kinds)
    except CODE_ERRORS:  # the object may raise anything
        return False


def is_exactly(value: object, *kinds: type) -> bool:
    """Whether one of these is the class of a value; a metaclass may define what equal means."""
    kind = type(value)
    for each in kinds:  # noqa: SIM110  any() takes three times as long, of what is asked most
        if kind is each:
            return True
    return False


def attributes(value: object) -> dict[str, Any]:
    """Return an object's own attributes, to be read: its ``__dict__``, or what would stand in it.

    Example:
        >>> attributes(3)
        {}
    """
    own = inline_values.read_inline_values(value)
    if own is None:
        own = _dictionary(value) or {}
    return own if type(own) is dict else dict(own)


def has_attributes(value: object) -> bool:
    """Whether an object keeps attributes in a dictionary, or would."""
    return inline_values.read_inline_values(value) is not None or dictionary_of(value) is not None


def dictionary_of(value: object) -> dict[str, Any] | None:
    """Return the ``__dict__`` of an object itself, to be written to; None where it has none."""
    found = _dictionary(value)
    return found if type(found) is dict else None


def _dictionary(value: object) -> Any:
    kind = type(value)
    descriptor: Any = None
    for each in mro_of(kind):  # next() takes twice as long, of what is asked of every object
        descriptor = class_dict(each).get("__dict__")
        if descriptor is not None:
            break
    # Any other is of the class's own making.
    is_own = is_exactly(descriptor, GetSetDescriptorType, MemberDescriptorType)
    if is_own and descriptor.__objclass__ is not each:
        found = unnamed_dictionary(value)
    else:
        found = descriptor.__get__(value) if is_own else None
    if type(found) is dict:
        inline_values.learn_inline_names(kind, found)
    return found


def slots(value: object) -> dict[str, Any]:
    """Return what stands in the slots of an object, as far as they are filled."""
    return filled_slots(value, slots_of(type(value)))


def attribute(value: object, name: str, default: object = None) -> Any:
    """Return what stands under a name in an object or its classes; descriptors are not run.

    Example:
        >>> attribute("text", "missing", 0)
        0
    """
    if type(value) is FunctionType:  # most are: what Python offers takes ten times as long
        of_function = value.__dict__
        if name not in of_function or name not in _OF_FUNCTIONS:
            return of_function[name] if name in of_function else _OF_FUNCTIONS.get(name, default)
    own = inline_values.read_inline_values(value)
    if own is not None:
        places = (own, *map(class_dict, mro_of(type(value))))
        return next((place[name] for place in places if name in place), default)
    try:
        return inspect.getattr_static(value, name, default)
    except CODE_ERRORS:  # a metaclass misleads Python
        held = (class_dict(kind) for kind in mro_of(type(value)))
        found = (each[name] for each in (attributes(value), *held) if name in each)
        return next(found, default)


def look_up(node: ast.expr, values: Mapping[str, object]) -> object | None:
    """Return what a name or a dotted name stands for, running no attribute; None for others."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    owner = look_up(node.value, values)
    return None if owner is None else attribute(owner, node.attr)


def is_opaque(value: Any) -> bool:
    """Whether a container of the user's own class refuses to be walked, as frameworks walk trees.

    It raises, has no end, or gives another number of items than it has.

    Example:
        >>> is_opaque([1, 2]), is_opaque(3)
        (False, False)
    """
    if id(type(value)) in _PLAIN:
        return False
    base = next((kind for kind in _CONTAINERS if is_of(value, kind)), None)
    if base is None:
        return not ask(_is_known, value)
    return not ask(lambda it: _is_known(it) and _is_walked(it, base), value)


def _is_known(value: Any) -> bool:
    """Frameworks look classes up in dictionaries."""
    return type(value) in {type(value): True}


def _is_walked(value: Any, base: Any) -> bool:
    size = base.__len__(value)
    fields: Any = getattr(value, "_fields", ()) if base is tuple else ()
    named = type(fields) is tuple and all(type(each) is str for each in fields)
    items = sum(1 for _ in itertools.islice(iter(value), size + 1))
    return items == len(value) == size and named and len(fields) in (0, size)


def items_of(value: Any, most: int) -> Iterator[Any]:
    """Return what a container holds, as its base among Python's own gives it, not `__iter__`.

    Of dictionaries these are values. Another iterable may have no end: ``most`` items are asked.

    Example:
        >>> [*items_of({"a": 1}, 9)], [*items_of(iter(int, 1), 2)]
        ([1], [0, 0])
    """
    if is_of(value, dict):
        return iter(dict.values(value))
    for kind in _CONTAINERS[1:]:
        if is_of(value, kind):
            found: Iterator[Any] = kind.__iter__(value)
            return found
    return itertools.islice(value, most)


def unwrap(value: Any) -> Any:
    """Return what decorators wrapped, as `functools.wraps` says; the value itself for others."""
    try:
        return inspect.unwrap(value)
    except CODE_ERRORS:  # it has every attribute, or raises
        return value


def name_of(value: object) -> str:
    """Return the name of a function, a class or a module; "" where it has none.

    Example:
        >>> name_of(len), name_of([].sort), name_of(3)
        ('len', 'sort', '')
    """
    if type(value) is MethodType:
        return name_of(value.__func__)
    return class_name(cast(type, value)) if is_of(value, type) else text_of(value, "__name__")


def package_of(value: object) -> str:
    """Return the top-level package that a value comes from; "" for Python's own."""
    if is_of(value, ModuleType):
        name = text_of(value, "__name__")
    elif is_of(value, type):
        name = module_of(cast(type, value))
    else:
        name = text_of(value, "__module__") or module_of(type(value))
    package = name.partition(".")[0]
    return "" if package == "builtins" else package


def text_of(value: object, name: str) -> str:
    """Return an attribute that is text, of an instance or kept by Python itself; else ""."""
    found: Any = attribute(value, name)
    if is_exactly(found, GetSetDescriptorType, MemberDescriptorType):
        try:
            found = found.__get__(value)
        except CODE_ERRORS:  # it is that of another class
            return ""
    return found if type(found) is str else ""


def living_token(value: Any) -> int:
    """Return the same, of a bound method that of an equal one as long as that is there."""
    if type(value) is not MethodType:
        return token(value)
    known = _methods.get(equal := token(value))
    is_there = known is not None and known[0]() is not None
    return known[1] if known and is_there else _number(_methods, equal, value)


def token(value: Any) -> int:
    """Return a number that tells objects apart for good; an `id` is used again by others."""
    if type(value) is MethodType:  # made anew each time that it is asked for
        return hash((token(value.__self__), token(value.__func__)))
    known = _tokens.get(id(value))
    if known is not None and known[0]() is value:
        return known[1]
    try:
        return _number(_tokens, id(value), value)
    except TypeError:  # it cannot be referred to
        return id(value)


def _number(table: dict[int, tuple[Any, int]], key: int, value: Any) -> int:
    """Give an object the next number, which is forgotten with it."""

    def forget(dead: object) -> None:
        if table.get(key, (None,))[0] is dead:  # else another one has its place by now
            del table[key]

    known = table[key] = weakref.ref(value, forget), next(_numbers)
    return known[1]
