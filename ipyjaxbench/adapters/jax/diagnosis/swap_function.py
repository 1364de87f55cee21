"""Makes a call that uses one function where another one was used.

Nothing of the user's is changed for that: each function, module and object on the way is copied.
"""

import copy
import functools
import inspect
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import jax

from ipyjaxbench.adapters.jax.diagnosis.call_graph import Step, steps, walk
from ipyjaxbench.adapters.shared.diagnosis.source_edit import closure_cells, function_with_code
from ipyjaxbench.usercode import Call, unwrap


def with_function(call: Call, old: FunctionType, new: FunctionType) -> Call:
    """Return a call that uses another function wherever it used one.

    Raises:
        Exception: something on the way cannot be copied.
    """

    def swapped(thing: Any) -> Any:
        return _Copies(thing, old, new).of(thing)

    function = swapped(call.function)
    positions = [index for index, arg in enumerate(call.args) if _leads(arg, old)]
    names = [name for name, value in call.kwargs.items() if _leads(value, old)]
    if not (positions or names):
        return replace(call, function=function)

    # An argument may be a tree of arrays: it is changed when they are in it.
    def changed(*args: Any, **kwargs: Any) -> Any:
        whole = (swapped(arg) if index in positions else arg for index, arg in enumerate(args))
        return function(*whole, **kwargs | {name: swapped(kwargs[name]) for name in names})

    return replace(call, function=functools.update_wrapper(changed, function, updated=()))


def _leads(thing: Any, old: FunctionType) -> bool:
    return any(inner is old for inner in walk([thing]))


class _Copies:
    """Copies of what leads from a thing to a function; they lead to another one.

    Args:
        root: the thing.
        old: the function.
        new: the other one. It may call itself: by its name it is found as well.
    """

    def __init__(self, root: Any, old: FunctionType, new: FunctionType) -> None:
        self._old, self._new = old, new
        self._copies: dict[int, Any] = {}
        self._things = [*walk([root])]  # their ids are those of nothing else meanwhile
        to: defaultdict[int, list[int]] = defaultdict(list)
        for thing in self._things:
            for step in steps(thing):
                to[id(step.to)].append(id(thing))
        self._leading, waiting = {id(old)}, [id(old)]
        while waiting:
            further = [key for key in to[waiting.pop()] if key not in self._leading]
            self._leading.update(further)
            waiting += further

    def of(self, thing: Any) -> Any:
        """What stands for a thing: a copy where it leads to the function, else the thing."""
        if id(thing) not in self._leading:
            return thing
        if id(thing) not in self._copies:
            self._copy(self._new if thing is self._old else thing, id(thing))
        return self._copies[id(thing)]

    def _copy(self, thing: Any, key: int) -> None:
        match thing:
            case FunctionType():
                self._copy_function(thing, key)
            case functools.partial():
                args = map(self.of, thing.args)
                kwargs = {name: self.of(value) for name, value in thing.keywords.items()}
                self._copies[key] = functools.partial(self.of(thing.func), *args, **kwargs)
            case MethodType() if id(thing.__self__) in self._leading:
                owner = self.of(thing.__self__)
                self._copies[key] = getattr(owner, thing.__func__.__name__)
            case MethodType():
                self._copies[key] = MethodType(self.of(thing.__func__), thing.__self__)
            case jax.stages.Wrapped():
                # Without jit: it keeps what it traced, and for longer than this.
                self._copies[key] = self.of(unwrap(thing))
            case type():
                self._copies[key] = self._class(thing)
            case _:
                self._copy_object(thing, key)

    def _copy_function(self, function: FunctionType, key: int) -> None:
        further = self._further(function)
        changed = {step.path[0] for step in further if step.kind == "cell"}
        cells = closure_cells(function)
        cells |= {n: CellType(c.cell_contents) for n, c in cells.items() if n in changed}
        names = dict(function.__globals__)
        # Before what it leads to, which may lead back.
        self._copies[key] = function_with_code(function, function.__code__, names, cells)
        for step in further:
            name, *path = step.path
            new = self.of(step.to)
            if step.kind == "cell":
                cells[name].cell_contents = _in_module(cells[name].cell_contents, path, new)
            else:
                names[name] = _in_module(names[name], path, new)

    def _copy_object(self, thing: Any, key: int) -> None:
        copied = self._copies[key] = copy.copy(thing)
        for step in self._further(thing):
            if step.kind == "held":
                object.__setattr__(copied, step.path[0], self.of(step.to))
        object.__setattr__(copied, "__class__", self._class(type(thing)))

    def _class(self, kind: Any) -> Any:
        """A class with other methods; the class itself where they are the same."""
        methods = {step.path[0]: step.to for step in self._further(kind)}
        if not methods:
            return kind
        new = {name: _like(inspect.getattr_static(kind, name), self.of(method))
               for name, method in methods.items()}  # fmt: skip
        return type(kind)(kind.__name__, (kind,), new)

    def _further(self, thing: Any) -> list[Step]:
        return [step for step in steps(thing) if id(step.to) in self._leading]


def _like(old: Any, new: Callable[..., Any]) -> Any:
    return type(old)(new) if isinstance(old, staticmethod | classmethod) else new


def _in_module(old: Any, path: Sequence[str], new: Any) -> Any:
    """What is new itself, or a copy of a module with it where attributes lead."""
    if not path:
        return new
    name, *rest = path
    copied = ModuleType(old.__name__)
    vars(copied).update(vars(old))
    vars(copied)[name] = _in_module(vars(old)[name], rest, new)
    return copied
