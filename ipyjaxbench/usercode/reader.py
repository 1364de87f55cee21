"""Walks through code and values, and notes what each name stands for; looks, never calls."""

import functools
import heapq
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from types import FunctionType, MethodType, ModuleType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import imprints, members, names_as_text, places
from ipyjaxbench.usercode.classes import mro_of
from ipyjaxbench.usercode.code_objects import closure_values, original
from ipyjaxbench.usercode.framework_data import AnyData, FrameworkData
from ipyjaxbench.usercode.imprints import MOST_READ, NAMED, PLAIN, WITHIN, Imprint
from ipyjaxbench.usercode.met_classes import MetClass, MetClasses
from ipyjaxbench.usercode.name_chains import Chain
from ipyjaxbench.usercode.objects import is_exactly, is_of, name_of
from ipyjaxbench.usercode.origin import is_users_class, is_users_function
from ipyjaxbench.usercode.scopes import Paths, Scopes
from ipyjaxbench.usercode.side_effects import is_used_up, outright_names

_DEPTH = 30  # of what holds others; functions that call others count for nothing
_ON_HOST = 1000  # a depth: of what the host calls, what that holds counts for nothing


class Reader:
    """Follows names through code, and enters what they stand for.

    Args:
        data: what a framework knows of values.

    Attributes:
        found: what each stood for, by its path.
        paths: those that names have.
        objects: gives those of them that can change in place, as long as others hold them.
        places: where these stood, each once.
        is_cut: whether there were more than `MOST_READ`, or some lay too deep.
        raised: whether objects raised errors when they were looked at.
        is_hidden: whether code reads names in a text that is not known.
    """

    def __init__(self, data: FrameworkData) -> None:
        self._data = data
        self._used_up: dict[str, None] = {}
        self._absent: dict[str, Imprint] = {}  # names that are no globals
        self.paths = Paths()
        self._seen: set[tuple[int, ...]] = set()
        self._holding: set[int] = set()
        self._names: set[str] = set()  # that the code uses, attributes among them
        self._classes = MetClasses()
        self._known = -1  # names and classes that were read
        self._containers: list[tuple[int, int, str, Iterable[Any], int, set[int]]] = []
        self.objects: dict[str, Callable[[], Any]] = {}
        self.found: dict[str, Imprint] = {}
        self.places: dict[tuple[object, ...], places.Place] = {}
        self.is_cut = self.raised = self.is_hidden = False

    def read_code(
        self,
        function: FunctionType,
        arguments: Mapping[str, object],
        depth: int,
        owner: str = "",
        whose: str = "",
    ) -> None:
        """Add what the code of a function reads; the first argument of a method is its owner."""
        scopes, whose = Scopes(function, arguments), whose or name_of(function)
        if scopes.key in self._seen or depth >= _ON_HOST or self._is_too_deep(depth):
            return
        self._seen.add(scopes.key)
        self._names.update(names_as_text.names_used(code := original(function.__code__)))
        self.is_hidden = self.is_hidden or names_as_text.runs_unknown_text(code)
        for name, value in members.defaults_of(function):
            self._add(self.paths.of(name, id(function), whose), value, depth)
        self._keep(*places.places_of_cells(function))
        for each in places.places_of_environment(code):
            self._keep(each)
            self._add(f"os.environ[{each.key!r}]", each.value, depth)
        for name, value in scopes.given:
            self._meet(owner or name, *members.class_and_owner(value), depth)
        for chain in scopes.chains:
            is_own = owner and chain.scope == "argument"
            path = owner if is_own else self.paths.of_chain(scopes, chain, whose)
            self._read_name(scopes, chain, path, depth)

    def _read_name(self, scopes: Scopes, chain: Chain, path: str, depth: int) -> None:
        value = scopes.value(chain)
        if (names := scopes.names(chain)) is not None:
            self._keep(places.place_of_name(names, scopes.key_of(chain), value))
        if value is members.MISSING:
            if chain.scope == "global":
                self._absent[path] = imprints.imprint_absent(chain.name)
            return
        if is_of(value, ModuleType) and is_used_up(value):
            self._used_up[chain.name] = None
        try:  # what the host calls reads names in each call
            self._follow(chain, path, value, _ON_HOST if chain.on_host else depth)
        except CODE_ERRORS:  # what it refers to is gone, or its own code raises
            self.raised = True

    @property
    def side_effects(self) -> tuple[str, ...]:
        """What the code uses up where it runs, and the names by which it acts."""
        return (*self._used_up, *sorted(outright_names(self._names)))

    def read_value(self, name: str, value: Any) -> None:
        """Add what a callable that is no function of the user's holds of theirs."""
        self._add(name, value, 0)

    def read_wrappers(self, value: Any, depth: int, whose: str = "") -> None:
        """Add what the code of decorators reads that the user put around a function."""
        for each in members.wrappers_in(value):
            self.read_code(each, {}, depth, whose=whose)

    def read_rest(self) -> None:
        """Add what containers hold, the shortest first, so that a long one hides no name."""
        self._read_classes()
        while self._containers and not self.is_cut:
            _, _, path, parts, depth, self._holding = heapq.heappop(self._containers)
            try:
                for end, each in islice(parts, MOST_READ + 1):
                    self._add(path + end, each, depth + 1)
            except CODE_ERRORS:  # it changes meanwhile, or the code of an object raises
                self.raised = True
            self._read_classes()
        self.found = {**self._absent, **self.found}

    def _read_classes(self) -> None:
        """Add the methods and constants that the code uses of the user's classes it reached."""
        while self._known != (known := len(self._names) + len(self._classes)):
            self._known = known
            for met, path, value in self._classes.values(self._names):
                self._add_class_value(met, path, value)

    def _add_class_value(self, met: MetClass, path: str, value: Any) -> None:
        function = members.function_in(value)
        if is_users_function(function):
            bound = members.self_argument(value, function, met.owner)
            self._add_function(path, function, met.depth, bound, met.path)
            self.read_wrappers(value, met.depth + 1, path)
        elif is_exactly(value, *PLAIN, dict, list, tuple) or self._data.imprint(value) is not None:
            self._add(path, value, met.depth + 1)

    def _follow(self, chain: Chain, path: str, value: Any, depth: int) -> None:
        for n, (sort, key) in enumerate(chain.steps):
            owner, is_item = self._data.wrapped(value), sort == "item"
            part = self._data.part_of(owner, key, item=is_item)
            if part is members.MISSING and is_of(owner, ModuleType):
                self._add_constant(path, owner, [key for _, key in chain.steps[n:]])
                return
            if part is members.MISSING:
                break
            self._keep(places.place_of_part(owner, key, part, item=is_item))
            whose, path = path, path + (f"[{key!r}]" if is_item else f".{key}")
            if not is_item and members.is_of_class(owner, key) and members.is_descriptor(part):
                self._add_descriptor(path, part, whose, owner, depth)
                return
            if is_of(owner, tuple) and not is_item and type(part) is FunctionType:
                path = f"{whose}{WITHIN}{key}"  # of a library's tuple of functions, as Optax's
            value = part
        if is_of(value, ModuleType) and self._data.imprint(value) is None:
            return
        self._add(path, value, depth)

    def _add_constant(self, path: str, module: ModuleType, keys: list[str]) -> None:
        for end, place in places.places_of_constant(module, keys):
            self._keep(place)
            self.found[path + end] = imprints.imprint_plain(place.value)._replace(kind="constant")

    def _add_descriptor(self, path: str, value: Any, whose: str, owner: Any, depth: int) -> None:
        """Add the code of a method or a property; a library's reads what it likes of its object."""
        function = members.function_in(value)
        if is_users_function(function):
            bound = members.self_argument(value, function, owner)
            self._add_function(path, function, depth, bound, whose)
            self.read_wrappers(value, depth + 1, path)
            return
        self._add(whose, owner, depth)
        if not is_exactly(value, FunctionType, property):  # one that is jitted, as jnp.tanh
            self._add(path, value, depth)

    def _add(self, path: str, value: Any, depth: int) -> None:
        """Add what a path stands for, and what that holds."""
        if len(self.found) >= MOST_READ:
            self.is_cut = True
            return
        value = self._data.wrapped(value)
        if path in self.found or id(value) in self._holding or self._is_too_deep(depth):
            return
        is_plain = is_exactly(value, *PLAIN)
        data = imprints.imprint_plain(value) if is_plain else self._data.imprint(value)
        if data is not None:
            self.found[path] = data
            if data.in_place:
                self._note_object(path, value)
                self._keep(places.place_of_data(value, self._data.imprint, data))
            if data.kind != "object":
                return
        self._holding.add(id(value))
        try:
            self._add_holder(path, value, depth, is_known=data is not None)
        finally:
            self._holding.discard(id(value))

    def _is_too_deep(self, depth: int) -> bool:
        self.is_cut = self.is_cut or _DEPTH < depth < _ON_HOST
        return depth > _DEPTH and depth != _ON_HOST

    def _add_holder(self, path: str, value: Any, depth: int, *, is_known: bool) -> None:
        kind = type(value)
        wrapped = value.__func__ if kind is MethodType else value
        function = members.function_in(wrapped)
        if type(function) is FunctionType:
            bound = {}
            if kind is MethodType and is_users_function(function):
                bound = members.self_argument(function, function, value.__self__)
            elif kind is MethodType:
                self._add("self", value.__self__, depth + 1)
            self._add_function(path, function, depth, bound, "self" if bound else "")
            self.read_wrappers(wrapped, depth + 1, path)
            self._add_found(path, wrapped, members.code_beside, depth)
        elif is_of(value, functools.partial):
            self._add_parts(path, kind, *members.parts_of_partial(value), depth)
        elif is_of(value, dict, list, tuple, deque):
            self._keep(places.place_of_content(value))
            self._add_parts(path, kind, *members.contents_of(value), depth)
        elif is_of(value, *NAMED):
            self.found[path] = imprints.imprint_named(value)
            self._note_used_up(path, value)
            if is_of(value, set):
                self._note_object(path, value)
                self._keep(places.place_of_content(value))
            self._meet(path, *members.class_and_owner(value), depth)
        else:
            self._add_object(path, value, depth, is_known=is_known)

    def _add_object(self, path: str, value: Any, depth: int, *, is_known: bool) -> None:
        """Add an object's attributes; of a framework's or a library's those parts that count."""
        kind = type(value)
        self._names.update(names_as_text.names_of_getter(value))
        if not is_known:
            self._note_used_up(path, value)
        if not is_known and any(is_users_class(each) for each in mro_of(kind)):
            self._keep(places.place_of_content(value))
            own = members.own_attributes(value)
            parts = ((f".{name}", each) for name, each in own.items())
            self._add_parts(path, kind, len(own), parts, depth)
        else:
            if not is_known and path not in self._used_up and kind is not AnyData:
                self.found[path] = imprints.imprint_opaque(value)
            find = self._data.parts if is_known else members.code_in
            self._add_found(path, value, find, depth)
        self._meet(path, kind, value, depth)

    def _add_found(self, path: str, value: Any, find: members.Find, depth: int) -> None:
        self._keep(*places.places_of_parts(value, find))
        for end, each in find(value):
            self._add(path + end, each, depth + 1)

    def _meet(self, path: str, kind: type, owner: Any, depth: int) -> None:
        if self._classes.add(path, kind, owner, depth):
            self._keep(*places.places_of_class(kind))

    def _add_parts(
        self, path: str, kind: type, count: int, parts: Iterable[tuple[str, Any]], depth: int
    ) -> None:
        self.found[path] = imprints.imprint_holder(kind, count)
        number = len(self.found)  # of two as long ones the first comes first
        heapq.heappush(self._containers, (count, number, path, parts, depth, {*self._holding}))

    def _add_function(
        self, path: str, function: FunctionType, depth: int, given: Mapping[str, object], owner: str
    ) -> None:
        """Add a function's code, and what the user's own read, or what others close over."""
        self.found[path] = imprints.imprint_function(function)
        if is_users_function(function):
            self.read_code(function, given, depth, owner, path)
        else:
            self._keep(*places.places_of_cells(function))
            for name, each in closure_values(function):
                self._add(f"{path}{WITHIN}{name}", each, depth + 1)

    def _note_object(self, path: str, value: Any) -> None:
        with suppress(TypeError):  # it cannot be referred to
            self.objects[path] = weakref.ref(value)

    def _note_used_up(self, path: str, value: Any) -> None:
        if is_used_up(value):
            self._used_up[path] = None

    def _keep(self, *places: places.Place) -> None:
        for each in places:
            self.places.setdefault((id(each.owner), each.stands, each.key), each)
