"""Which modules a program calls without hooks, as dynamo notes it while it makes the program.

That is a guard that it leaves out in the end (`torch._dynamo.config.skip_nnmodule_hook_guards`).
"""

import re
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any, NamedTuple

from ipyjaxbench.adapters.torch.retracing.global_hooks import keep_registered
from ipyjaxbench.usercode import name_of, token

#: PyTorch's dictionaries of hooks that a module has (private).
KINDS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_GUARD = "EMPTY_NN_MODULE_HOOKS_DICT"
_HOOKS = re.compile(rf"(.+)\.({'|'.join(KINDS)})")
_ABOVE = 6  # frames of dynamo's above its hook


class Called(NamedTuple):
    """Modules that a program calls.

    Attributes:
        paths: of each, as guards name it.
        have_hooks: whether each has hooks now that were not there, as an expression.
    """

    paths: tuple[str, ...]
    have_hooks: CodeType


_NONE = Called((), compile("[]", "<hooks>", "eval"))
#: By the token of the code that dynamo made.
_called: dict[int, Called] = {}


def keep_called(made: object, frame: FrameType) -> None:
    """Remember which modules a program calls without hooks, from within dynamo's hook."""
    empty = _empty_hooks(frame)
    if empty is None:
        return
    kinds: dict[str, list[str]] = {}
    for each in empty:
        if match := _HOOKS.fullmatch(each):
            kinds.setdefault(match[1], []).append(match[2])
    known = token(made)
    _called[known] = _NONE
    if kinds:
        # One expression: a model has hundreds of modules.
        asked = (f"bool((m := {path}).{' or m.'.join(some)})" for path, some in kinds.items())
        code = compile(f"[{', '.join(asked)}]", "<hooks>", "eval")
        _called[known] = Called(tuple(kinds), code)
        keep_registered(known)


def called_by(made: int) -> Called | None:
    """Return what a program calls, by the token of its code; None where nobody saw it made."""
    return _called.get(made)


def _empty_hooks(frame: FrameType | None) -> list[str] | None:
    """Return the dictionaries that dynamo found empty, by the variable that it has in a frame."""
    for _ in range(_ABOVE):
        if frame is None:
            return None
        found: Iterable[Any] | None = getattr(frame.f_locals.get("output"), "guards", None)
        if found is not None:
            paths = (
                each.name for each in found if name_of(getattr(each, "create_fn", None)) == _GUARD
            )
            return [path() if callable(path) else path for path in paths]
        frame = frame.f_back
    return None
