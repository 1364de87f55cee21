"""What the user types for a module that guards name: from the variable that holds it on."""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import attributes, is_of, path_to, users_names

_PART = re.compile(r"\._modules\['(\w+)'\]")
_STEP = re.compile(r"\.\w+|\[(?:'[^']*'|\d+)\]")
_ROOT = re.compile(r"[LG]\['(\w+)'\]")
_OF_WRAPPER = ("fn", "args", "kwargs", "self")  # names that tell the user nothing
_INSIDE = "_orig_mod"  # where what torch.compile makes of a module holds that


def typed(path: str, scope: Mapping[str, Any]) -> str:
    """Return a module's path as the user types it; from its class on where no name leads to it.

    Args:
        path: as guards name it.
        scope: the names of the call, as guards name them.
    """
    try:
        return _typed(path, scope)
    except CODE_ERRORS:  # the user's objects may raise anything
        return path


def _typed(path: str, scope: Mapping[str, Any]) -> str:
    root = _ROOT.match(path)
    if root is None:
        return _class_of(path, scope)
    spaces = users_names(sys._getframe(2), scope["G"])
    for start in _beginnings(path):
        if held := path_to(eval(start, {}, dict(scope)), spaces, _parts):
            return held + _spelled(path[len(start) :])
    if root[1] not in _OF_WRAPPER:
        return root[1] + _spelled(path[root.end() :])
    modules = (start for start in _beginnings(path) if _is_module(start, scope))
    first = next(modules, path)
    return _class_of(first, scope) + _spelled(path[len(first) :])


def _beginnings(path: str) -> Iterator[str]:
    """Yield a path's root, and what it leads to at each step; what stands in dictionaries alone."""
    for match in _STEP.finditer(path):
        start = path[: match.end()]
        if not start.endswith(("._modules", ".__dict__")):
            yield start


def _is_module(path: str, scope: Mapping[str, Any]) -> bool:
    return is_of(eval(path, {}, dict(scope)), torch.nn.Module)


def _class_of(path: str, scope: Mapping[str, Any]) -> str:
    return type(eval(path, {}, dict(scope))).__name__


def _spelled(steps: str) -> str:
    """Return steps as they are typed."""
    plain = steps.replace(f"._modules['{_INSIDE}']", "").replace(f".{_INSIDE}", "")
    return _PART.sub(lambda match: _step(match[1]), plain)


def _step(name: str) -> str:
    return f"[{name}]" if name.isdecimal() else f".{name}"


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """Return the modules in one, and what a compiled one is made of under its own name."""
    if not is_of(value, torch.nn.Module):
        return None
    held = attributes(value).get("_modules") or {}
    return [("" if name == _INSIDE else _step(name), part) for name, part in held.items()]
