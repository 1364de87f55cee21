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

from ipyjaxbench.adapters.jax.jit import is_jitted
from ipyjaxbench.adapters.jax.retracing import callee
from ipyjaxbench.adapters.shared.diagnosis.source_edit import MADE
from ipyjaxbench.usercode import (
    Call,
    ask,
    attribute,
    attributes,
    class_dict,
    is_of,
    is_users_class,
    is_users_file,
    module_of,
    mro_of,
    unwrap,
)

_MOST_THINGS = 2000  # things that are looked at
_MOST_ATTRIBUTES = 20  # attributes of what a library makes around the user's functions


@dataclass(frozen=True)
class Step:
    """How one thing leads to another.

    Attributes:
        kind: "global", "module", "cell", "inner", "given", "owner", "method" or "held".
        name: under which name; for a module its name and those of attributes.
        to: the other thing.
    """

    kind: str
    name: tuple[str, ...]
    to: Any


def functions(call: Call) -> Iterator[FunctionType]:
    """The functions that a call leads to, the nearest first."""
    roots = (call.function, *call.args, *call.kwargs.values())
    for thing in walked(roots):
        if is_of(thing, FunctionType):
            yield thing


def find(call: Call, code: CodeType) -> FunctionType | None:
    """The function that holds some code, itself or in a function within it."""
    return next((f for f in functions(call) if code in codes(f.__code__)), None)


def walked(roots: Iterable[Any]) -> Iterator[Any]:
    """Each thing that some things lead to, and they themselves, the nearest first."""
    waiting = deque(roots)
    visited: set[int] = set()
    while waiting and len(visited) < _MOST_THINGS:
        thing = waiting.popleft()
        if id(thing) not in visited:
            visited.add(id(thing))
            yield thing
            waiting.extend(step.to for step in steps(thing))


def codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def plain(function: Any) -> FunctionType | None:
    """The Python function that something callable is made of."""
    while is_of(function, functools.partial, MethodType):
        is_method = is_of(function, MethodType)
        function = function.__func__ if is_method else function.func
    found = unwrap(function) if callable(function) else function
    return found if type(found) is FunctionType else None


def is_filtered(call: Call) -> bool:
    """Whether another library jitted what is called: its results may hold what is no data."""
    thing: Any = call.args[0] if call.labels[:1] == ("self",) else call.function
    if callee.is_method(type(thing)):
        thing = thing.__func__
    while callee.is_partial(type(thing)):
        thing = thing.func
    return module_of(type(thing)) in callee.WRAPPERS


def is_of_jax(function: Any) -> bool:
    """Whether a function is JAX's own, and not one of the user's that JAX changed."""
    root = getattr(plain(function), "__module__", None) or ""
    return root.partition(".")[0] == "jax"


def steps(thing: Any) -> Iterator[Step]:
    """What a thing leads to at once."""
    if is_of(thing, functools.partial):
        yield Step("inner", (), thing.func)
        given = (*thing.args, *thing.keywords.values())
        yield from (Step("given", (), each) for each in given if _has_attributes(each))
    elif is_of(thing, MethodType):
        yield Step("inner", (), thing.__func__)
        yield Step("owner", (), thing.__self__)
    elif is_of(thing, FunctionType):
        yield from _of_names(thing)
        yield from _of_cells(thing)
    elif is_jitted(thing):
        yield Step("inner", (), unwrap(thing))
    elif is_of(thing, type):
        yield from _of_class(thing)
    elif not is_of(thing, ModuleType) and not ask(_is_array, thing):
        yield from _of_object(thing)


def _is_array(value: object) -> bool:
    return isinstance(value, jax.Array)


def _has_attributes(value: object) -> bool:
    return attribute(type(value), "__dict__") is not None


def _of_names(function: FunctionType) -> Iterator[Step]:
    file = function.__code__.co_filename
    if not (is_users_file(file) or file.startswith(MADE)):
        return
    used = _used(function)
    for name in used:
        value: Any = function.__globals__.get(name)
        if is_of(value, ModuleType):
            yield from _of_module((name,), value, [*used])
        elif value is not None:
            yield Step("global", (name,), value)


def _used(function: FunctionType) -> dict[str, None]:
    """Names of globals and of attributes in a function's code."""
    return dict.fromkeys(name for code in codes(function.__code__) for name in code.co_names)


def _of_module(path: tuple[str, ...], module: ModuleType, used: list[str]) -> Iterator[Step]:
    """The functions of a module of the user's that are used, as ``utils.relu``."""
    if not is_users_file(getattr(module, "__file__", None) or "<frozen"):
        return
    for name in used:
        value: Any = vars(module).get(name)
        if is_of(value, ModuleType) and len(path) < 3:
            yield from _of_module((*path, name), value, used)
        elif callable(value):
            yield Step("module", (*path, name), value)


def _of_cells(function: FunctionType) -> Iterator[Step]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            value: Any = cell.cell_contents
        except ValueError:  # nothing stands there yet
            continue
        if is_of(value, ModuleType):
            yield from _of_module((name,), value, [*_used(function)])
        else:
            yield Step("cell", (name,), value)


def _of_object(thing: Any) -> Iterator[Step]:
    """The methods of an object, and the objects that it is made of."""
    yield from _of_class(type(thing))
    held = attributes(thing)
    if is_users_class(type(thing)) or len(held) <= _MOST_ATTRIBUTES:
        parts = ((n, v) for n, v in held.items() if not is_of(v, type))
        parts = ((n, v) for n, v in parts if not ask(_is_array, v))
        yield from (Step("held", (n,), v) for n, v in parts if _has_attributes(v))


def _of_class(kind: type) -> Iterator[Step]:
    """The user's methods of a class."""
    visited: set[str] = set()
    for each in mro_of(kind):
        for name, method in class_dict(each).items():
            wraps = is_of(method, staticmethod, classmethod)
            inner = method.__func__ if wraps else method
            inner = unwrap(inner) if callable(inner) else inner
            is_mine = type(inner) is FunctionType and is_users_file(inner.__code__.co_filename)
            if is_mine and name not in visited:
                yield Step("method", (name,), inner)
            visited.add(name)
