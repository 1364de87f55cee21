"""Hooks that PyTorch calls: they are found wherever they are kept, also out of Python's sight.

A node of autograd keeps its hooks in C++, where nothing leads to them but the garbage collector.
"""

import gc
import operator
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import compress, repeat
from types import FrameType
from typing import Any
from weakref import ref

import torch
from torch.utils.hooks import RemovableHandle

from ipyjaxbench.adapters.torch.hook_numbers import is_any_registered, next_hook
from ipyjaxbench.frameworks import Setting, State
from ipyjaxbench.usercode import is_of

Table = OrderedDict[Any, Any]  # hooks by their numbers
#: Private, and of the versions from 2.6 on.
_OF_SAVING = (
    "_saved_tensors_hooks_is_enabled", "_top_saved_tensors_default_hooks",
    "_pop_saved_tensors_default_hooks", "_push_saved_tensors_default_hooks",
)  # fmt: skip
_WHILE_TRACING = True
_OF_MODES = "_len_torch_function_stack", "_len_torch_dispatch_stack"
_OWNERS = (torch.nn.Module, torch.Tensor, torch.optim.Optimizer)


class _Found:
    """What was found of nodes' hooks, and how many hooks there had been then."""

    next = -1
    tables: Sequence["ref[Table]"] = ()


class NewHooks(State):
    """Hooks that are registered from now on, with whatever: they are taken away again."""

    def __init__(self) -> None:
        super().__init__(None)
        self._searched = self._before  # the number of the next hook when all were looked for
        self._found: list[tuple[Table, int]] = []

    def _read(self) -> int:
        return next_hook()

    def changed(self) -> bool:
        """Whether any was registered that is there still."""
        if next_hook() != self._searched:
            self._found = [*self._added()]
        return bool(self._found)

    def restore(self) -> None:
        """Take them away, and what tells how each is called."""
        for table, number in self._found or self._added():
            table.pop(number, None)
        self._searched, self._found = next_hook(), []

    def _added(self) -> Iterator[tuple[Table, int]]:
        new = range(self._before, next_hook())
        tables = [t for t in _tables() if any(type(n) is int and n in new for n in [*t])]
        for table in _of_torch(tables):
            yield from ((table, n) for n in [*table] if type(n) is int and n in new)


def hooks_of_nodes() -> list[Table]:
    """Return the hooks of autograd nodes; none are looked for before one was registered."""
    if not is_any_registered():
        return []
    if _Found.next != next_hook():
        found = _of_torch([*_tables()], nodes_alone=True)
        _Found.next, _Found.tables = next_hook(), [*map(ref, found)]
    return [table for each in _Found.tables if (table := each()) is not None]


def new_hooks() -> Iterator[tuple[str, State]]:
    """Yield what takes away hooks that calls leave, and what they leave around all operations."""
    if hasattr(RemovableHandle, "next_id"):
        yield "hooks", NewHooks()
    if all(hasattr(torch._C._autograd, name) for name in _OF_SAVING):
        yield "hooks of saved tensors", Setting(_read_saving, _write_saving)
    if all(hasattr(torch._C, name) for name in _OF_MODES):
        yield "modes around operations", Setting(_read_modes, None)


def _tables() -> Iterator[Table]:
    """Yield dictionaries by number, such as hooks are kept in."""
    every = gc.get_objects()
    found = [*compress(every, map(operator.is_, map(type, every), repeat(OrderedDict)))]
    yield from (each for each in found if type(next(iter(each), None)) is int)


def _of_torch(tables: list[Table], *, nodes_alone: bool = False) -> list[Table]:
    """Return those that PyTorch made: others of the kind may be the user's.

    Args:
        tables: they; nothing else may hold them meanwhile.
        nodes_alone: leave out those that something in Python holds.
    """
    if not tables:
        return []
    held: dict[int, list[bool]] = {id(each): [] for each in tables}
    for each in gc.get_referrers(*tables):
        if each is not tables and type(each) is not FrameType:
            for value, is_theirs in _held_in(each):
                if id(value) in held:
                    held[id(value)].append(is_theirs)
    if nodes_alone:
        return [each for each in tables if not held[id(each)]]
    return [each for each in tables if all(held[id(each)])]


def _held_in(owner: Any) -> Iterator[tuple[object, bool]]:
    """Yield what something holds, and whether it does so as PyTorch does."""
    if type(owner) is dict:
        yield from ((v, type(n) is str and n[:1] == "_" and "hook" in n) for n, v in owner.items())
        return
    is_theirs = is_of(owner, *_OWNERS) or is_node(owner)
    yield from ((each, is_theirs) for each in gc.get_referents(owner))


def is_node(value: object) -> bool:
    """Whether it is a node of autograd."""
    return issubclass(type(value), torch.autograd.graph.Node)


def _read_modes() -> list[int]:
    return [getattr(torch._C, name)() for name in _OF_MODES]


def _read_saving() -> list[Any]:
    """Return the functions that pack and unpack what is saved, the innermost first."""
    return [function for pair in _exchanged_hooks(None) for function in pair]


def _write_saving(functions: list[Any]) -> None:
    _exchanged_hooks([*zip(functions[::2], functions[1::2], strict=True)])


def _exchanged_hooks(new: list[Any] | None) -> list[Any]:
    """Return the pairs of such functions, and put others in their place; None keeps them."""
    own: Any = torch._C._autograd
    found: list[Any] = []
    if not own._saved_tensors_hooks_is_enabled():
        return found
    while (top := own._top_saved_tensors_default_hooks(_WHILE_TRACING)) is not None:
        found.append(top)
        own._pop_saved_tensors_default_hooks()
    for pair in reversed(found if new is None else new):
        own._push_saved_tensors_default_hooks(*pair)
    return found
