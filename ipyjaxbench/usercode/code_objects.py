"""Code of functions: what tells it apart, and which it was before a hook was put into it."""

import gc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any


@dataclass(frozen=True, eq=False)
class _Original:
    """A constant of code with a hook: the code without it."""

    code: CodeType


def original(code: CodeType) -> CodeType:
    """The code that the user wrote, of code that may have a hook in it."""
    found = (each.code for each in code.co_consts if type(each) is _Original)
    return next(found, code)


def fingerprint(code: CodeType | None) -> int:
    """Tells code apart; the same text gives the same one, wherever it stands, hooked or not."""
    if code is None:
        return 0
    plain = original(code)
    constants = tuple(
        fingerprint(each) if isinstance(each, CodeType) else repr(each) for each in plain.co_consts
    )
    names = plain.co_names, plain.co_varnames, plain.co_freevars
    return hash((plain.co_code, names, constants))


def with_originals(code: CodeType, plain: CodeType) -> CodeType:
    """Code with a hook, in which that of each function knows what it is without the hook.

    Args:
        code: with the hook.
        plain: the same without it.
    """
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
    """Code with a hook that knows what it is without."""
    return code.replace(co_consts=(*code.co_consts, _Original(plain)))


def inner_codes(code: CodeType) -> Iterator[CodeType]:
    """Code of all functions that are defined in some code, in its order."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from inner_codes(each)


def remove_hooks(codes: Iterable[CodeType]) -> None:
    """Give functions that were defined by code with a hook the code that they have without."""
    hooked = [each for code in codes for each in inner_codes(code) if original(each) is not each]
    for function in gc.get_referrers(*hooked) if hooked else ():
        if type(function) is FunctionType:
            function.__code__ = original(function.__code__)


def closure_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the closed-over values of a function, by name; empty cells are left out."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # nothing is there yet
            continue


def captured_values(function: FunctionType, data: tuple[type, ...]) -> Iterator[tuple[str, Any]]:
    """Values that a function finds around itself, and that are part of what is traced of it.

    Args:
        function: what it closes over counts, and the globals that its code names.
        data: the types of globals that count; modules and functions of others are left out.
    """
    yield from closure_values(function)
    code = original(function.__code__)
    for name in sorted({name for each in (code, *inner_codes(code)) for name in each.co_names}):
        value = function.__globals__.get(name, function)
        if issubclass(type(value), data):  # an object may lie about its class
            yield name, value
