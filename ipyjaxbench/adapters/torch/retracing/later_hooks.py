"""Hooks of modules that were registered after a program was made: dynamo does not look for them.

Handles of hooks are numbered in the order of their registration, those of all modules together, and
a module keeps its hooks by these numbers: what had none then is told from that.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from ipyjaxbench.adapters.torch.retracing import guards
from ipyjaxbench.adapters.torch.retracing.callee import Entered
from ipyjaxbench.frameworks import find_reach, loaded
from ipyjaxbench.retracing import Change
from ipyjaxbench.usercode import attributes, is_of, token

_KINDS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_OWN = ("self", "fn")  # what a method, or PyTorch's function around a module, calls that
#: The number of the next hook when dynamo made some code, by the token of that.
_numbers: dict[int, int] = {}
#: The number of the next hook when some code was found to miss none, likewise.
_complete: dict[int, int] = {}


def keep_number(made: object) -> None:
    """Remember which hooks were there when dynamo made some code."""
    _numbers.setdefault(token(made), _next())


def may_be_any() -> bool:
    """Whether a hook was registered since dynamo made the first program; it costs nothing."""
    return bool(_numbers) and _next() > next(iter(_numbers.values()))


def later_hooks(name: str, entered: Entered) -> tuple[Change, ...]:
    """Return which parts of modules have hooks that the program of a cached call lacks.

    Args:
        name: of what was compiled.
        entered: the call.
    """
    program = guards.found(entered)
    made = token(program.code) if program is not None else 0
    number, now = _numbers.get(made), _next()
    if number is None or number == now or _complete.get(made) == now or _are_guarded():
        return ()
    # PyTorch calls those of a module around its `forward`, and what is compiled is within.
    outer = None if entered.is_around else entered.names.get("self")
    paths = [*_hooked_since(number, _modules(name, entered), outer)]
    if not paths:
        _complete[made] = now
    return tuple(
        Change("stale", path, new=f"got a hook after {name} was compiled") for path in paths
    )


def _hooked_since(number: int, modules: Mapping[str, Any], outer: Any) -> Iterator[str]:
    for name, module in modules.items():
        for path, part in torch.nn.Module.named_modules(module):
            hooks = (hook for kind in _KINDS for hook in attributes(part).get(kind) or ())
            if part is not outer and any(hook >= number for hook in hooks):
                yield f"{name}.{path}" if path else name


def _modules(name: str, entered: Entered) -> dict[str, Any]:
    """Return the modules that the code may call, by name, without those that are parts."""
    own = {name if each in _OWN else each: value for each, value in entered.names.items()}
    reach = find_reach([entered.function, *own.values()], loaded()[0])
    named = {id(value): each for each, value in {**reach.values, **own}.items()}
    modules = [each for each in reach.functions if is_of(each, torch.nn.Module)]
    parts = {id(p) for m in modules for p in torch.nn.Module.modules(m) if p is not m}
    whole = [each for each in modules if id(each) not in parts]
    return {named.get(id(each), type(each).__name__): each for each in whole}


def _are_guarded() -> bool:
    """Whether the user has dynamo look for them."""
    return not getattr(sys.modules.get("torch._dynamo.config"), "skip_nnmodule_hook_guards", False)


def _next() -> int:
    return int(getattr(RemovableHandle, "next_id", 0))
