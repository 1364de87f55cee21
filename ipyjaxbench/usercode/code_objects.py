"""What functions and other callables are made of, and which code they had without a hook."""

import dis
import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

_Names = tuple[str, ...]
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_STORES = ("STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL")


@dataclass(frozen=True, eq=False)
class _Original:
    """A constant of code with a hook: the code without it."""

    code: CodeType


def original(code: CodeType) -> CodeType:
    """Return the code that the user wrote, of code that may have a hook in it."""
    originals = (each.code for each in code.co_consts if type(each) is _Original)
    return next(originals, code)


def fingerprint(code: CodeType | None) -> int:
    """Return what tells code apart: the same text gives the same, wherever it is, hooked or not."""
    if code is None:
        return 0
    plain = original(code)
    constants = tuple(
        fingerprint(each) if isinstance(each, CodeType) else repr(each) for each in plain.co_consts
    )
    names = plain.co_names, plain.co_varnames, plain.co_freevars
    return hash((plain.co_code, names, constants))


def with_originals(code: CodeType, plain: CodeType) -> CodeType:
    """Have code with a hook know what each function in it is without the hook."""
    known: dict[tuple[str, int], list[CodeType]] = {}
    for each in inner_codes(plain):
        known.setdefault((each.co_name, each.co_firstlineno), []).append(each)

    def whole(code: CodeType) -> CodeType:
        consts: list[object] = []
        for each in code.co_consts:
            if isinstance(each, CodeType):
                alike = known.get((each.co_name, each.co_firstlineno))
                each = mark_original(whole(each), alike.pop(0)) if alike else each  # noqa: PLW2901
            consts.append(each)
        return code.replace(co_consts=tuple(consts))

    return whole(code)


def mark_original(code: CodeType, plain: CodeType) -> CodeType:
    """Have code with a hook know what it is without."""
    return code.replace(co_consts=(*code.co_consts, _Original(plain)))


def with_names_of(code: CodeType, plain: CodeType) -> CodeType:
    """Have code, and all in it, say that it was defined where plain code was."""
    before, after = code.co_qualname, plain.co_qualname

    def named(code: CodeType) -> CodeType:
        consts = (named(each) if isinstance(each, CodeType) else each for each in code.co_consts)
        name = after + code.co_qualname.removeprefix(before)
        return code.replace(co_consts=tuple(consts), co_qualname=name)

    return named(code)


def inner_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield code of all functions that are defined in some code, in its order."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from inner_codes(each)


def named_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield each global and closed-over value that a function and those in it name, in order.

    Attributes called the same are none.
    """
    for name in globals_in(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    yield from closure_values(function)


def named_below(
    value: Any, plain: Callable[[Any], FunctionType | None]
) -> Iterator[tuple[str, Any]]:
    """Yield what a function names, and what the functions name that it uses, as `named_values`.

    Args:
        value: the function, as it is called.
        plain: gives the function whose code is followed; None for what is not.
    """
    seen: set[int] = set()
    ahead = deque([value])
    while ahead:
        function = plain(ahead.popleft())
        if function is not None and id(function) not in seen:
            seen.add(id(function))
            pairs = [*named_values(function)]
            yield from pairs
            ahead.extend(each for _, each in pairs)


def closure_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the names that a function closes over, and what they stand for."""
    names = original(function.__code__).co_freevars
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # the cell is empty
            yield name, cell.cell_contents


def captured_values(function: FunctionType, data: tuple[type, ...]) -> Iterator[tuple[str, Any]]:
    """Yield values around a function that are part of what is traced of it.

    Args:
        function: what it closes over counts, and the globals that its code names.
        data: the types of globals that count; modules and functions of others are left out.
    """
    yield from closure_values(function)
    for name in sorted(globals_in(function.__code__)):
        value = function.__globals__.get(name, function)
        if issubclass(type(value), data):  # an object may lie about its class
            yield name, value


@functools.cache
def globals_in(code: CodeType) -> tuple[str, ...]:
    """Return the globals that a function and those written in it load; attributes are none."""
    code = original(code)
    own = [each.argval for each in dis.get_instructions(code) if each.opname in _LOADS]
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return tuple(dict.fromkeys([*own, *(name for each in inner for name in globals_in(each))]))


@functools.lru_cache(maxsize=4096)
def names_in(code: CodeType) -> tuple[str, ...]:
    """Return the names that a function and those written in it use, attributes among them."""
    inner = [name for each in code.co_consts if type(each) is CodeType for name in names_in(each)]
    return tuple(dict.fromkeys([*code.co_names, *inner]))


@functools.lru_cache(maxsize=4096)
def texts_in(code: CodeType) -> tuple[str, ...]:
    """Return the texts that are written in a function and in those within it, in tuples too."""
    codes = (code, *inner_codes(code))
    return tuple(dict.fromkeys(text for each in codes for text in _texts(each.co_consts)))


def _texts(constants: Iterable[object]) -> Iterator[str]:
    for each in constants:
        if isinstance(each, str):
            yield each
        elif isinstance(each, tuple | frozenset):
            yield from _texts(each)


@functools.lru_cache(maxsize=4096)
def catches_errors(code: CodeType) -> bool:
    """Whether some code, or a function that is written in it, has an ``except`` of some kind."""
    inner = any(type(each) is CodeType and catches_errors(each) for each in code.co_consts)
    own = any(each.opname == "CHECK_EXC_MATCH" for each in dis.get_instructions(code))
    return inner or own or "suppress" in code.co_names


def parts_of_callable(value: Any) -> tuple[Any, ...] | None:
    """Return what a callable other than a plain function is made of; None for other values."""
    kind = type(value)
    if kind is MethodType:
        return value.__self__, value.__func__
    if kind is BuiltinFunctionType:
        return (value.__self__,)
    if issubclass(kind, functools.partial):
        return value.func, value.args, value.keywords
    if issubclass(kind, staticmethod | classmethod):
        return (value.__func__,)
    if issubclass(kind, property):
        return value.fget, value.fset, value.fdel
    if issubclass(kind, functools.cached_property):
        return (value.func,)
    return (value.__wrapped__,) if issubclass(kind, functools._lru_cache_wrapper) else None


def names_read_and_bound(*codes: CodeType) -> tuple[_Names, _Names, _Names]:
    """Return names read, bound, and read before they are bound, by the compiled code itself."""
    reads: dict[str, None] = {}
    binds: dict[str, None] = {}
    carried: dict[str, None] = {}
    for instruction in (each for code in codes for each in dis.get_instructions(code)):
        name = instruction.argval
        if instruction.opname in _LOADS:
            reads[name] = None
            if name not in binds:
                carried[name] = None
        elif instruction.opname in _STORES:
            binds[name] = None
        elif isinstance(name, CodeType):
            inner_reads, inner_binds = _names_inside(name)
            reads |= dict.fromkeys(inner_reads)
            binds |= dict.fromkeys(inner_binds)
            carried |= dict.fromkeys(n for n in inner_reads if n not in binds)
    return tuple(reads), tuple(binds), tuple(n for n in carried if n in binds)


def _names_inside(code: CodeType) -> tuple[list[str], list[str]]:
    """Return the globals that functions, classes and comprehensions inside code read and bind."""
    reads, binds = [], []
    # A class body reads some names by itself, and its own before the globals.
    of_class = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_NAME"}
    of_class |= {"__name__", "__module__", "__qualname__"}
    for instruction in dis.get_instructions(code):
        if instruction.opname in _LOADS and instruction.argval not in of_class:
            reads.append(instruction.argval)
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            binds.append(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner_reads, inner_binds = _names_inside(constant)
            reads += inner_reads
            binds += inner_binds
    return reads, binds
