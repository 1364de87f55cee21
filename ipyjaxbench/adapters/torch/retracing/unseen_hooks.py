"""Hooks that a program may have or lack: nobody saw it made, as before this package was loaded.

What its guards are about is all that is known of the modules that it calls. Where there were hooks
that run after a forward pass, they ask of each by its number whether it is always called.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from ipyjaxbench.adapters.torch.retracing import global_hooks
from ipyjaxbench.adapters.torch.retracing.called_modules import KINDS
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import attributes, is_of

_MOST_PARTS = 20_000  # conditions of one program; of larger ones nothing is known
#: PyTorch's module of modules, as guards name it.
_GLOBAL = "G['__import_torch_dot_nn_dot_modules_dot_module']."
_PATH = re.compile(r"[LG]\['\w+'\](?:\.\w+|\[(?:'[^']*'|\d+)\])*")
_STEP = re.compile(r"\.\w+|\[(?:'[^']*'|\d+)\]")


def hooked_unseen(program: Any, scope: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return what has hooks of which the program may know nothing.

    Args:
        program: dynamo's.
        scope: the names of a call, as guards name them.

    Returns:
        The paths of modules, and the kinds of hooks of all modules.
    """
    parts = getattr(program.guard_manager, "code_parts", None) or ()
    if len(parts) > _MOST_PARTS:
        return [], []
    text = "\n".join(parts)
    modules = dict(_modules_in(text, scope))
    paths = [path for path, module in modules.items() if _may_lack(path, module, text)]
    kinds = [
        kind
        for kind in global_hooks.registered()
        if modules
        and _may_lack_any(
            global_hooks.held(kind), f"{_GLOBAL}{global_hooks.REGISTERS[kind]}_", text
        )
    ]
    return paths, kinds


def _modules_in(text: str, scope: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the modules that guards are about, each once, by the shortest of its paths."""
    known: set[str] = set()
    seen: set[int] = set()
    for whole in dict.fromkeys(_PATH.findall(text)):
        for path in _beginnings(whole):
            if path in known:
                continue
            known.add(path)
            try:
                value = eval(path, {}, dict(scope))
            except CODE_ERRORS:  # the user's objects may raise anything
                break
            for each, module in _with_parts(path, value, text):
                if id(module) not in seen:
                    seen.add(id(module))
                    yield each, module


def _with_parts(path: str, value: Any, text: str) -> Iterator[tuple[str, Any]]:
    """Yield a module, and all in it where no guard is about these, as in a `Sequential`."""
    if not is_of(value, torch.nn.Module):
        return
    yield path, value
    if f"{path}._modules[" not in text:
        for name, part in (attributes(value).get("_modules") or {}).items():
            yield from _with_parts(f"{path}._modules['{name}']", part, text)


def _beginnings(path: str) -> Sequence[str]:
    ends = [match.end() for match in _STEP.finditer(path)]
    return [path[:end] for end in ends]


def _may_lack(path: str, module: Any, text: str) -> bool:
    own = attributes(module)
    return any(_may_lack_any(own.get(kind) or (), f"{path}.{kind}_", text) for kind in KINDS)


def _may_lack_any(hooks: Iterable[int], path: str, text: str) -> bool:
    """Whether guards do not ask of each of some hooks, in the dictionary beside its own."""
    return not all(f"___dict_contains({number}, {path}" in text for number in hooks)
