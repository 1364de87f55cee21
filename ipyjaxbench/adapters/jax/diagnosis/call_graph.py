"""What a call leads to: the functions that its function uses, as far as their code shows.

A function calls others by global names, by names that it closes over, by attributes of modules
and of objects, through `functools.partial`, methods, and what `jax.jit` or `jax.vmap` made.
"""

import functools
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import jax

from ipyjaxbench.adapters.jax.compilation import is_jitted
from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.adapters.shared.diagnosis.source_edit import MADE, closure_cells
from ipyjaxbench.usercode import (
    Call,
    ask,
    attributes,
    class_dict,
    is_of,
    is_users_class,
    is_users_file,
    is_users_function,
    is_users_module,
    module_of,
    mro_of,
    names_of_module,
    unwrap,
)

_MAX_THINGS = 2000  # things that are looked at
_MAX_ATTRIBUTES = 20  # attributes of what a library makes around the user's functions
_MAX_MODULES = 3  # modules within modules


@dataclass(frozen=True)
class Step:
    """How one thing leads to another.

    Attributes:
        to: the other thing.
        kind: "global", "cell", "method" or "held"; empty for what partials and methods wrap.
        path: under which name; behind the name of a module that of its attribute.
    """

    to: Any
    kind: str = ""
    path: tuple[str, ...] = ()


def functions(call: Call) -> Iterator[FunctionType]:
    """Yield the functions that a call leads to, the nearest first."""
    roots = (call.function, *call.args, *call.kwargs.values())
    return (thing for thing in walk(roots) if is_of(thing, FunctionType))


def find_function(call: Call, code: CodeType) -> FunctionType | None:
    """Return the function that holds some code, itself or in a function within it."""
    return next((f for f in functions(call) if code in codes(f.__code__)), None)


def walk(roots: Iterable[Any]) -> Iterator[Any]:
    """Yield each thing that some things lead to, and they themselves, the nearest first."""
    waiting = deque(roots)
    visited: set[int] = set()
    while waiting and len(visited) < _MAX_THINGS:
        thing = waiting.popleft()
        if id(thing) not in visited:
            visited.add(id(thing))
            yield thing
            waiting.extend(step.to for step in steps(thing))


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code, and that of the functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def python_function(function: Any) -> FunctionType | None:
    """Return the Python function that something callable is made of."""
    while is_of(function, functools.partial, MethodType):
        is_method = is_of(function, MethodType)
        function = function.__func__ if is_method else function.func
    inner = unwrap(function) if callable(function) else function
    return inner if type(inner) is FunctionType else None


def is_filtered(call: Call) -> bool:
    """Whether another library jitted what is called: its results may hold what is no data."""
    return _module_of_jit(call) in callee.WRAPPERS


def holds_numbers(call: Call) -> bool:
    """Whether what is called takes numbers as they are, as what Equinox jits does."""
    return is_filtered(call) and _module_of_jit(call).startswith("equinox.")


def _module_of_jit(call: Call) -> str:
    """Return where what is called is from; of a method of a tree, which takes that, its owner."""
    things: list[Any] = [call.function, *call.args[: call.labels[:1] == ("self",)]]
    modules = [module_of(type(callee.unbound(each)[0])) for each in things]
    return next((each for each in modules if each in callee.WRAPPERS), modules[0])


def is_of_jax(function: Any) -> bool:
    """Whether a function is JAX's own, and not one of the user's that JAX changed."""
    root = getattr(python_function(function), "__module__", None) or ""
    return root.partition(".")[0] == "jax"


def steps(thing: Any) -> Iterator[Step]:
    """Yield what a thing leads to at once."""
    if is_of(thing, functools.partial):
        yield Step(thing.func)
        yield from map(Step, (*thing.args, *thing.keywords.values()))
    elif is_of(thing, MethodType):
        yield Step(thing.__func__)
        yield Step(thing.__self__)
    elif is_of(thing, FunctionType):
        yield from _function_steps(thing)
    elif is_jitted(thing):
        yield Step(unwrap(thing))
    elif is_of(thing, type):
        yield from _class_steps(thing)
    elif not is_of(thing, ModuleType) and not ask(_is_array, thing):
        yield from _object_steps(thing)


def _is_array(value: object) -> bool:
    return isinstance(value, jax.Array)


def _function_steps(function: FunctionType) -> Iterator[Step]:
    """Yield what stands under the names of globals, and in the cells, that its code uses."""
    file = function.__code__.co_filename
    used = dict.fromkeys(name for code in codes(function.__code__) for name in code.co_names)
    if is_users_file(file) or file.startswith(MADE):
        for name in used:
            if (value := function.__globals__.get(name)) is not None:
                yield from _value_steps("global", (name,), value, [*used])
    for name, cell in closure_cells(function).items():
        try:
            value = cell.cell_contents
        except ValueError:  # nothing stands there yet
            continue
        yield from _value_steps("cell", (name,), value, [*used])


def _value_steps(kind: str, path: tuple[str, ...], value: Any, used: list[str]) -> Iterator[Step]:
    """Yield a value; of a module of the user's the functions that are used, as ``utils.relu``."""
    if not is_of(value, ModuleType):
        yield Step(value, kind, path)
    elif len(path) <= _MAX_MODULES and is_users_module(value):
        for name in used:
            inner: Any = names_of_module(value).get(name)
            if is_of(inner, ModuleType) or callable(inner):
                yield from _value_steps(kind, (*path, name), inner, used)


def _object_steps(thing: Any) -> Iterator[Step]:
    """Yield the methods of an object, and the objects that it is made of."""
    yield from _class_steps(type(thing))
    held = attributes(thing)
    if is_users_class(type(thing)) or len(held) <= _MAX_ATTRIBUTES:
        for name, value in held.items():
            if not (is_of(value, type) or ask(_is_array, value)):
                yield Step(value, "held", (name,))


def _class_steps(kind: type) -> Iterator[Step]:
    """Yield the user's methods of a class."""
    visited: set[str] = set()
    for base in mro_of(kind):
        for name, method in class_dict(base).items():
            wraps = is_of(method, staticmethod, classmethod)
            inner = method.__func__ if wraps else method
            inner = unwrap(inner) if callable(inner) else inner
            if is_users_function(inner) and name not in visited:
                yield Step(inner, "method", (name,))
            visited.add(name)
