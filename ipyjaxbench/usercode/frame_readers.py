"""What looks at the frame that calls it: a call of it is to stand as it is."""

import ast
from types import MethodType
from typing import Any, Protocol

from ipyjaxbench.usercode.call import called_name

#: They look at the frame that calls them.
_LEFT_ALONE = {
    "super", "locals", "globals", "vars", "dir", "eval", "exec", "breakpoint", "get_ipython",
    "print", "len", "range", "isinstance", "type", "int", "float", "str", "list", "tuple", "dict",
    "zip", "enumerate", "getattr", "hasattr",
}  # fmt: skip
#: So do these, and they are methods or functions of modules too.
_LOOK_AT_FRAMES = {
    "run_line_magic", "run_cell_magic", "system", "getoutput", "var_expand",
    "_getframe", "currentframe", "stack", "warn", "query", "eval",
}  # fmt: skip
#: So do these where they are functions of modules, as numexpr's, and no methods, as Keras's.
_LOOK_AT_FRAMES_IN_MODULES = {"evaluate"}


class _Hook(Protocol):
    def pick(self, site: Any, function: Any, /) -> Any: ...


class MethodsAlone:
    """Hands the methods of objects on to a hook, and leaves all other functions as they are."""

    def __init__(self, hook: _Hook) -> None:
        self._hook = hook

    def pick(self, site: Any, function: Any, /) -> Any:
        """What is to be called in place of a function."""
        return self._hook.pick(site, function) if type(function) is MethodType else function


def looks_at_frame(function: ast.expr) -> bool:
    """Whether what is called may look at the frame that calls it."""
    if isinstance(function, ast.Name):
        return function.id in _LEFT_ALONE | _LOOK_AT_FRAMES
    return isinstance(function, ast.Attribute) and function.attr in _LOOK_AT_FRAMES


def looks_unless_method(node: ast.expr) -> bool:
    """Whether a call may be of what looks at the frame that calls it, and of a method does not."""
    return called_name(node) in _LOOK_AT_FRAMES_IN_MODULES
