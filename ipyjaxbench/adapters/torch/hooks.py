"""Hooks that PyTorch calls: those that calls leave are taken away again, wherever they are kept."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from ipyjaxbench.adapters.torch.hook_numbers import next_hook
from ipyjaxbench.adapters.torch.hook_tables import Table, hooks_since, registered_in_sight
from ipyjaxbench.frameworks import Setting, State

#: Private, and of the versions from 2.6 on.
_OF_SAVING = (
    "_saved_tensors_hooks_is_enabled", "_top_saved_tensors_default_hooks",
    "_pop_saved_tensors_default_hooks", "_push_saved_tensors_default_hooks",
)  # fmt: skip
_WHILE_TRACING = True
_OF_MODES = "_len_torch_function_stack", "_len_torch_dispatch_stack"


class NewHooks(State):
    """Hooks that are registered from now on, with whatever: they are taken away again."""

    goes_first = True  # what objects hold accounts for them, until that is put back

    def __init__(self) -> None:
        super().__init__(None)
        self._looked = self._before  # the number of the next hook when it was looked for them
        self._found: list[tuple[Table, int]] = []
        #: How many each call registers, where all are met that the first one registered.
        self._in_sight = registered_in_sight()

    def _read(self) -> int:
        return next_hook()

    def again(self) -> "NewHooks":
        """Return those from this moment on."""
        return NewHooks()

    def changed(self) -> bool:
        """Whether any was registered that is there still."""
        if next_hook() != self._looked:
            new, each = next_hook() - self._before, self._in_sight
            is_known = each > 0 and new % each == 0
            self._found = hooks_since(self._before, is_known=is_known)
            self._looked = next_hook()
        return bool(self._found)

    def restore(self) -> None:
        """Take them away, and what tells how each is called."""
        self.changed()
        for table, number in self._found:
            table.pop(number, None)
        self._found = []


def new_hooks() -> Iterator[tuple[str, State]]:
    """Yield what takes away hooks that calls leave, and what they leave around all operations."""
    if hasattr(RemovableHandle, "next_id"):
        yield "hooks", NewHooks()
    if all(hasattr(torch._C._autograd, name) for name in _OF_SAVING):
        yield "hooks of saved tensors", Setting(_read_saving, _write_saving)
    if all(hasattr(torch._C, name) for name in _OF_MODES):
        yield "modes around operations", Setting(_read_modes, None)


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
