"""Finds the functions that code can reach. Looks, never calls."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.usercode import (
    ask,
    attribute,
    attributes,
    class_dict,
    closure_values,
    is_users_class,
    is_users_function,
    items_of,
    module_of,
    mro_of,
    names_in,
    package_of,
    unwrap,
)

_MOST = 50_000  # containers of the user's, or fewer functions and other objects
_OF_CONTAINER, _OF_OTHER = 1, 5  # which count for so much
_MOST_OF_LIBRARIES, _DEPTH_IN_LIBRARIES = 1000, 6  # objects of libraries at each step, and steps
#: Lead to nothing; by identity, here and below: a metaclass may define equality.
_DATA = frozenset(map(id, (int, float, complex, bool, str, bytes, type(None))))
_CONTAINERS = frozenset(map(id, (dict, list, tuple)))
#: Of the session: a shell leads to all names of the user's, whatever leads to it.
_SHELLS = frozenset(("IPython", "ipykernel"))
_NOT_ENTERED = (type, ModuleType, FunctionType, BuiltinFunctionType)


class Reach(NamedTuple):
    """What code can reach."""

    functions: list[object]  # callables and modules, each once
    #: what the user's own functions use besides: their globals and closures, by name.
    values: dict[str, object]
    is_cut: bool  # whether the user's own lead to more than is looked at


def find_reach(
    values: Iterable[object], frameworks: Sequence[Framework], depth: int | None = None
) -> Reach:
    """Follow the user's functions, and objects that hold some, to all that they can use.

    Args:
        values: what the names in the code stand for.
        frameworks: their own functions are not followed: what those use is not the user's choice.
        depth: how many steps to follow; without it all, but in libraries.
    """
    walk = _Walk(frameworks)
    own, others = walk.users_of(values), list[object]()
    for step in count() if depth is None else range(depth):
        if not own and not others:
            break
        own, others = walk.step(own, others if step < _DEPTH_IN_LIBRARIES else ())
    used = walk.used.items()
    plain = {n: value for n, value in used if not issubclass(type(value), _NOT_ENTERED)}
    return Reach(walk.functions, plain, walk.is_cut)


class _Walk:
    """Goes from values to what they lead to, and keeps what it finds."""

    def __init__(self, frameworks: Sequence[Framework]) -> None:
        self._frameworks = frameworks
        self._theirs = _SHELLS | {framework.module for framework in frameworks} - {"builtins"}
        self.functions: list[object] = []
        self.used: dict[str, object] = {}
        self.is_cut = False  # there is no room for all of the user's
        self._room = _MOST
        self._costs: dict[int, int] = {}  # of looking at one of a class
        self._seen: dict[int, object] = {}  # held, so that no other gets their identity
        self._wrapped: dict[str, list[object]] = {}  # methods that were jitted, by their names
        self._named_in_code: set[str] = set()

    def step(
        self, own: Iterable[object], others: Iterable[object]
    ) -> tuple[list[object], list[object]]:
        """Return what the user's values, and those of libraries, lead to: both of each again."""
        of_users: list[object] = []
        of_others: list[object] = []
        for value in own:
            is_users = _leads(value) or _is_users(value)
            (of_users if is_users else of_others).extend(self._look(value))
        for value in others:
            of_others += self._look(value)
        for name in self._named_in_code & self._wrapped.keys():
            of_users += self._wrapped.pop(name)
        new = self.users_of([*of_users, *filter(_is_users, of_others)])
        return new, [*islice(self._unseen(of_others), _MOST_OF_LIBRARIES)]

    def users_of(self, found: Iterable[object]) -> list[object]:
        """Return what was not seen yet; half of the room is left to what these lead to."""
        new, least = [], self._room // 2
        for value in self._unseen(found):
            if self._room <= least:
                self.is_cut = True
                break
            self._room -= self._cost(type(value))
            new.append(value)
        return new

    def _unseen(self, found: Iterable[object]) -> Iterator[object]:
        for value in found:
            if id(value) not in self._seen and self._cost(type(value)):
                self._seen[id(value)] = value
                yield value

    def _look(self, value: Any) -> Iterable[object]:
        """Keep a value if it is a function or a module, and return what it leads to."""
        if id(type(value)) in _CONTAINERS:
            return _items_of(value)
        if callable(value) or issubclass(type(value), ModuleType):
            self.functions.append(value)
        if package_of(value) in self._theirs:
            return ()
        named = _used_by(value)
        self.used |= named if is_users_function(value) else {}
        self._named_in_code.update(_names_in(value))
        for name, method in _wrapped_methods(value):
            self._wrapped.setdefault(name, []).append(method)
        return (*named.values(), *_held_by(value))

    def _cost(self, kind: type) -> int:
        known = self._costs.get(id(kind))
        if known is None:
            is_array = any(ask(f.owns, kind) for f in self._frameworks)
            if id(kind) in _DATA or (is_array and not is_users_class(kind)):
                known = 0
            else:
                known = _OF_CONTAINER if id(kind) in _CONTAINERS else _OF_OTHER
            self._costs[id(kind)] = known
        return known


def _leads(value: object) -> bool:
    """Whether a value stands for what it leads to."""
    kind = type(value)
    return id(kind) in _CONTAINERS or kind is MethodType or issubclass(kind, partial)


def _is_users(value: Any) -> bool:
    return is_users_class(type(value)) or is_users_function(unwrap(value))


def _used_by(value: Any) -> dict[str, object]:
    """Return globals and closed-over values of a plain function, by name."""
    if type(value) is not FunctionType:
        return {}
    used = {n: value.__globals__[n] for n in _names_in(value) if n in value.__globals__}
    return {**used, **dict(closure_values(value))}


def _names_in(value: Any) -> Iterable[str]:
    return names_in(value.__code__) if type(value) is FunctionType else ()


def _wrapped_methods(value: Any) -> Iterator[tuple[str, object]]:
    """Yield methods of a user's object that are no plain functions, as those that are jitted."""
    for each in mro_of(type(value)):
        if is_users_class(each):
            for name, method in class_dict(each).items():
                if not issubclass(type(method), _NOT_ENTERED) and callable(method):
                    yield name, method


def _items_of(container: Any) -> list[object]:
    return [each for each in items_of(container, 0) if id(type(each)) not in _DATA]


def _held_by(value: Any) -> list[object]:
    """Return what may be or hold a function: of methods, partials, plain objects."""
    kind = type(value)
    if kind is MethodType:
        return [value.__func__, value.__self__]
    if issubclass(kind, partial):
        return [value.func]
    if issubclass(kind, _NOT_ENTERED) or module_of(kind) == "builtins":
        return []
    methods = [f for f in class_dict(kind).values() if type(f) is FunctionType]
    return [*attributes(value).values(), *methods]


def find_eager_functions(
    values: Iterable[object],
    frameworks: Sequence[Framework],
    compilers: Sequence[Callable[[object], bool]],
) -> Iterator[object]:
    """Yield the user's functions that values lead to, but those that a framework compiles.

    Args:
        values: what the names in the code stand for.
        frameworks: the adapters in play.
        compilers: say of a value whether a framework reads its code to compile it.
    """
    reach = find_reach(values, frameworks).functions
    compiled = [f for f in reach if any(ask(compiles, f) for compiles in compilers)]
    inside = {*map(id, find_reach(map(_original, compiled), frameworks).functions)}
    yield from (f for f in reach if is_users_function(f) and id(f) not in inside)


def _original(function: Any) -> object:
    inner = attribute(function, "_torchdynamo_orig_callable")
    return unwrap(function) if inner is None else inner
