"""Names of libraries as the user's code has them."""

import ast
import importlib
import re
import warnings
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis.ast_copy import copied

#: What may follow a name that is tried in another way than it is written: "jax.numpy.where!sides".
MARK = "!"
_USUAL = {"jnp": "jax.numpy", "np": "numpy", "jax": "jax"}
_IN_WORDS = re.compile(r"\b(jnp|np|jax)((?:\.\w+)+)")


class Spelling:
    """How a function's code says names of libraries.

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

    def of(self, dotted: str) -> str:
        """A full name, such as ``jax.numpy.where``, as the code would say it.

        Example:
            >>> import math as m
            >>> from types import FunctionType
            >>> def area(): return m.pi
            >>> Spelling(FunctionType(area.__code__, {"m": m})).of("math.sqrt")
            'm.sqrt'
        """
        plain = dotted.partition(MARK)[0]
        parts = plain.split(".")
        if len(parts) == 1:
            return plain
        for length in range(len(parts), 0, -1):
            name = self._name_of(value_of(".".join(parts[:length])))
            if name is not None:
                return ".".join([name, *parts[length:]])
        self.missing[parts[0]] = None
        return ".".join(parts)

    def words(self, text: str) -> str:
        """A sentence with usual names, such as ``jnp.where``, in those of the code."""
        before = dict(self.missing)
        told = _IN_WORDS.sub(lambda found: self.of(_USUAL[found[1]] + found[2]), text)
        self.missing = before
        return told

    def tree(self, nodes: Sequence[ast.stmt]) -> ast.Module:
        """Return statements with full names as the code would say them."""
        module = ast.Module([copied(node) for node in nodes], [])
        return ast.fix_missing_locations(_Spelled(self).visit(module))  # type: ignore[no-any-return]

    def code(self, nodes: Sequence[ast.stmt]) -> str:
        """Return the text of statements as they are to be written."""
        return ast.unparse(self.tree(nodes))

    def _name_of(self, value: Any) -> str | None:
        if value is None:
            return None
        found = (n for n, v in self._names.items() if v is value and n not in self._hidden)
        return min((n for n in found if not n.startswith("_")), key=len, default=None)


class _Spelled(ast.NodeTransformer):
    def __init__(self, spelling: Spelling) -> None:
        self._spelling = spelling

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not is_full(node.id):
            return node
        new = ast.parse(self._spelling.of(node.id), mode="eval").body
        return ast.copy_location(new, node)


def is_full(name: str) -> bool:
    """Whether a name is one of a library, and no name of Python's."""
    return "." in name or MARK in name


def value_of(dotted: str) -> Any:
    """What a full name stands for; None if for nothing."""
    dotted = dotted.partition(MARK)[0]
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = attribute_of(found, part)
        return found
    return None


def attribute_of(owner: Any, name: str) -> Any:
    """An attribute, None without one; a library that gives names up does not warn of a look."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(owner, name, None)


def library(dotted: str) -> ast.Name:
    """A node for a full name; it is spelled when it is told."""
    return ast.Name(dotted, ast.Load())


def call(dotted: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """A node for a call of a library's function."""
    return ast.Call(library(dotted), list(args), [ast.keyword(n, v) for n, v in keywords.items()])
