"""Hooks of modules that a program was made without: dynamo does not look for them again.

Of each module that dynamo calls in a program it notes which of its dictionaries of hooks are empty,
as a guard that is left out in the end (`torch._dynamo.config.skip_nnmodule_hook_guards`). What that
says of a module is asked again here.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import torch

from ipyjaxbench.adapters.torch.hook_numbers import is_any_registered, next_hook
from ipyjaxbench.adapters.torch.retracing import guards
from ipyjaxbench.adapters.torch.retracing.callee import Entered, entries, own_entries
from ipyjaxbench.adapters.torch.retracing.global_hooks import keep_registered, lacking_global_hooks
from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.retracing import Change
from ipyjaxbench.usercode import is_of, name_of, token

_GUARD = "EMPTY_NN_MODULE_HOOKS_DICT"
_HOOKS = re.compile(r"(.+)\.(_(?:forward|backward)(?:_pre)?_hooks)")
_PART = re.compile(r"\._modules\['(\w+)'\]")
_ROOT = re.compile(r"[LG]\['(\w+)'\]")
_OF_WRAPPER = ("fn", "args", "kwargs")  # names in PyTorch's function around the user's
_SHOWN = 2  # modules that are named
_REST = "__resume_at"  # begins what dynamo calls the rest of a function
_ABOVE = 6  # frames of dynamo's above its hook


class _Called(NamedTuple):
    """Modules that a program calls.

    Attributes:
        paths: of each, as guards name it.
        have_hooks: whether each has hooks now that were not there, as an expression.
    """

    paths: tuple[str, ...]
    have_hooks: CodeType


#: By the token of the code that dynamo made.
_called: dict[int, _Called] = {}
#: What the last call was given that lacked none, and the number of the next hook, likewise.
_lacks_none: dict[int, tuple[int, ...]] = {}


def keep_called(made: object, frame: FrameType) -> None:
    """Remember which modules a program calls without hooks, from within dynamo's hook."""
    kinds: dict[str, list[str]] = {}
    for each in _empty_hooks(frame):
        if match := _HOOKS.fullmatch(each):
            kinds.setdefault(match[1], []).append(match[2])
    if kinds:
        # One expression: a model has hundreds of modules.
        asked = (f"bool((m := {path}).{' or m.'.join(some)})" for path, some in kinds.items())
        code = compile(f"[{', '.join(asked)}]", "<hooks>", "eval")
        _called[token(made)] = _Called(tuple(kinds), code)
        keep_registered(token(made))


def lacking_hooks(name: str, entered: Entered, parts: Sequence[str] = ()) -> tuple[Change, ...]:
    """Return which modules have hooks that the program of a cached call was made without.

    Args:
        name: of what was compiled.
        entered: the call.
        parts: modules of which programs that the call found for parts of it lack hooks.
    """
    return _told(name, entered, guards.found(entered), parts)


def lacking_in_latest(name: str, entered: Entered) -> tuple[Change, ...]:
    """Return the same of the program that ran last, where the arguments are not known."""
    return _told(name, entered, next(iter(own_entries(entered)), None))


def _told(
    name: str, entered: Entered, program: Any, parts: Sequence[str] = ()
) -> tuple[Change, ...]:
    made = token(program.code) if program is not None else 0
    of_all = lacking_global_hooks(name, made) if made in _called else ()
    named = [*_lacking_of(name, entered, program), *parts]
    if not named:
        return of_all
    named, others = named[:_SHOWN], len(named) - _SHOWN
    if others > 0:
        named = [*named, f"{others} other{'s' * (others > 1)}"]
    words = f"{', '.join(named[:-1])} and {named[-1]} have" if len(named) > 1 else f"{named[0]} has"
    return (Change("stale", new=f"{words} hooks that the program of {name} lacks"), *of_all)


def lacking_in_part(frame: FrameType) -> list[str]:
    """Return the same of what PyTorch compiles apart after a break, from within dynamo's hook.

    Args:
        frame: that calls the part: a module, or the rest of a function.
    """
    names, code = frame.f_locals, frame.f_code
    if code.co_name == "_call_impl" and isinstance(names.get("args"), tuple):
        module = names.get("self")
        entered = Entered.from_call(module, names["args"], names.get("kwargs") or {})
        if entered is None:
            return []
        return _lacking_of(name_of(type(module)), entered, guards.found(entered))
    rests = [name for name in code.co_names if name.startswith(_REST)]
    rest = frame.f_globals.get(rests[0]) if len(rests) == 1 else None
    if type(rest) is not FunctionType:
        return []
    programs = entries(rest.__code__)
    if len(programs) != 1:  # which of several it finds, the values on the stack decide
        return []
    name = name_of(type(names.get("self")))
    return _lacking(programs[0].code, name, dict(names), frame.f_globals)


def _lacking_of(name: str, entered: Entered, program: Any) -> list[str]:
    if program is None:
        return []
    return _lacking(program.code, name, dict(entered.names), entered.function.__globals__)


def _lacking(made: object, name: str, names: dict[str, Any], around: dict[str, Any]) -> list[str]:
    """Return the modules as the user types them.

    Args:
        made: the code that dynamo made.
        name: of what it was made of.
        names: the local variables.
        around: the global ones.
    """
    known, asked = token(made), (next_hook(), *map(id, names.values()))
    called = _called.get(known)
    if called is None or _lacks_none.get(known) == asked or _are_guarded():
        return []
    scope = {"L": names, "G": around}
    try:
        have_hooks = eval(called.have_hooks, {}, scope)
    except CODE_ERRORS:  # the user's objects may raise anything
        return []
    paths = [p for p, has_some in zip(called.paths, have_hooks, strict=True) if has_some]
    if not paths:
        _lacks_none[known] = asked
    return [_typed(path, name, scope) for path in paths]


def may_be_any() -> bool:
    """Whether any hook was registered; it costs nothing."""
    return bool(_called) and is_any_registered()


def _empty_hooks(frame: FrameType | None) -> Iterator[str]:
    """Yield the dictionaries that dynamo found empty, by the variable that it has in a frame."""
    for _ in range(_ABOVE):
        if frame is None:
            return
        found: Iterable[Any] | None = getattr(frame.f_locals.get("output"), "guards", None)
        if found is not None:
            for guard in found:
                if name_of(getattr(guard, "create_fn", None)) == _GUARD:
                    path = guard.name
                    yield path() if callable(path) else path
            return
        frame = frame.f_back


def _typed(path: str, name: str, scope: dict[str, Any]) -> str:
    """Return a module's path as the user types it; its class where the path is PyTorch's own."""
    root = _ROOT.match(path)
    value = eval(root[0], {}, scope) if root else None
    is_compiled = is_of(value, torch.nn.Module) and type(value).__name__ == name
    if root is None or (root[1] in _OF_WRAPPER and not is_compiled):
        return type(eval(path, {}, scope)).__name__
    rest = path[root.end() :].replace("._modules['_orig_mod']", "").replace("._orig_mod", "")
    rest = _PART.sub(lambda m: f"[{m[1]}]" if m[1].isdecimal() else f".{m[1]}", rest)
    return f"{name if is_compiled else root[1]}{rest}"


def _are_guarded() -> bool:
    """Whether the user has dynamo look for them."""
    return not getattr(sys.modules.get("torch._dynamo.config"), "skip_nnmodule_hook_guards", False)
