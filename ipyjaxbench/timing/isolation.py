"""What running code changes in the user's session, so that many runs leave what one leaves."""

import ast
import dis
import inspect
import itertools
from array import array
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Sized
from types import FunctionType, GeneratorType, ModuleType
from typing import Any, cast

from ipyjaxbench.frameworks import Compilation, Framework, MutableState, find_arrays, is_unreadable
from ipyjaxbench.usercode.objects import asked, attributes, is_exactly, is_of
from ipyjaxbench.usercode.snippet import Namespace, Snippet

_MISSING = object()
_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes, tuple, frozenset)
_CONTAINERS = (list, bytearray, deque, array)
_IN_PLACE = {"sort", "reverse"}  # methods that containers have and others may have too
_SIZED = (list, dict, set, bytearray)
_NUMBERS = (int, float)
_NOT_LOOKED_INTO = (ModuleType, type, FunctionType)
_DEPTH, _MOST_ITEMS = 2, 100


class Snapshot:
    """The values of some names and all random states at one moment.

    Args:
        names: the user's namespace.
        bound: names to remember.
        frameworks: whose random state to remember.
        later: the calls that follow are repetitions.

    Attributes:
        revived: names that were given copies of arrays that calls had given away.
    """

    def __init__(
        self,
        names: Namespace,
        bound: Sequence[str],
        frameworks: Sequence[Framework],
        *,
        later: bool,
    ) -> None:
        self._names = names
        self._values = {name: names.get(name, _MISSING) for name in bound}
        values = list(names.values())  # among them generators with a state of their own
        states = (
            framework.capability(MutableState).random_state(values, later=later)
            for framework in frameworks
        )
        self.revived: list[str] = []
        self._restores = [restore for restore in states if restore is not None]

    def restore(
        self, frameworks: Sequence[Framework], revived: Callable[[Any], Any] | None = None
    ) -> list[str]:
        """Put everything back.

        Args:
            frameworks: to ask whether arrays were given away.
            revived: puts copies in place of arrays in a value that were.

        Returns:
            Names that keep their newest value, because arrays of the old one were given away.
        """
        lost = []
        for name, old in self._values.items():
            value = old if revived is None or old is _MISSING else revived(old)
            if value is not old:
                self.revived.append(name)
            if name not in self._names and value is _MISSING:
                continue
            if value is _MISSING:
                del self._names[name]
            elif self._names.get(name, _MISSING) is not value and not all_alive(value, frameworks):
                lost.append(name)
            else:
                self._names[name] = value
        for restore in self._restores:
            restore()
        return lost


def rebound(functions: Sequence[object], names: Namespace) -> list[str]:
    """Names that functions of the user's bind in this namespace, as after ``global n``."""
    found: dict[str, None] = {}
    for function in functions:
        if type(function) is FunctionType and function.__globals__ is names:
            for instruction in dis.get_instructions(function):
                if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                    found[str(instruction.argval)] = None
    return list(found)


def all_alive(value: object, frameworks: Sequence[Framework]) -> bool:
    """Whether none of the arrays inside of ``value`` was given away."""
    return all(found.framework.alive(found.array) for found in find_arrays(value, frameworks))


class Changes:
    """Tells which objects later calls changed in place, by looking after the first and the last.

    Args:
        snippet: the code.
        values: what the names that it reads stood for before the first call.
        frameworks: to find and ask arrays.
        reached: values that the user's functions use, by name; among ``values``.
        functions: these.

    Attributes:
        certain: names whose object every call changes, as the code itself shows.
    """

    def __init__(
        self,
        snippet: Snippet,
        values: Mapping[str, object],
        frameworks: Sequence[Framework],
        reached: Mapping[str, object] | None = None,
        functions: Sequence[object] = (),
    ) -> None:
        self._values = values
        self._frameworks = frameworks
        statements = [*snippet.statements, *snippet.in_magics]
        in_place = set(_updated_items(statements, values, frameworks))
        # `x += 1` changes an array in place; the name is bound to the same object again.
        in_place |= {
            name
            for name in _updated_names(statements)
            if snippet.names.get(name) is values.get(name)
            and not issubclass(type(values.get(name)), _IMMUTABLE)
        }
        used_up = set(handed_on(statements))
        self.certain = {
            name
            for name, value in values.items()
            if (name in in_place and not issubclass(type(value), ModuleType))
            or (name in used_up and is_of(value, Iterator))
        }
        used = _used(statements, values, functions)
        self._moved = {n for n, v in (reached or {}).items() if n in used and is_unreadable(v)}
        self._moved |= {n for n, v in values.items() if n in used_up and _moves_unseen(v)}
        self._moved |= set(_holders(values, used))
        self._after_first = {name: self._fingerprint(value) for name, value in values.items()}

    def found(self, put_back: Container[str] = ()) -> list[str]:
        """Names whose object is not as the first call left it.

        Args:
            put_back: names whose object is, whatever the code did to it.
        """
        changed = [
            n for n, v in self._values.items() if self._fingerprint(v) != self._after_first[n]
        ]
        certain = [
            n for n in self._values if n in self._moved or (n in self.certain and n not in put_back)
        ]
        return list(dict.fromkeys([*certain, *changed]))

    def _fingerprint(self, value: object) -> tuple[object, ...]:
        arrays = find_arrays(value, self._frameworks)
        told = (
            found.framework.capability(MutableState).mutation_count(found.array) for found in arrays
        )
        counts = [count for count in told if count is not None]
        try:
            outline = list(_outline(value, self._frameworks, _DEPTH))
        except Exception:  # noqa: BLE001  a proxy may raise when it is looked at
            outline = []
        return (*outline, *counts)


def _moves_unseen(value: object) -> bool:
    """Whether an iterator may move unseen: a generator may keep in a list what it gets."""
    return is_unreadable(value) or is_exactly(value, GeneratorType)


def _holders(values: Mapping[str, object], used: Container[str]) -> Iterator[str]:
    """Names of objects that hold an iterator in an attribute that is used, and may move unseen."""
    for name, value in values.items():
        if any(n in used and is_unreadable(v) for n, v in attributes(value).items()):
            yield name


def _used(
    statements: Sequence[ast.stmt], values: Mapping[str, object], functions: Sequence[object]
) -> set[str]:
    """Names that the code uses, and those that the functions use which go by such a name."""
    nodes = [*ast.walk(ast.Module(list(statements), []))]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    called_as = {id(v): n for n, v in values.items()}
    left = [f for f in functions if type(f) is FunctionType]
    while found := [f for f in left if _may_be_called(f, called_as.get(id(f), ""), used)]:
        left = [f for f in left if f not in found]
        for function in found:
            used |= {*function.__code__.co_names, *function.__code__.co_freevars}
    return used


def _may_be_called(function: FunctionType, name: str, used: Container[str]) -> bool:
    own, (kind, *_) = function.__name__, [*function.__qualname__.split(".")[-2:-1], ""]
    if own in ("__init__", "__new__"):
        return kind in used
    implicit = own.startswith("<") or (own.startswith("__") and own.endswith("__"))
    return implicit or own in used or name in used


def _outline(value: object, frameworks: Sequence[Framework], depth: int) -> Iterator[object]:
    """Lengths of containers and numbers in attributes: what shows that an object moved on.

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
    elif issubclass(kind, _NOT_LOOKED_INTO):
        return
    elif not any(_is_theirs(value, f) for f in frameworks):
        inside = list(attributes(value).values())
    if depth:
        for item in itertools.islice(inside, _MOST_ITEMS):
            yield from _outline(item, frameworks, depth - 1)


def _is_theirs(value: object, framework: Framework) -> bool:
    return framework.owns(type(value)) or framework.parts(value) is not None


def _updated_names(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Names that are updated in place, as ``x`` in ``x += 1``."""
    for node in ast.walk(ast.Module(list(statements), [])):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _updated_items(
    statements: Sequence[ast.stmt], values: Mapping[str, object], frameworks: Sequence[Framework]
) -> Iterator[str]:
    """Names that the code changes through: ``x[0] += 1``, ``x.sort()``, ``f(y, out=x)``."""
    for node in ast.walk(ast.Module(list(statements), [])):
        if isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Name):
            yield from _root(node.target)
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "out":
                    yield from _root(keyword.value)
            if isinstance(node.func, ast.Attribute):
                owner = _looked_up(node.func.value, values)
                if _changes_itself(owner, node.func.attr, frameworks):
                    yield from _root(node.func.value)


def handed_on(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Names that are iterated over, handed to a call that may do so, or asked to by a method."""
    for node in ast.walk(ast.Module(list(statements), [])):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.For | ast.comprehension):
            given = [node.iter]
        elif isinstance(node, ast.Starred):
            given = [node.value]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            given.append(node.func.value)
        yield from (each.id for each in given if isinstance(each, ast.Name))


def _changes_itself(owner: object, method: str, frameworks: Sequence[Framework]) -> bool:
    """Whether a method changes its object: `sort` of lists does, and of JAX's arrays does not."""
    kind = type(owner)
    if issubclass(kind, _CONTAINERS):
        return method in _IN_PLACE
    return any(
        f.owns(kind) and f.capability(MutableState).changes_in_place(method) for f in frameworks
    )


def _looked_up(node: ast.expr, values: Mapping[str, object]) -> object | None:
    """What a name, a dotted name or an item stands for; None for anything else."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _looked_up(node.value, values)
        return None if owner is None else inspect.getattr_static(owner, node.attr, None)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner, key = _looked_up(node.value, values), node.slice.value
        try:
            return owner[key] if is_exactly(owner, list, tuple, dict) else None  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return None
    return None


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _copied(framework: Framework, value: object) -> object | None:
    try:
        copied: object | None = framework.capability(MutableState).copy(value)
    # What cannot be copied is not the user's error: the code then runs once.
    except Exception:  # noqa: BLE001
        return None
    return copied


class Donated:
    """Fresh copies of arguments that each call gives away.

    Args:
        snippet: the code.
        values: what the names that it reads stand for, before the first call.
        functions: callables that it can reach.
        frameworks: to find, ask and copy arrays.

    Attributes:
        is_possible: whether any of the functions gives arguments away.
    """

    def __init__(
        self,
        snippet: Snippet,
        values: Mapping[str, object],
        functions: Sequence[object],
        frameworks: Sequence[Framework],
    ) -> None:
        self._names = snippet.names
        self._frameworks = frameworks
        self._copies: dict[str, tuple[Callable[[Any], Any], object]] = {}
        self.is_possible = False
        for framework in frameworks:
            if not any(
                asked(framework.capability(Compilation).donates, function) for function in functions
            ):
                continue
            self.is_possible = True
            for name, value in values.items():
                arrays = find_arrays(value, [framework])
                if name not in snippet.binds and arrays and not callable(value):
                    copied = _copied(framework, value)
                    if copied is not None:
                        self._copies[name] = (framework.capability(MutableState).copy, copied)
        self._before = {name: self._names[name] for name in self._copies}
        self._spared: set[str] = set()

    def forget_unused(self) -> list[str]:
        """After the first call: forget all copies but those of what was given away."""
        for name in list(self._copies):
            given = self._names[name] if name in self._spared else self._before[name]
            if all_alive(given, self._frameworks):
                self._names[name] = self._before.pop(name)
                del self._copies[name]
        return list(self._copies)

    def donate_copies(self) -> None:
        """Have the first call, too, give away copies."""
        self._spared = set(self._copies)
        self.refresh()

    def refresh(self) -> None:
        """Bind a fresh copy to each name, for one call."""
        for name, (copy, value) in self._copies.items():
            self._names[name] = copy(value)

    def restore(self) -> None:
        """Bind the user's own objects again, given away as one run leaves them."""
        self._names.update(self._before)
