"""Tables of hooks by number: of modules, optimizers and tensors, and of nodes of autograd.

A node keeps its hooks in C++, where nothing leads to them but the garbage collector. To search all
that there is takes tens of milliseconds, so it is done only where the tables that were met do not
account for all numbers.
"""

import gc
import operator
import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import compress, repeat
from types import FrameType
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import torch
from torch.utils.hooks import RemovableHandle

from ipyjaxbench.adapters.torch.hook_numbers import is_any_registered, next_hook
from ipyjaxbench.frameworks import CopyBudget
from ipyjaxbench.usercode import attributes, is_of

Table = OrderedDict[Any, Any]  # hooks by their numbers
_Known = WeakValueDictionary[int, Table]  # tables by identity

_OWNERS = (torch.nn.Module, torch.optim.Optimizer)
MET = (*_OWNERS, RemovableHandle)  # what has tables, or tells of what is in them
#: Modules with tables in their globals, of hooks for all modules, and for all optimizers.
_WITH_GLOBALS = ("torch.nn.modules.module", "torch.optim.optimizer")


class _Tables:
    """Those that are known, as long as something holds them."""

    of_objects: ClassVar[_Known] = WeakValueDictionary()  # of modules, optimizers, and global ones
    of_tensors: ClassVar[_Known] = WeakValueDictionary()  # which nodes may hold, too, and longer
    of_nodes: ClassVar[_Known] = WeakValueDictionary()
    gone: ClassVar[set[int]] = set()  # numbers of hooks that were removed, as far as they were met
    upto = 0  # hooks of smaller numbers are in one of these, or nowhere
    #: How many hooks there were before a call that others repeat, and after it where it is over.
    call: tuple[int, ...] = ()


class NodeHooks:
    """Stands for the hooks of nodes, and is looked at late: most tables have been met by then."""


def note_call(*, is_over: bool) -> None:
    """Remember how many hooks there are before a call that others will repeat, and after it."""
    begun = _Tables.call[:1] if is_over else ()
    _Tables.call = (*begun, next_hook())


def meet_object(value: Any, budget: CopyBudget) -> None:
    """Know the tables of an optimizer, of a module and those in it, or what became of a handle."""
    if is_of(value, RemovableHandle):
        table = value.hooks_dict_ref()
        _Tables.gone |= set() if table is not None and value.id in table else {value.id}
        return
    ahead = [value]
    while ahead:
        own = attributes(ahead.pop())
        _meet(own.values(), _Tables.of_objects)
        inner: Any = own.get("_modules")
        held = dict.values(inner) if is_of(inner, dict) else ()
        modules = (each for each in held if is_of(each, torch.nn.Module))
        ahead += (each for each in modules if budget.is_new(each, ("torch", "met", id(each))))


def meet_tensor(tensor: Any) -> None:
    """Know the tables of a tensor."""
    hooks = tensor._backward_hooks, tensor._post_accumulate_grad_hooks
    _meet(hooks, _Tables.of_tensors)


def hooks_since(first: int, *, is_known: bool = False) -> list[tuple[Table, int]]:
    """Return the hooks from a number on that are registered still, each with its table.

    Args:
        first: the number.
        is_known: whether none of them is anywhere else than in tables that were met.
    """
    found = _known_since(first)
    if not (is_known or _is_all(found, first)):
        _search(first)
        found = _known_since(first)
    if _Tables.upto >= first:
        _Tables.upto = next_hook()
        _Tables.gone.clear()
    return found


def registered_in_sight() -> int:
    """Return how many hooks the call registered that was made; 0 if any may be out of sight."""
    (first, *after), _Tables.call = _Tables.call or (0,), ()
    if not after:
        return 0
    found = _known_since(first)
    if _Tables.upto < next_hook() and not _is_all(found, first):
        return 0
    is_hidden = any(id(table) in _Tables.of_nodes for table, _ in found)
    return 0 if is_hidden else after[0] - first


def hooks_of_nodes() -> list[Table]:
    """Return the tables of nodes, and those of tensors, which nodes may have in common with them.

    None are looked for before a hook was registered.
    """
    if not is_any_registered():
        _Tables.upto = next_hook()
        return []
    if _Tables.upto != next_hook():
        hooks_since(_Tables.upto)
    return [*_Tables.of_nodes.values(), *_Tables.of_tensors.values()]


def _meet(values: Iterable[Any], known: _Known) -> None:
    for each in [*values]:
        if type(each) is OrderedDict and type(next(iter(each), None)) is int:
            known[id(each)] = each


def _is_all(found: list[tuple[Table, int]], first: int) -> bool:
    """Whether these are all hooks from a number on, but for removed ones."""
    gone = {number for number in _Tables.gone if number >= first}
    return len(gone.union(number for _, number in found)) >= next_hook() - first


def _known_since(first: int) -> list[tuple[Table, int]]:
    for name in _WITH_GLOBALS:
        _meet(vars(sys.modules.get(name, sys)).values(), _Tables.of_objects)
    known = _Tables.of_objects, _Tables.of_tensors, _Tables.of_nodes
    tables = {id(each): each for several in known for each in several.values()}
    return [(table, number) for table in tables.values() for number in _since(first, table)]


def _since(first: int, table: Table) -> list[int]:
    return [number for number in [*table] if type(number) is int and number >= first]


def _search(first: int) -> None:
    """Get to know all tables with hooks from a number on."""
    every = _Tables.of_objects, _Tables.of_tensors, _Tables.of_nodes
    known = {number for several in every for number in several}
    tables = [each for each in _all_tables() if id(each) not in known and _since(first, each)]
    for table, holders in _with_holders(tables):
        if None in holders:  # others of the kind are the user's
            continue
        is_of_tensor = any(each is _Tables.of_tensors for each in holders)
        kind = _Tables.of_tensors if is_of_tensor else _Tables.of_objects
        (kind if holders else _Tables.of_nodes)[id(table)] = table


def _all_tables() -> Iterator[Table]:
    """Yield dictionaries by number, such as hooks are kept in."""
    every = gc.get_objects()
    found = [*compress(every, map(operator.is_, map(type, every), repeat(OrderedDict)))]
    yield from (each for each in found if type(next(iter(each), None)) is int)


def _with_holders(tables: list[Table]) -> Iterator[tuple[Table, list[_Known | None]]]:
    """Yield each table with the kinds of those that hold it; None for one that is not PyTorch's.

    Args:
        tables: they; nothing else may hold them meanwhile.
    """
    held: dict[int, list[_Known | None]] = {id(each): [] for each in tables}
    given = (*tables,)  # on Python 3.13 what is given to the search is found by it
    for each in gc.get_referrers(*given) if tables else ():
        if each is not tables and each is not given and type(each) is not FrameType:
            for value, kind in _held_in(each):
                if id(value) in held:
                    held[id(value)].append(kind)
    yield from ((each, held[id(each)]) for each in tables)


def _held_in(owner: Any) -> Iterator[tuple[object, _Known | None]]:
    """Yield what something holds, and of which kind that is where it holds a table."""
    if type(owner) is dict:
        for name, value in owner.items():
            is_theirs = type(name) is str and name[:1] == "_" and "hook" in name
            yield value, _Tables.of_objects if is_theirs else None
        return
    kind = None
    if is_of(owner, torch.Tensor) or is_node(owner):
        kind = _Tables.of_tensors
    elif is_of(owner, *_OWNERS):
        kind = _Tables.of_objects
    yield from ((each, kind) for each in gc.get_referents(owner))


def is_node(value: object) -> bool:
    """Whether it is a node of autograd."""
    return issubclass(type(value), torch.autograd.graph.Node)
