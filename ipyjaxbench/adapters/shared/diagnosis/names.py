"""Names of libraries as the user's code has them."""

import ast
import importlib
import re
import warnings
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from ipyjaxbench.usercode import copy_tree

#: Begins what follows a name that is tried in another way than it is written, as `STAND_INS` says.
_MARK = ".__"
#: Functions that are tried under a library's name, and refuse more than the library's own.
STAND_INS: dict[str, Any] = {}
_USUAL = {"jnp": "jax.numpy", "np": "numpy", "jax": "jax"}
_IN_TEXT = re.compile(r"\b(jnp|np|jax)((?:\.\w+)+)")


class Spelling:
    """How a function's code names libraries.

    Args:
        function: the code.

    Attributes:
        missing: modules that have to be imported for what was spelled so far.
    """

    def __init__(self, function: FunctionType | None) -> None:
        self._names: Mapping[str, Any] = function.__globals__ if function else {}
        code = function.__code__ if function else None
        self._hidden = {*code.co_varnames, *code.co_cellvars} if code else set()
        self.missing: dict[str, None] = {}

    def spell(self, dotted: str) -> str:
        """Return a full name, such as ``jax.numpy.where``, as the code would write it.

        Example:
            >>> import math as m
            >>> from types import FunctionType
            >>> def area(): return m.pi
            >>> Spelling(FunctionType(area.__code__, {"m": m})).spell("math.sqrt")
            'm.sqrt'
        """
        plain = dotted.partition(_MARK)[0]
        parts = plain.split(".")
        if len(parts) == 1:
            return plain
        for length in range(len(parts), 0, -1):
            name = self._name_of(value_of(".".join(parts[:length])))
            if name is not None:
                return ".".join([name, *parts[length:]])
        self.missing[parts[0]] = None
        return plain

    def text(self, text: str) -> str:
        """Return a sentence with usual names, such as ``jnp.where``, in those of the code."""
        before = dict(self.missing)
        text = _IN_TEXT.sub(lambda usual: self.spell(_USUAL[usual[1]] + usual[2]), text)
        self.missing = before
        return text

    def tree(self, nodes: Sequence[ast.stmt]) -> ast.Module:
        """Return statements with full names as the code would write them."""
        module = ast.Module([copy_tree(node) for node in nodes], [])
        return ast.fix_missing_locations(_Spelled(self).visit(module))  # type: ignore[no-any-return]

    def _name_of(self, value: Any) -> str | None:
        if value is None:
            return None
        names = (n for n, v in self._names.items() if v is value and n not in self._hidden)
        return min((n for n in names if not n.startswith("_")), key=len, default=None)


class _Spelled(ast.NodeTransformer):
    def __init__(self, spelling: Spelling) -> None:
        self._spelling = spelling

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not is_full(node.id):
            return node
        return ast.copy_location(ast.parse(self._spelling.spell(node.id), mode="eval").body, node)


def is_full(name: str) -> bool:
    """Whether a name is one of a library, and no name of Python's."""
    return "." in name


def value_of(dotted: str) -> Any:
    """Return what a full name stands for; None if for nothing."""
    parts = dotted.partition(_MARK)[0].split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            value = attribute_of(value, part)
        return value
    return None


def attribute_of(owner: Any, name: str) -> Any:
    """Return an attribute, None without one; a name that the library gives up warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(owner, name, None)
