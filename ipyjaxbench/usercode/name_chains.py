"""Which names around it the code of a function loads, with the attributes and items of them."""

import dis
import functools
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any, NamedTuple

from ipyjaxbench.usercode.code_objects import names_in, texts_in
from ipyjaxbench.usercode.host_calls import host_arguments, traced_codes
from ipyjaxbench.usercode.local_imports import Imported, local_imports
from ipyjaxbench.usercode.names_as_text import codes_as_text
from ipyjaxbench.usercode.objects import is_exactly

_NO_KEY = object()
#: What loads a variable of a function around; in the body of a class in several ways.
_CLOSED_OVER = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")


class Chain(NamedTuple):
    """A name with the attributes and constant items that code takes of it."""

    scope: str  # "global", "closure", "argument", or "module" where the code imports it
    name: str
    steps: tuple[tuple[str, Any], ...] = ()  # ("attribute" or "item", key)
    on_host: bool = False  # whether it is what the host is to call


@functools.lru_cache(maxsize=1024)
def chains(code: CodeType) -> tuple[Chain, ...]:
    """Return the names that code, and functions in it, load from around, each with its steps.

    Those are left out that the host calls.
    """
    free, given = set(code.co_freevars), {*code.co_varnames[: _parameters(code)]}
    imported = local_imports(code)
    found = dict.fromkeys(_chains_of(code, free, given, imported))
    _, *within = traced_codes(code)
    for inner in within:
        passed = {name: each for name, each in imported.items() if name in inner.co_freevars}
        names = passed | local_imports(inner)
        around = set(inner.co_freevars)  # arguments that it closes over among them
        found |= dict.fromkeys(_chains_of(inner, free & around, given & around, names))
    if "globals" in names_in(code):  # it is asked for names that are written as text
        named = (text for text in texts_in(code) if text.isidentifier())
        found |= dict.fromkeys(Chain("global", name) for name in named)
    for each in codes_as_text(code):
        found |= dict.fromkeys(chain for chain in chains(each) if chain.scope == "global")
    return tuple(found)


def assigned_names(code: CodeType) -> tuple[str, ...]:
    """Return the names around it that code both loads and assigns, but for what the host calls."""
    loaded = {each.name for each in chains(code) if each.scope != "argument"}
    free = set(code.co_freevars)
    assigned = (
        each.argval
        for inner in traced_codes(code)
        for each in dis.get_instructions(inner)
        if each.opname == "STORE_GLOBAL" or (each.opname == "STORE_DEREF" and each.argval in free)
    )
    return tuple(name for name in dict.fromkeys(assigned) if name in loaded)


def _parameters(code: CodeType) -> int:
    return code.co_argcount + code.co_kwonlyargcount


def _chains_of(
    code: CodeType, free: set[str], given: set[str], imported: Mapping[str, Imported]
) -> Iterator[Chain]:
    chain: Chain | None = None
    key: Any = _NO_KEY
    offsets, _ = host_arguments(code)
    cells = {*code.co_cellvars, *code.co_freevars}
    for each in dis.get_instructions(code):
        if chain is not None and each.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            chain = chain._replace(steps=(*chain.steps, ("attribute", each.argval)))
            continue
        if chain is not None and key is _NO_KEY and _is_key(each):
            key = each.argval
            continue
        if chain is not None and key is not _NO_KEY and _is_subscript(each):
            chain, key = chain._replace(steps=(*chain.steps, ("item", key))), _NO_KEY
            continue
        if chain is not None:
            yield chain
        yield from _first_of_two(each, given)
        # From Python 3.13 on it is written so that a function made here gets the cell.
        is_handed_on = each.opname == "LOAD_FAST" and each.argval in cells
        chain, key = None if is_handed_on else _begin(each, free, given, imported), _NO_KEY
        if chain is not None and each.offset in offsets:
            chain = chain._replace(on_host=True)
    if chain is not None:
        yield chain


def _is_key(each: dis.Instruction) -> bool:
    return each.opname == "LOAD_CONST" and is_exactly(each.argval, str, int)


def _is_subscript(each: dis.Instruction) -> bool:
    """Whether it takes an item; from Python 3.14 on that is an operator."""
    return each.opname == "BINARY_SUBSCR" or (each.opname == "BINARY_OP" and each.argrepr == "[]")


def _begin(
    each: dis.Instruction, free: set[str], given: set[str], imported: Mapping[str, Imported]
) -> Chain | None:
    name = each.argval
    if type(name) is tuple and name:  # from Python 3.13 on of two names; an empty one is a constant
        name = name[-1]
    if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
        return Chain("global", name)
    is_closed_over = each.opname in _CLOSED_OVER
    if is_closed_over and name in free:
        return Chain("closure", name)
    if not is_closed_over and "LOAD_FAST" not in each.opname:
        return None
    if name in given:
        return Chain("argument", name)
    if name in imported:
        module, steps = imported[name]
        return Chain("module", module, tuple(("attribute", step) for step in steps))
    return None


def _first_of_two(each: dis.Instruction, given: set[str]) -> Iterator[Chain]:
    """Yield the first of two names that one instruction loads, as Python does from 3.13 on."""
    if each.opname.startswith("LOAD_FAST") and type(each.argval) is tuple:
        yield from (Chain("argument", name) for name in each.argval[:-1] if name in given)
