"""Finds objects that code changes in place: in the code itself, and by looking at them twice."""

import ast
import itertools
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any, cast

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks import (
    Framework,
    MutableState,
    Scope,
    amounts,
    changes_by_itself,
    find_arrays,
    is_unreadable,
    written,
)
from ipyjaxbench.timing.names_in_code import (
    find_descriptors,
    find_passed_names,
    find_updated_items,
    find_updated_names,
)
from ipyjaxbench.timing.plain_iterators import holds_plain_values, is_reader_of_file
from ipyjaxbench.usercode import (
    attribute,
    attributes,
    is_exactly,
    is_of,
    is_shown,
    is_users_function,
    name_of,
    names_of_module,
    nodes_of,
    package_of,
)

_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes, tuple, frozenset)
#: Python shows no list of what these change.
_UNSEEN = {("_codecs", "register"), ("_codecs", "register_error"), ("posix", "putenv"),
           ("posix", "unsetenv"), ("nt", "putenv")}  # fmt: skip
_SIZED = (list, dict, set, bytearray)
_NUMBERS = (int, float)
_NOT_LOOKED_INTO = (ModuleType, type, FunctionType)
_MAX_DEPTH, _MAX_ITEMS = 2, 100


class Changes:
    """Finds objects that later calls changed in place, by looking after the first and the last."""

    def __init__(self, scope: Scope, frameworks: Sequence[Framework]) -> None:
        snippet, values = scope.snippet, {**scope.captured, **scope.read_values}
        self._values = values
        self._frameworks = frameworks
        statements = [*snippet.statements, *snippet.in_magics]
        in_place = set(find_updated_items(statements, values, frameworks))
        # `x += 1` changes an array in place; the name is bound to the same object again.
        in_place |= {
            name
            for name in find_updated_names(statements)
            if snippet.names.get(name) is values.get(name)
            and not issubclass(type(values.get(name)), _IMMUTABLE)
        }
        used_up = set(find_passed_names(statements))
        # names whose object every call changes, as the code itself shows
        self.certain = {
            name
            for name, value in values.items()
            if (name in in_place and not issubclass(type(value), ModuleType))
            or (name in used_up and is_of(value, Iterator) and not is_shown(value))
        }
        used = self._used = _used(statements, values, scope.functions)
        self._moved = {n for n, v in scope.captured.items() if n in used and is_unreadable(v)}
        self._moved |= {n for n, v in values.items() if n in used_up and _moves_unseen(v)}
        self._moved |= set(_holders(values, used))
        every = {**scope.captured, **values}
        self._plain = {n for n in self._moved if holds_plain_values(every[n], frameworks)}
        self._readers = {n for n in self._moved if is_reader_of_file(every[n])}
        self._unseen = [*_find_unseen(scope.called), *_find_unseen(_named_in(scope.functions))]
        self._descriptors = {*find_descriptors(statements, values)}
        self._after_first = {n: self._fingerprint(n, v) for n, v in values.items()}

    def changed_names(
        self,
        put_back: Container[str] = (),
        unread: Collection[str] = (),
        restored: Collection[str] = (),
        reset: Collection[str] = (),
    ) -> list[str]:
        """Return names whose object is not as the first call left it, as far as that is known.

        Args:
            put_back: names of which all that changed is put back.
            unread: names that are told where the code uses them: nothing shows what they hold.
            restored: names of which something had changed that was put back.
            reset: names of which each call found what the first one did.
        """
        moved = self._moved - self._plain.intersection(restored) - self._readers.intersection(reset)
        changed = [
            n for n, v in self._values.items() if self._fingerprint(n, v) != self._after_first[n]
        ]
        certain = [
            n for n in self._values if n in moved or (n in self.certain and n not in put_back)
        ]
        unread = [name for name in unread if name in self._used]
        return list(dict.fromkeys([*certain, *self._unseen, *unread, *changed]))

    def _fingerprint(self, name: str, value: object) -> tuple[object, ...]:
        if name in self._descriptors:
            return (*amounts(cast(int, value)), *written(cast(int, value)))
        counted = any(f.capability(MutableState).counts_changes for f in self._frameworks)
        arrays = find_arrays(value, self._frameworks) if counted else ()
        answers = (f.capability(MutableState).mutation_count(array) for f, array in arrays)
        counts = [count for count in answers if count is not None]
        try:
            outline = list(_outline(value, self._frameworks, _MAX_DEPTH))
        except CODE_ERRORS:  # a proxy may raise when it is looked at
            outline = []
        return (*outline, *counts)


def _moves_unseen(value: object) -> bool:
    """Whether an iterator may move unseen: a generator may keep in a list what it gets."""
    return is_unreadable(value) or is_exactly(value, GeneratorType)


def _find_unseen(called: Mapping[str, object]) -> list[str]:
    """Return names of functions that change what nothing shows."""
    found = ((name, f) for name, f in called.items() if is_exactly(f, BuiltinFunctionType))
    return [name for name, f in found if (package_of(f), name_of(f)) in _UNSEEN]


def _named_in(functions: Sequence[object]) -> dict[str, object]:
    """Return what functions of the user's name of modules, as ``codecs.register``, and globals."""
    found: dict[str, object] = {}
    for function in filter(is_users_function, functions):
        used, names = function.__code__.co_names, function.__globals__
        found |= {each: names[each] for each in used if each in names}
        for name, module in [*found.items()]:
            held = names_of_module(module) if is_exactly(module, ModuleType) else {}
            found |= {f"{name}.{each}": held[each] for each in used if each in held}
    return found


def _holders(values: Mapping[str, object], used: Container[str]) -> Iterator[str]:
    """Return names of objects with an iterator in a used attribute, which may move unseen."""
    for name, value in values.items():
        if any(n in used and is_unreadable(v) for n, v in attributes(value).items()):
            yield name


def _used(
    statements: Sequence[ast.stmt], values: Mapping[str, object], functions: Sequence[object]
) -> set[str]:
    """Return names that the code uses, and those of the functions that go by such a name."""
    nodes = [*nodes_of(statements)]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    called_as = {id(f): n for n, v in values.items() for f in (v, _function_behind(v))}
    left = [f for f in functions if type(f) is FunctionType]
    while callees := [f for f in left if _may_be_called(f, called_as.get(id(f), ""), used)]:
        left = [f for f in left if f not in callees]
        for function in callees:
            used |= {*function.__code__.co_names, *function.__code__.co_freevars}
    return used


def _function_behind(value: Any) -> object:
    """Return what a bound method, a partial or a wrapper calls; other values as they are.

    None of these is asked: an object may run code of its own for any attribute.
    """
    for _ in range(_MAX_ITEMS):  # a wrapper may wrap itself
        inner: Any
        if type(value) is MethodType:
            inner = value.__func__
        elif issubclass(type(value), partial):
            inner = vars(partial)["func"].__get__(value)
        else:
            inner = attribute(value, "__wrapped__") if callable(value) else None
        if inner is None:
            break
        value = inner
    return value


def _may_be_called(function: FunctionType, name: str, used: Container[str]) -> bool:
    own, (kind, *_) = function.__name__, [*function.__qualname__.split(".")[-2:-1], ""]
    if own in ("__init__", "__new__"):
        return kind in used
    implicit = own.startswith("<") or (own.startswith("__") and own.endswith("__"))
    return implicit or own in used or name in used


def _outline(value: object, frameworks: Sequence[Framework], depth: int) -> Iterator[object]:
    """Return lengths of containers and numbers in attributes, which show that an object moved on.

    Arrays, and containers that a framework knows, are left to the framework.
    """
    kind = type(value)
    if is_exactly(value, *_NUMBERS):
        yield value
    elif is_exactly(value, *_SIZED):
        yield len(cast(Sized, value))
    inside: Iterable[object] = ()
    if is_exactly(value, list, tuple):
        inside = cast(Iterable[object], value)
    elif kind is dict:
        inside = cast(dict[object, object], value).values()
    elif issubclass(kind, _NOT_LOOKED_INTO) or changes_by_itself(kind):
        return
    elif not any(_is_theirs(value, f) for f in frameworks):
        inside = list(attributes(value).values())
    if depth:
        for item in itertools.islice(inside, _MAX_ITEMS):
            yield from _outline(item, frameworks, depth - 1)


def _is_theirs(value: object, framework: Framework) -> bool:
    return framework.owns(type(value)) or framework.parts(value) is not None
