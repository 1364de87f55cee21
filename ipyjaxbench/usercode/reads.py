"""What a function reads of the names around it, and what these stand for now, as values.

No object is kept: numbers and texts stand for themselves, code for its fingerprint, arrays and
other objects for what `Imprint` says of them. Looks, never calls.
"""

import functools
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode.cells import cell_of
from ipyjaxbench.usercode.classes import class_dict, mro_of
from ipyjaxbench.usercode.code_objects import closure_values, fingerprint, original
from ipyjaxbench.usercode.name_chains import Chain, chains
from ipyjaxbench.usercode.objects import (
    attribute,
    is_exactly,
    is_of,
    items_of,
    name_of,
    unwrap,
)
from ipyjaxbench.usercode.origin import is_users_class, is_users_function
from ipyjaxbench.usercode.places import (
    MISSING,
    Place,
    own_attributes,
    part_of,
    place_of_content,
    place_of_name,
    place_of_part,
    places_of_cells,
)

MOST_READ = 1000  # values that one function reads
_DEPTH = 8  # of what holds others
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_NAMED = (set, frozenset, type, ModuleType, BuiltinFunctionType)
_COMPUTED = (property, FunctionType, GetSetDescriptorType)  # what a class makes of an object
_CALLED = ("call", "__call__")  # methods that run when an object is called; "call" is Keras's
_SHORT = 40  # characters of a value in words


class Imprint(NamedTuple):
    """What a name stood for.

    Attributes:
        words: as reports spell it: "2.0", "f32[3]", a function's name.
        content: equal for values that cannot be told apart by what is computed with them.
        kind: "value", "array", "function", or "object" for what its identity tells apart, and the
            user's code in its class.
        cell: of a function, the execution number of the cell that defined it; 0 where none did.
        in_place: whether it can change and stay the same object.
    """

    words: str
    content: Hashable
    kind: str = "value"
    cell: int = 0
    in_place: bool = False


@dataclass(frozen=True)
class Reads:
    """All that a function read when it was looked at.

    Attributes:
        values: what each stood for, by its path as in ``model.w``.
        is_cut: whether there were more than `MOST_READ`.
        places: where these stood; they hold the user's values, and are for the moment.
    """

    values: Mapping[str, Imprint] = field(default_factory=dict)
    is_cut: bool = False
    places: tuple[Place, ...] = field(default=(), compare=False, repr=False)


def find_reads(
    function: FunctionType,
    arguments: Mapping[str, object],
    imprint: Callable[[object], Imprint | None],
    wrapped: Callable[[Any], Any] = lambda value: value,
    parts: Callable[[Any], Iterable[tuple[str, Any]]] = lambda _: (),
) -> Reads:
    """Return what a function, and those of the user's that it reaches, read of names around them.

    Args:
        function: it itself is not among them.
        arguments: those of its parameters whose values it is compiled with, by name.
        imprint: of a framework's data; None for what is none.
        wrapped: of a framework's container the one of Python's in it; all else as it is.
        parts: of what has an imprint of kind "object", those that it computes with, by the ends of
            their paths.
    """
    reader = _Reader(imprint, wrapped, parts)
    reader.read_code(function, arguments, 0)
    return Reads(reader.found, reader.is_cut, tuple(reader.places.values()))


class _Reader:
    def __init__(
        self,
        imprint: Callable[[object], Imprint | None],
        wrapped: Callable[[Any], Any],
        parts: Callable[[Any], Iterable[tuple[str, Any]]],
    ) -> None:
        self._imprint, self._wrapped, self._parts = imprint, wrapped, parts
        self._seen: set[tuple[int, int]] = set()
        self._holding: set[int] = set()
        self.found: dict[str, Imprint] = {}
        self.places: dict[tuple[object, ...], Place] = {}  # each once
        self.is_cut = False

    def read_code(
        self,
        function: FunctionType,
        arguments: Mapping[str, object],
        depth: int,
        owner: str = "",
    ) -> None:
        """Add what the code of a function reads; the first argument of a method is its owner."""
        key = id(function.__code__), id(next(iter(arguments.values()), None))
        if key in self._seen or depth > _DEPTH:
            return
        self._seen.add(key)
        for name, value in _defaults(function):
            self._add(name, value, depth)
        closed = dict(closure_values(function))
        self._keep(*places_of_cells(function))
        scopes = {"global": function.__globals__, "closure": closed, "argument": arguments}
        for chain in chains(original(function.__code__)):
            value = scopes[chain.scope].get(chain.name, MISSING)
            if value is not MISSING:
                if chain.scope == "global":
                    self._keep(place_of_name(function.__globals__, chain.name, value))
                path = owner if owner and chain.scope == "argument" else chain.name
                with suppress(*CODE_ERRORS):  # what it refers to is gone, or its own code raises
                    self._follow(chain, path, value, depth)

    def _follow(self, chain: Chain, path: str, value: Any, depth: int) -> None:
        for sort, key in chain.steps:
            owner, data, is_item = self._wrapped(value), self._imprint(value), sort == "item"
            if data is not None and data.kind != "object":
                break  # what is asked of data depends on all of them
            try:
                part = part_of(owner, key, item=is_item)
            except CODE_ERRORS:  # no such part
                part = MISSING
            value = part
            if type(value) is property and is_users_function(value.fget):
                value = value.fget
            method = unwrap(value)
            is_the_users = is_users_function(method)
            if value is MISSING or (
                data is not None and is_exactly(value, *_COMPUTED) and not is_the_users
            ):
                if is_of(owner, ModuleType):
                    return
                value = owner
                break
            self._keep(place_of_part(owner, key, part, item=is_item))
            whose, path = path, path + (f".{key}" if sort == "attribute" else f"[{key!r}]")
            if is_the_users and not is_of(owner, ModuleType):
                self._add_function(path, method, depth, dict.fromkeys(_first(method), owner), whose)
                return
        if self._imprint(value) is None and is_of(value, ModuleType):
            return
        self._add(path, value, depth)

    def _add(self, path: str, value: Any, depth: int) -> None:
        """Add what a path stands for, and what that holds."""
        if len(self.found) >= MOST_READ:
            self.is_cut = True
            return
        value = self._wrapped(value)
        if path in self.found or depth > _DEPTH or id(value) in self._holding:
            return
        if is_exactly(value, *_PLAIN):
            self.found[path] = Imprint(_shorten(repr(value)), (type(value).__name__, repr(value)))
            return
        data = self._imprint(value)
        if data is not None:
            self.found[path] = data
            if data.in_place:
                self._keep(Place(self._is_as_it_was, value, None, data.content))
            if data.kind == "object":
                self._add_object(path, value, depth)
            return
        self._holding.add(id(value))
        try:
            self._add_holder(path, value, depth)
        finally:
            self._holding.discard(id(value))

    def _add_holder(self, path: str, value: Any, depth: int) -> None:
        kind = type(value)
        function = value.__func__ if kind is MethodType else unwrap(value)
        if type(function) is FunctionType:
            of_method = kind is MethodType
            bound = dict.fromkeys(_first(function), value.__self__) if of_method else {}
            self._add_function(path, function, depth, bound)
        elif is_of(value, functools.partial):
            parts = [(".func", value.func), *enumerate(value.args), *value.keywords.items()]
            self._add_parts(path, kind, [(str(key), each) for key, each in parts], depth)
        elif is_of(value, dict):
            self._keep(place_of_content(value))
            items = [(f"[{key!r}]", each) for key, each in dict.items(value)]
            self._add_parts(path, kind, items, depth)
        elif is_of(value, list, tuple, deque):
            self._keep(place_of_content(value))
            items = [(f"[{n}]", each) for n, each in enumerate(items_of(value, 0))]
            self._add_parts(path, kind, items, depth)
        elif is_of(value, *_NAMED):
            if is_of(value, set):
                self._keep(place_of_content(value))
            self.found[path] = _by_name(value)
        elif any(is_users_class(each) for each in mro_of(kind)):
            self._keep(place_of_content(value))
            own = own_attributes(value)
            self._add_parts(path, kind, [(f".{name}", each) for name, each in own.items()], depth)

    def _add_object(self, path: str, value: Any, depth: int) -> None:
        """Add what a framework's object computes with, and the user's code that it runs."""
        parts = [*self._parts(value)]
        self._keep(Place(self._has_parts, value, None, parts))
        for end, part in parts:
            self._add(path + end, part, depth + 1)
        for name in _CALLED:
            method = unwrap(attribute(type(value), name))
            if is_users_function(method):
                self.read_code(method, dict.fromkeys(_first(method), value), depth + 1, path)

    def _add_parts(self, path: str, kind: type, parts: list[tuple[str, Any]], depth: int) -> None:
        words = f"{kind.__name__} of {len(parts):,}"
        self.found[path] = Imprint(words, (kind.__name__, len(parts)))
        for key, each in parts[: MOST_READ + 1]:
            self._add(path + key, each, depth + 1)

    def _add_function(
        self,
        path: str,
        function: FunctionType,
        depth: int,
        arguments: Mapping[str, object],
        owner: str = "",
    ) -> None:
        """Add a function's code, and what the user's own read, or what others close over."""
        code = function.__code__
        name = name_of(function)
        content, cell = (name, fingerprint(code)), cell_of(code.co_filename)
        self.found[path] = Imprint(name, content, "function", cell)
        if is_users_function(function):
            self.read_code(function, arguments, depth + 1, owner)
        else:
            self._keep(*places_of_cells(function))
            for name, each in closure_values(function):
                self._add(f"{path}:{name}", each, depth + 1)

    def _keep(self, *places: Place) -> None:
        for each in places:
            self.places.setdefault((id(each.owner), each.stands, each.key), each)

    def _has_parts(self, owner: Any, _: None, parts: list[tuple[str, Any]]) -> bool:
        now = [*self._parts(owner)]
        pairs = zip(now, parts, strict=False)
        return len(now) == len(parts) and all(o[0] == n[0] and o[1] is n[1] for o, n in pairs)

    def _is_as_it_was(self, owner: object, _: None, content: Hashable) -> bool:
        found = self._imprint(owner)
        return found is not None and found.content == content


def _by_name(value: Any) -> Imprint:
    """Return what tells sets, classes and built-in functions apart: members, code, names."""
    name = name_of(value) or type(value).__name__
    if is_of(value, set, frozenset):
        plain = [repr(each) for each in items_of(value, 0) if is_exactly(each, *_PLAIN)]
        return Imprint(f"{name} of {len(value):,}", (name, len(value), *sorted(plain)[:MOST_READ]))
    own = class_dict(value).values() if is_of(value, type) and is_users_class(value) else ()
    methods = tuple(fingerprint(each.__code__) for each in own if type(each) is FunctionType)
    module = str(attribute(value, "__module__"))
    files = (each.__code__.co_filename for each in own if type(each) is FunctionType)
    return Imprint(name, (module, name, methods), "function", cell_of(next(files, "")))


def _defaults(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the defaults of parameters, which calls mostly leave as they are."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    yield from zip(names[len(names) - len(values) :], values, strict=False)
    yield from (function.__kwdefaults__ or {}).items()


def _first(function: FunctionType) -> list[str]:
    """Return the name of a method's first parameter."""
    return [*function.__code__.co_varnames[: min(function.__code__.co_argcount, 1)]]


def _shorten(text: str, most: int = _SHORT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
