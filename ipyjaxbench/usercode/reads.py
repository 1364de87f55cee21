"""What a function reads of the names around it, and what these stand for now, as values.

No object is kept: numbers and texts stand for themselves, code for its fingerprint, arrays and
other objects for what `Imprint` says of them. Looks, never calls.
"""

import functools
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode.classes import class_name, mro_of
from ipyjaxbench.usercode.code_objects import closure_values, fingerprint, names_in, original
from ipyjaxbench.usercode.members import (
    MISSING,
    attribute_of,
    class_values,
    defaults_of,
    first_parameter,
    function_in,
    is_method,
    item_of,
)
from ipyjaxbench.usercode.name_chains import Chain, chains
from ipyjaxbench.usercode.objects import (
    attribute,
    attributes,
    is_exactly,
    is_of,
    items_of,
    name_of,
    slots,
)
from ipyjaxbench.usercode.origin import (
    is_users_class,
    is_users_function,
)

MOST_READ = 1000  # values that one function reads
_DEPTH = 8  # of what holds others
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_NAMED = (set, frozenset, ModuleType, BuiltinFunctionType)
_SHORT = 40  # characters of a value in words


class Imprint(NamedTuple):
    """What a name stood for.

    Attributes:
        words: as reports spell it: "2.0", "f32[3]", a function's name.
        content: equal for values that cannot be told apart by what is computed with them.
        kind: "value", "array", "function", or "tree" for a library's object that holds arrays.
        file: of a function, where its code is.
    """

    words: str
    content: Hashable
    kind: str = "value"
    file: str = ""


@dataclass(frozen=True)
class Reads:
    """All that a function read when it was looked at.

    Attributes:
        values: what each stood for, by its path as in ``model.w``.
        is_cut: whether there were more than `MOST_READ`.
    """

    values: Mapping[str, Imprint] = field(default_factory=dict)
    is_cut: bool = False


def find_reads(
    function: Callable[..., Any],
    arguments: Mapping[str, object],
    imprint: Callable[[object], Imprint | None],
) -> Reads:
    """Return what a function, and those of the user's that it reaches, read of names around them.

    Args:
        function: it itself is not among them; of a library's, what it holds of the user's counts.
        arguments: those of its parameters whose values it is compiled with, by name.
        imprint: of a framework's data; None for what is none.
    """
    reader = _Reader(imprint)
    if is_users_function(function):
        reader.read_code(function, arguments, 0)
    else:
        name = name_of(function) or class_name(type(function))
        reader.read_value(name, function)
        reader.found.pop(name, None)
    reader.read_classes()
    return Reads(reader.found, reader.is_cut)


class _Class(NamedTuple):
    """A user's class that was met, and an object of it where there is one."""

    path: str
    kind: type
    owner: Any
    depth: int


class _Reader:
    def __init__(self, imprint: Callable[[object], Imprint | None]) -> None:
        self._ask_framework = imprint
        self._seen: set[tuple[int, int]] = set()
        self._holding: set[int] = set()
        self._names: set[str] = set()  # that the code uses, attributes among them
        self._classes: dict[tuple[int, int], _Class] = {}
        self.found: dict[str, Imprint] = {}
        self.is_cut = False

    def _imprint(self, value: object) -> Imprint | None:
        try:
            return self._ask_framework(value)
        except CODE_ERRORS:  # the object raises where its class is asked for
            return Imprint(class_name(type(value)), "unknown")

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
        self._names.update(names_in(original(function.__code__)))
        for name, value in defaults_of(function):
            self._add(name, value, depth)
        closed = dict(closure_values(function))
        scopes = {"global": function.__globals__, "closure": closed, "argument": arguments}
        for chain in chains(original(function.__code__)):
            value = scopes[chain.scope].get(chain.name, MISSING)
            if value is not MISSING:
                path = owner if owner and chain.scope == "argument" else chain.name
                self._follow(chain, path, value, depth)

    def read_value(self, name: str, value: Any) -> None:
        """Add what a callable that is no function of the user's holds of theirs."""
        self._add(name, value, 0)

    def read_classes(self) -> None:
        """Add methods and constants of the user's classes that were met, as far as they are used.

        A library that a class extends calls methods by names of its own.
        """
        known = -1
        while known != len(self._names) + len(self._classes):
            known = len(self._names) + len(self._classes)
            for each in [*self._classes.values()]:
                for name, value in class_values(each.kind, self._names):
                    self._add_class_value(each, name, value)

    def _add_class_value(self, met: _Class, name: str, value: Any) -> None:
        path, function = f"{met.path}.{name}", function_in(value)
        if is_users_function(function):
            is_bound = met.owner is not MISSING and type(value) is not staticmethod
            bound = dict.fromkeys(first_parameter(function), met.owner) if is_bound else {}
            self._add_function(path, function, met.depth, bound, met.path)
        elif is_exactly(value, *_PLAIN, dict, list, tuple) or self._imprint(value) is not None:
            self._add(path, value, met.depth + 1)

    def _follow(self, chain: Chain, path: str, value: Any, depth: int) -> None:
        for sort, key in chain.steps:
            owner = value
            try:
                value = attribute_of(owner, key) if sort == "attribute" else item_of(owner, key)
            except CODE_ERRORS:  # no such part
                value = MISSING
            if value is MISSING:
                if is_of(owner, ModuleType):
                    return
                value = owner
                break
            whose, path = path, path + (f".{key}" if sort == "attribute" else f"[{key!r}]")
            if type(value) is property and is_users_function(value.fget):
                value = value.fget
            if sort == "attribute" and is_method(owner, key, value):
                self._add_method(path, value, whose, owner, depth)
                return
            if is_of(owner, tuple) and sort == "attribute" and type(value) is FunctionType:
                path = f"{whose}:{key}"  # of a library's tuple of functions, as Optax's
        if self._imprint(value) is None and is_of(value, ModuleType):
            return
        self._add(path, value, depth)

    def _add_method(
        self, path: str, method: FunctionType, whose: str, owner: Any, depth: int
    ) -> None:
        """Add a method's code; a library's reads what it likes of its object."""
        if is_users_function(method):
            first = dict.fromkeys(first_parameter(method), owner)
            self._add_function(path, method, depth, first, whose)
        else:
            self._add(whose, owner, depth)

    def _add(self, path: str, value: Any, depth: int) -> None:
        """Add what a path stands for, and what that holds."""
        if len(self.found) >= MOST_READ:
            self.is_cut = True
            return
        if path in self.found or depth > _DEPTH or id(value) in self._holding:
            return
        if is_exactly(value, *_PLAIN):
            self.found[path] = Imprint(_shorten(repr(value)), (type(value).__name__, repr(value)))
            return
        data = self._imprint(value)
        if data is not None:
            self.found[path] = data
            if data.kind != "tree":
                return
        self._holding.add(id(value))
        try:
            self._add_holder(path, value, depth)
        finally:
            self._holding.discard(id(value))

    def _add_holder(self, path: str, value: Any, depth: int) -> None:
        kind = type(value)
        function = value.__func__ if kind is MethodType else function_in(value)
        if type(function) is FunctionType:
            bound = {}
            if kind is MethodType and is_users_function(function):
                bound = dict.fromkeys(first_parameter(function), value.__self__)
            elif kind is MethodType:
                self._add("self", value.__self__, depth + 1)
            self._add_function(path, function, depth, bound, "self" if bound else "")
        elif is_of(value, functools.partial):
            parts = [(".func", value.func), *enumerate(value.args), *value.keywords.items()]
            self._add_parts(
                path, kind, len(parts), ((str(key), each) for key, each in parts), depth
            )
        elif is_of(value, dict):
            items = ((f"[{key!r}]", each) for key, each in dict.items(value))
            self._add_parts(path, kind, dict.__len__(value), items, depth)
        elif is_of(value, list, tuple, deque):
            items = ((f"[{n}]", each) for n, each in enumerate(items_of(value, 0)))
            base: Any = next(each for each in (list, tuple, deque) if is_of(value, each))
            self._add_parts(path, kind, base.__len__(value), items, depth)
        elif is_of(value, type):
            self.found[path] = Imprint(name_of(value), _qualified(value), "function")
            self._meet(path, value, MISSING, depth)
        elif is_of(value, *_NAMED):
            self.found[path] = _by_name(value)
        else:
            self._add_object(path, value, depth)

    def _add_object(self, path: str, value: Any, depth: int) -> None:
        """Add an object's attributes; of a library's those that can hold code of the user's."""
        own = {**attributes(value), **slots(value)}
        if any(is_users_class(each) for each in mro_of(type(value))):
            parts = ((f".{name}", each) for name, each in own.items())
            self._add_parts(path, type(value), len(own), parts, depth)
            self._meet(path, type(value), value, depth)
        elif callable(value):
            for name, each in own.items():
                if callable(each) or is_exactly(each, list, tuple):
                    self._add(f"{path}.{name}", each, depth + 1)

    def _meet(self, path: str, kind: type, owner: Any, depth: int) -> None:
        if any(is_users_class(each) for each in mro_of(kind)):
            key = id(kind), id(owner)
            self._classes.setdefault(key, _Class(path, kind, owner, depth))

    def _add_parts(
        self, path: str, kind: type, count: int, parts: Iterable[tuple[str, Any]], depth: int
    ) -> None:
        name = class_name(kind)
        self.found[path] = Imprint(f"{name} of {count:,}", (name, count))
        for key, each in islice(parts, MOST_READ + 1):
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
        self.found[path] = Imprint(name, (name, fingerprint(code)), "function", code.co_filename)
        if is_users_function(function):
            self.read_code(function, arguments, depth + 1, owner)
        else:
            for name, each in closure_values(function):
                self._add(f"{path}:{name}", each, depth + 1)


def _qualified(kind: type) -> tuple[str, str]:
    return str(attribute(kind, "__module__")), name_of(kind)


def _by_name(value: Any) -> Imprint:
    """Return what tells sets and built-in functions apart: members, names."""
    name = name_of(value) or class_name(type(value))
    if is_of(value, set, frozenset):
        base = set if is_of(value, set) else frozenset
        count = base.__len__(value)
        members = [*items_of(value, 0)] if count <= MOST_READ else []
        plain = sorted(repr(each) for each in members if is_exactly(each, *_PLAIN))
        return Imprint(f"{name} of {count:,}", (name, count, *plain))
    return Imprint(name, (str(attribute(value, "__module__")), name), "function")


def _shorten(text: str, most: int = _SHORT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
