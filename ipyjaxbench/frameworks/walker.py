"""Finds the arrays inside any value, and the paths to them. Looks, never calls."""

import io
import logging
from collections import UserDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import partial
from itertools import count, islice, repeat
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.keras import keras_parts
from ipyjaxbench.usercode import ask, attribute, attributes, is_of, items_of, module_of, slots

#: Values looked at before giving up on a value that is too large to be walked.
_MAX_NODES = 500_000
#: Values looked at in a row that hold no array, before giving up on one that is plain data. Others
#: than containers of Python's own count for several: a look at them takes so many times as long.
_MAX_PLAIN, _OTHER = 40_000, 5
_MAX_LEVELS = 40  # of a path that a person would type
_MANY = 1000  # items: as many numbers at the front, and nobody expects an array among the rest
_ATOMS = frozenset(
    map(id, (type(None), bool, int, float, complex, str, bytes, bytearray, range, slice))
)
#: To what is of such a class, or extends one, no path leads further: as `numpy.float64`.
_DATA = (bool, int, float, complex, str, bytes, type)
_CONTAINERS = (list, tuple, deque, dict)
#: By identity, as all classes here: a metaclass may define equality.
_SEQUENCES, _PLAIN = frozenset(map(id, (list, tuple))), frozenset(map(id, (list, tuple, dict)))
_OWN = frozenset(map(id, (*_CONTAINERS, set, frozenset)))
#: From loggers and streams paths lead through the session to all that it holds.
_LOGS = (logging.Logger, logging.Handler, io.IOBase.__mro__[1])  # the last one is no abstract class
_NOT_ENTERED = (type, ModuleType, FunctionType, BuiltinFunctionType, *_LOGS)
_SESSIONS = ("IPython", "ipykernel")
_NO_STEPS = repeat("")


class Budget:
    """How many objects in a row a walk looks at without finding an array."""

    def __init__(self) -> None:
        self._left, self._is_turned = _MAX_PLAIN, False
        #: whether that ended the walk: there may be arrays that it did not come to.
        self.is_spent = False

    def renew(self) -> None:
        """Start again, since an array was found."""
        self._left = _MAX_PLAIN

    def take(self, levels: list[Any], kind: type) -> bool:
        """Whether one more object, of this class, may be looked at.

        Args:
            levels: open containers, the innermost last. Where one is too large the walk goes on
                once with what stands beside it, the outermost first.
            kind: its class.
        """
        self._left -= 1 if id(kind) in _OWN else _OTHER
        if self._left < 0 and not self._is_turned:
            self._is_turned, self.is_spent, self._left = True, True, _MAX_PLAIN // 2
            levels.reverse()
            return False
        if self._left < 0:
            levels.clear()
        return self._left >= 0


class Found(NamedTuple):
    """One array and the framework that it belongs to."""

    framework: Framework
    array: Any


def find_arrays(value: object, frameworks: Sequence[Framework]) -> list[Found]:
    """Return the arrays inside of a value, in order, each once.

    Containers, dataclasses, plain objects, partials, bound methods and what the frameworks know
    as containers are entered; no attribute that runs code is read.

    Args:
        value: anything.
        frameworks: the adapters to ask.

    Example:
        >>> find_arrays([1, "a"], [])
        []
    """
    return [Found(owner, array) for _, owner, array in _walk(value, frameworks, Budget(), None)]


def iterate_arrays(value: object, frameworks: Sequence[Framework]) -> Iterator[Found]:
    """Yield the same one by one: a list of very many is looked through by the collector."""
    walk = _walk(value, frameworks, Budget(), None)
    return (Found(owner, array) for _, owner, array in walk)


def iterate_named_arrays(
    name: str,
    value: object,
    frameworks: Sequence[Framework],
    budget: Budget | None = None,
    apart: Sequence[object] = (),
) -> Iterator[tuple[str, Framework, Any]]:
    """Yield the arrays inside of a value, each with the path that a person would type to reach it.

    Args:
        name: of the value.
        value: anything; no attribute that runs code is read.
        frameworks: the adapters to ask.
        budget: ends the walk through what is plain data.
        apart: objects that are not looked into.

    Yields:
        The path, such as ``model.layers[0]['w']``, the framework, and the array, each once.
    """
    return _walk(value, frameworks, budget or Budget(), name, apart)


def _walk(
    value: object,
    frameworks: Sequence[Framework],
    budget: Budget,
    name: str | None,
    apart: Sequence[object] = (),
) -> Iterator[tuple[str, Framework, Any]]:
    """Yield arrays with their paths, all that there are; without a name as many as matter."""
    is_named = name is not None
    open_node = _open_named if is_named else _open
    owners: dict[int, Framework | None] = {}  # by identity: a metaclass may define equality
    seen: dict[int, object] = {id(each): each for each in apart}
    # One loop over open containers: a generator in a generator would hand each leaf up the levels.
    levels: list[tuple[str, Iterator[tuple[object, str]]]] = [("", iter([(value, name or "")]))]
    while levels and (is_named or len(seen) < _MAX_NODES):
        path, parts = levels[-1]
        for node, step in parts:
            kind = type(node)
            if id(kind) in _ATOMS or id(node) in seen:
                continue
            seen[id(node)] = node
            if id(kind) not in owners:
                owners[id(kind)] = next((f for f in frameworks if f.owns(kind)), None)
            owner = owners[id(kind)]
            if owner is not None:
                budget.renew()
                yield path + step, owner, node
            elif id(kind) in _OWN and _holds_atoms(node) and budget.take(levels, kind):
                continue  # most of what is large is of these
            elif not is_named or (len(levels) <= _MAX_LEVELS and not issubclass(kind, _DATA)):
                if budget.take(levels, kind):
                    levels.append((path + step, open_node(node, frameworks)))
                break
        else:
            levels.pop()


def _open(node: Any, frameworks: Sequence[Framework]) -> Iterator[tuple[object, str]]:
    """Yield what a value holds; nothing of very many that begin with numbers and strings."""
    if id(type(node)) in _SEQUENCES:
        nodes = () if _are_plain(node[: _MANY + 1]) else node
    else:
        try:
            nodes = [*_nodes_in(node, frameworks)]
        # A proxy may raise whatever it likes when it is asked for its class: it is empty then.
        except CODE_ERRORS:
            nodes = ()
    return zip(nodes, _NO_STEPS, strict=False)


def _nodes_in(node: Any, frameworks: Sequence[Framework]) -> Iterable[object]:
    node = _data_of(node)
    if type(node) is dict:
        return _but_plain(iter(node.values()))
    if issubclass(type(node), _NOT_ENTERED):
        return ()
    for framework in frameworks:
        parts = framework.parts(node)
        if parts is not None:
            return parts
    if is_of(node, *_CONTAINERS, set, frozenset) or ask(_is_view, node):
        return _but_plain(items_of(node, _MAX_NODES))
    if ask(_is_mapping, node):
        return _but_plain(items_of(node.values(), _MAX_NODES))
    return _members(node).values()


def _open_named(node: Any, frameworks: Sequence[Framework]) -> Iterator[tuple[object, str]]:
    """Yield what a value holds, each with the step that leads there; no path leads into sets."""
    node = _data_of(node)
    try:
        named = None if id(type(node)) in _PLAIN else named_parts(node, frameworks)
        if named is not None:
            yield from ((part, name if name[0] == "[" else f".{name}") for name, part in named)
        elif is_of(node, dict) or ask(_is_mapping, node):
            pairs = dict.items(node) if is_of(node, dict) else islice(node.items(), _MAX_NODES)
            yield from ((part, f"[{key!r}]") for key, part in pairs)
        elif is_of(node, *_CONTAINERS) or ask(_is_view, node):
            yield from zip(items_of(node, _MAX_NODES), _steps(node), strict=False)
        elif not issubclass(type(node), _NOT_ENTERED):
            yield from ((part, f".{name}") for name, part in _members(node).items())
    except CODE_ERRORS:  # as above
        return


def _data_of(node: object) -> object:
    """Return the dictionary in a `UserDict`, whose class may be the user's; all else as it is."""
    data = attributes(node).get("data") if is_of(node, UserDict) else None
    return data if type(data) is dict else node


def _steps(node: object) -> Iterator[str]:
    fields = None if id(type(node)) in _PLAIN else attribute(type(node), "_fields")
    if type(fields) is tuple:
        return (f".{field}" for field in fields)
    return (f"[{index}]" for index in count())


def _members(node: Any) -> dict[str, object]:
    """Return the values of attributes, and what a method or a partial holds."""
    if is_of(node, MethodType):
        return {"__self__": node.__self__}
    if module_of(type(node)).partition(".")[0] in _SESSIONS:
        return {}
    own = {**attributes(node), **slots(node)}
    return {"args": node.args, "keywords": node.keywords, **own} if is_of(node, partial) else own


def _is_mapping(node: object) -> bool:
    return issubclass(type(node), Mapping)


def _is_view(node: object) -> bool:
    return issubclass(type(node), ValuesView)


def _but_plain(items: Iterator[object]) -> list[object]:
    """Return the items; none of very many, where those at the front are numbers and strings."""
    front = list(islice(items, _MANY + 1))
    return [] if _are_plain(front) else [*front, *items]


def _holds_atoms(node: Any) -> bool:
    """Whether a container of Python's own has few items, all numbers, strings and the like."""
    items = node.values() if type(node) is dict else node
    return len(node) <= _MANY and _ATOMS.issuperset(map(id, map(type, items)))


def _are_plain(front: Sequence[object]) -> bool:
    """Whether very many begin with these, and these are all numbers and strings."""
    return len(front) > _MANY and all(id(type(item)) in _ATOMS for item in front)


def named_parts(
    node: object, frameworks: Sequence[Framework]
) -> Iterable[tuple[str, object]] | None:
    """Return what frameworks know to be in their own containers, by dotted names; else None."""
    found = keras_parts(node)
    every = (framework.named_parts(node) for framework in frameworks)
    return found if found is not None else next((each for each in every if each is not None), None)
