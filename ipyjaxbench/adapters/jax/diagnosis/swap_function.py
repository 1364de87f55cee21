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

from ipyjaxbench.adapters.jax.diagnosis.call_graph import Step, steps, walked
from ipyjaxbench.adapters.shared.diagnosis.source_edit import closure_cells, function_with_code
from ipyjaxbench.usercode import Call, unwrap


def exchanged(call: Call, old: FunctionType, new: FunctionType) -> Call:
    """A call that uses another function wherever it used one.

    Raises:
        Exception: something on the way cannot be copied.
    """
    function = _Copies(call.function, old, new).of(call.function)
    inside = [index for index, arg in enumerate(call.args) if _leads(arg, old)]
    named = [name for name, value in call.kwargs.items() if _leads(value, old)]
    if not (inside or named):
        return replace(call, function=function)

    # An argument may be a tree of arrays: it is changed when they are in it.
    def changed(*args: Any, **kwargs: Any) -> Any:
        of = {index: _Copies(args[index], old, new).of(args[index]) for index in inside}
        of_names = {name: _Copies(kwargs[name], old, new).of(kwargs[name]) for name in named}
        return function(*(of.get(i, arg) for i, arg in enumerate(args)), **kwargs | of_names)

    return replace(call, function=functools.update_wrapper(changed, function, updated=()))


def _leads(thing: Any, old: FunctionType) -> bool:
    return any(each is old for each in walked([thing]))


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
        self._things = [*walked([root])]  # their ids are those of nothing else meanwhile
        to: defaultdict[int, list[int]] = defaultdict(list)
        for thing in self._things:
            for step in steps(thing):
                to[id(step.to)].append(id(thing))
        self._leading, waiting = {id(old)}, [id(old)]
        while waiting:
            further = [each for each in to[waiting.pop()] if each not in self._leading]
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
                given = map(self.of, thing.args)
                named = {name: self.of(value) for name, value in thing.keywords.items()}
                self._copies[key] = functools.partial(self.of(thing.func), *given, **named)
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
        changed = {step.name[0] for step in further if step.kind in ("cell", "module")}
        cells = closure_cells(function)
        cells |= {n: CellType(c.cell_contents) for n, c in cells.items() if n in changed}
        copied = function_with_code(function, function.__code__, dict(function.__globals__), cells)
        self._copies[key] = copied  # before what it leads to, which may lead back
        for step in further:
            new = self.of(step.to)
            match step.kind:
                case "cell":
                    cells[step.name[0]].cell_contents = new
                case "global":
                    copied.__globals__[step.name[0]] = new
                case "module":
                    (name, *path) = step.name
                    module = _module(cells[name].cell_contents if name in cells
                                     else copied.__globals__[name], path, new)  # fmt: skip
                    if name in cells:
                        cells[name].cell_contents = module
                    else:
                        copied.__globals__[name] = module

    def _copy_object(self, thing: Any, key: int) -> None:
        copied = self._copies[key] = copy.copy(thing)
        for step in self._further(thing):
            if step.kind == "held":
                object.__setattr__(copied, step.name[0], self.of(step.to))
        object.__setattr__(copied, "__class__", self._class(type(thing)))

    def _class(self, kind: Any) -> Any:
        """A class with other methods; the class itself where they are the same."""
        methods = {step.name[0]: step.to for step in self._further(kind)}
        if not methods:
            return kind
        new = {name: _like(inspect.getattr_static(kind, name), self.of(method))
               for name, method in methods.items()}  # fmt: skip
        return type(kind)(kind.__name__, (kind,), new)

    def _further(self, thing: Any) -> list[Step]:
        return [step for step in steps(thing) if id(step.to) in self._leading]


def _like(old: Any, new: Callable[..., Any]) -> Any:
    return type(old)(new) if isinstance(old, staticmethod | classmethod) else new


def _module(old: ModuleType, path: Sequence[str], new: Any) -> ModuleType:
    """A copy of a module, with something else where attributes lead."""
    (name, *rest) = path
    copied = ModuleType(old.__name__)
    vars(copied).update(vars(old))
    vars(copied)[name] = _module(vars(old)[name], rest, new) if rest else new
    return copied
