"""What a function can change outside of itself, so that what tracing leaves there can be put back.

A function that keeps a value, in a global or in an attribute, keeps a tracer while it is traced:
an object that stands for numbers, and has none. Used later, it fails.
"""

import functools
import inspect
from collections import deque
from collections.abc import Callable, Iterator, MutableMapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import jax

from ipyjaxbench.expression import Call
from ipyjaxbench.frameworks.jax.users import is_users, is_users_class

_MOST = 500  # places that are looked at
_NOTHING = object()  # what stands where there was nothing
_LONGEST = 10_000  # items of a container that is looked into


class Kept:
    """What a call's function can reach by name, as it is now.

    Args:
        call: whose function it is; data among its arguments is not looked into.
    """

    def __init__(self, call: Call) -> None:
        self._places: list[_Names | _Values] = []
        self._seen: set[int] = set()
        self._look("self", call.function)
        for name, value in [*zip(call.labels, call.args, strict=True), *call.kwargs.items()]:
            self._look(name, value)

    def put_back(self, *, all_of_it: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Undo what happened since.

        Args:
            all_of_it: every change; otherwise those alone that keep a tracer.

        Returns:
            Names of what kept a tracer: those that are as they were, and those that are not.
        """
        done: dict[str, bool] = {}
        for place in self._places:
            for name, undo, has_tracer in place.changes():
                if not (has_tracer or all_of_it):
                    continue
                try:
                    undo()
                except Exception:  # noqa: BLE001  an object of the user's may refuse anything
                    done[name] = False
                else:
                    if has_tracer:
                        done.setdefault(name, True)
        back = tuple(name for name, put in done.items() if put)
        return back, tuple(name for name, put in done.items() if not put)

    def _look(self, name: str, value: Any) -> None:
        """Keep what a value holds, and go on to what that leads to."""
        if id(value) in self._seen or len(self._places) > _MOST:
            return
        self._seen.add(id(value))
        match value:
            case MethodType():
                self._look(name, value.__func__)
                self._look(_owner_of(value), value.__self__)
            case FunctionType():
                self._look_at_function(value)
            case list() | dict() | set() | deque():
                self._look_into(name, value)
            case functools.partial():
                self._look(name, value.func)
            case jax.stages.Wrapped():
                self._look(name, inspect.unwrap(value))
            case type():
                if is_users_class(value):
                    self._keep(_Names(f"{value.__name__}.", vars(value), None, value))
            case _:
                self._look_at_object(name, value)

    def _look_into(self, name: str, values: Any) -> None:
        if len(values) <= _LONGEST:
            self._places.append(_Values(name, values))
            for each in values.values() if isinstance(values, dict) else values:
                self._look(name, each)

    def _look_at_object(self, name: str, value: Any) -> None:
        if is_users_class(type(value)) and hasattr(value, "__dict__"):
            self._keep(_Names(f"{name}.", vars(value), None, value))
            self._look(type(value).__name__, type(value))

    def _look_at_function(self, function: FunctionType) -> None:
        if inspect.unwrap(function) is not function:
            self._look(function.__name__, inspect.unwrap(function))
        if not is_users(function.__code__.co_filename):
            return
        used = set(_names_in(function.__code__))
        self._keep(_Names("", function.__globals__, used))
        for name in used:
            module = function.__globals__.get(name)
            if isinstance(module, ModuleType) and is_users(getattr(module, "__file__", "") or "<"):
                self._keep(_Names(f"{name}.", vars(module), used))
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self._keep(_Names("", _Cell(name, cell), None))

    def _keep(self, place: "_Names") -> None:
        self._places.append(place)
        for name, value in place.before.items():
            self._look(place.prefix + name, value)


class _Names:
    """Names that stand for values: globals, attributes, what a function closes over."""

    def __init__(
        self, prefix: str, names: Any, used: set[str] | None, owner: object = None
    ) -> None:
        self.prefix, self._names, self._owner = prefix, names, owner
        self._used = used
        self.before = {n: v for n, v in names.items() if used is None or n in used}

    def changes(self) -> Iterator[tuple[str, Callable[[], None], bool]]:
        """Name, how it is undone, and whether a tracer came in."""
        now = {n: v for n, v in self._names.items() if self._used is None or n in self._used}
        for name in {**self.before, **now}:
            old, new = self.before.get(name, _NOTHING), now.get(name, _NOTHING)
            if old is not new:
                undo = self._setter(name, old)
                yield self.prefix + name, undo, _has_tracer(new)

    def _setter(self, name: str, old: Any) -> Callable[[], None]:
        def undo() -> None:
            if isinstance(self._owner, type):
                delattr(self._owner, name) if old is _NOTHING else setattr(self._owner, name, old)
            elif old is _NOTHING:
                del self._names[name]
            else:
                self._names[name] = old

        return undo


class _Values:
    """A list, a dictionary, a set or a deque."""

    def __init__(self, name: str, values: Any) -> None:
        self._name, self._values = name, values
        self._before = _items(values)
        self._copied = values.copy()

    def changes(self) -> Iterator[tuple[str, Callable[[], None], bool]]:
        """Name, how it is undone, and whether a tracer came in."""
        now = _items(self._values)
        if [*map(id, now)] != [*map(id, self._before)]:
            known = {id(each) for each in self._before}
            came = [each for each in now if id(each) not in known]
            yield self._name, self._undo, any(map(_has_tracer, came))

    def _undo(self) -> None:
        self._values.clear()
        if isinstance(self._values, dict | set):
            self._values.update(self._copied)
        else:
            self._values.extend(self._copied)


class _Cell(MutableMapping[str, Any]):
    """What a function closes over, as a dictionary of one name."""

    def __init__(self, name: str, cell: Any) -> None:
        self._name, self._cell = name, cell

    def __getitem__(self, name: str) -> Any:
        return self._cell.cell_contents

    def __setitem__(self, name: str, value: Any) -> None:
        self._cell.cell_contents = value

    def __delitem__(self, name: str) -> None:
        del self._cell.cell_contents

    def __iter__(self) -> Iterator[str]:
        try:
            _ = self._cell.cell_contents
        except ValueError:  # nothing stands there yet
            return
        yield self._name

    def __len__(self) -> int:
        return len([*self])


def _items(values: Any) -> list[Any]:
    return [*values, *values.values()] if isinstance(values, dict) else [*values]


def _has_tracer(value: Any) -> bool:
    """Whether a value is a tracer, or holds one; what an object holds is looked at too."""
    leaves = jax.tree.leaves(value)
    own = jax.core.Tracer | type | ModuleType | FunctionType
    objects = [leaf for leaf in leaves if not isinstance(leaf, own)]
    held = [each for one in objects for each in jax.tree.leaves(getattr(one, "__dict__", None))]
    return any(isinstance(leaf, jax.core.Tracer) for leaf in (*leaves, *held))


def _names_in(code: CodeType) -> Iterator[str]:
    """Names of a function and of the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _owner_of(method: MethodType) -> str:
    return "self" if not isinstance(method.__self__, type) else method.__self__.__name__
