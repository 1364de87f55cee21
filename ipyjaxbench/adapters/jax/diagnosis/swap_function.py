"""A call that uses one function where another one was used.

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


def replace_function(call: Call, old: FunctionType, new: FunctionType) -> Call:
    """Return a call that uses another function wherever it used one.

    Raises:
        Exception: something on the way cannot be copied.
    """

    def swapped(thing: Any) -> Any:
        return _Copies(thing, old, new).copy_of(thing)

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
    """Copies of what leads from a thing to an old function; they lead to a new one.

    The new one may call itself: by its name it is found as well.
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

    def copy_of(self, thing: Any) -> Any:
        """Return a copy of a thing where it leads to the function, else the thing itself."""
        key = id(thing)
        if key not in self._leading:
            return thing
        if key not in self._copies:
            self._copies[key] = self._copy(self._new if thing is self._old else thing, key)
        return self._copies[key]

    def _copy(self, thing: Any, key: int) -> Any:
        match thing:
            case FunctionType():
                return self._copy_function(thing, key)
            case functools.partial():
                args = map(self.copy_of, thing.args)
                kwargs = {name: self.copy_of(value) for name, value in thing.keywords.items()}
                return functools.partial(self.copy_of(thing.func), *args, **kwargs)
            case MethodType() if id(thing.__self__) in self._leading:
                return getattr(self.copy_of(thing.__self__), thing.__func__.__name__)
            case MethodType():
                return MethodType(self.copy_of(thing.__func__), thing.__self__)
            case jax.stages.Wrapped():
                # Without jit: it keeps what it traced, and for longer than this.
                return self.copy_of(unwrap(thing))
            case type():
                return self._class(thing)
        return self._copy_object(thing, key)

    def _copy_function(self, function: FunctionType, key: int) -> FunctionType:
        further = self._further(function)
        changed = {step.path[0] for step in further if step.kind == "cell"}
        cells = closure_cells(function)
        cells |= {n: CellType(c.cell_contents) for n, c in cells.items() if n in changed}
        names = dict(function.__globals__)
        # Before what it leads to, which may lead back.
        new = self._copies[key] = function_with_code(function, function.__code__, names, cells)
        for step in further:
            name, *path = step.path
            target = self.copy_of(step.to)
            if step.kind == "cell":
                cells[name].cell_contents = _swap_in_module(cells[name].cell_contents, path, target)
            else:
                names[name] = _swap_in_module(names[name], path, target)
        return new

    def _copy_object(self, thing: Any, key: int) -> Any:
        copied = self._copies[key] = copy.copy(thing)
        for step in self._further(thing):
            if step.kind == "held":
                object.__setattr__(copied, step.path[0], self.copy_of(step.to))
        object.__setattr__(copied, "__class__", self._class(type(thing)))
        return copied

    def _class(self, kind: Any) -> Any:
        """Return a class with other methods; the class itself where they are the same."""
        methods = {step.path[0]: step.to for step in self._further(kind)}
        if not methods:
            return kind
        new = {name: _like(inspect.getattr_static(kind, name), self.copy_of(method))
               for name, method in methods.items()}  # fmt: skip
        return type(kind)(kind.__name__, (kind,), new)

    def _further(self, thing: Any) -> list[Step]:
        return [step for step in steps(thing) if id(step.to) in self._leading]


def _like(old: Any, new: Callable[..., Any]) -> Any:
    return type(old)(new) if isinstance(old, staticmethod | classmethod) else new


def _swap_in_module(old: Any, path: Sequence[str], new: Any) -> Any:
    """Return the new value itself, or a copy of a module with it where attributes lead."""
    if not path:
        return new
    name, *rest = path
    copied = ModuleType(old.__name__)
    vars(copied).update(vars(old))
    vars(copied)[name] = _swap_in_module(vars(old)[name], rest, new)
    return copied
