"""Evaluates expressions without running any code of the user's; some values stay unknown."""

import ast
import builtins
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.usercode import Namespace, Source, attribute, attributes, is_exactly, is_of

_NUMBERS = (bool, int, float, complex)
_PLAIN = (*_NUMBERS, str, bytes, type(None), type(...))
_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_SIGNS: Mapping[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
}  # fmt: skip
_UNKNOWN = object()
#: Attributes of arrays that tell what they are.
_TELLING = ("shape", "dtype", "ndim")
#: Descriptors that hand out what is there, or bind it.
_HARMLESS = (MemberDescriptorType, GetSetDescriptorType)


class UnknownError(Exception):
    """The value of an expression, `node`, is not known without running code."""

    def __init__(self, node: ast.expr) -> None:
        super().__init__(ast.unparse(node))
        self.node = node


@dataclass
class StaticValues:
    """Values of expressions of some code, in the session as it is now."""

    source: Source
    names: Namespace
    binds: Callable[[object], bool]  # as a class attribute, to an object, as a jitted method does
    is_array: Callable[[object], bool]  # whose shape can be read
    _bound: dict[str, object] = field(default_factory=dict)

    def bind(self, name: str, node: ast.expr | None = None) -> None:
        """Have a name stand for what an expression gives from now on, or for something unknown."""
        try:
            self._bound[name] = _UNKNOWN if node is None else self.evaluate(node)
        except UnknownError:
            self._bound[name] = _UNKNOWN

    def evaluate(self, node: ast.expr) -> Any:
        """Return the value of an expression.

        Raises:
            UnknownError: it would have to be run, or raises.
            NameError: a name in it is not defined.
        """
        try:
            return self._evaluate(node)
        except (UnknownError, NameError):
            raise
        except CODE_ERRORS:  # it would raise
            raise UnknownError(node) from None

    def _evaluate(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(node, self.evaluate(owner), name)
            case ast.Subscript(value=owner, slice=index):
                return self._item(node, self.evaluate(owner), index)
            case ast.Lambda(args=ast.arguments(defaults=[], kw_defaults=[])):  # made, not called
                return eval(self.source.compiled(ast.Expression(node)), self.names)
            case ast.Call(func=maker) if self._is_partial(maker):
                named: list[tuple[ast.expr | None, ast.expr]] = [
                    (ast.Constant(each.arg) if each.arg else None, each.value)
                    for each in node.keywords
                ]
                return self.evaluate(maker)(*self.items(node.args), **self.entries(named))
        return self._made(node)

    def _is_partial(self, node: ast.expr) -> bool:
        """Whether it is `functools.partial`, which calls nothing."""
        try:
            return self.evaluate(node) is partial
        except (UnknownError, NameError):
            return False

    def _made(self, node: ast.expr) -> Any:
        """Return what displays and operators of numbers give."""
        match node:
            case ast.Tuple(elts=items):
                return tuple(self.items(items))
            case ast.List(elts=items):
                return self.items(items)
            case ast.Dict(keys=keys, values=values):
                return self.entries(zip(keys, values, strict=True))
            case ast.UnaryOp(op=sign, operand=one) if type(sign) in _SIGNS:
                return _SIGNS[type(sign)](self._plain(one, _NUMBERS))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                numbers = self._plain(left, _NUMBERS), self._plain(right, _NUMBERS)
                return _OPERATORS[type(op)](*numbers)
        raise UnknownError(node)

    def items(self, nodes: Iterable[ast.expr]) -> list[Any]:
        """Return the values of expressions; those of what stands behind a star one by one."""
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                several = self.evaluate(node.value)
                if not is_exactly(several, list, tuple):
                    raise UnknownError(node.value)
                values += several
            else:
                values.append(self.evaluate(node))
        return values

    def entries(self, pairs: Iterable[tuple[ast.expr | None, ast.expr]]) -> dict[Any, Any]:
        """Return a dictionary; where there is no key, the value is another one."""
        entries: dict[Any, Any] = {}
        for key, node in pairs:
            value = self.evaluate(node)
            if key is not None:
                entries[self._plain(key, _PLAIN)] = value
            elif type(value) is dict:
                entries |= value
            else:
                raise UnknownError(node)
        return entries

    def _named(self, node: ast.expr, name: str) -> Any:
        for names in (self._bound, self.names, vars(builtins)):
            if name in names:
                return _known(node, names[name])
        raise NameError(f"name {name!r} is not defined")

    def _plain(self, node: ast.expr, kinds: tuple[type, ...]) -> Any:
        value = self.evaluate(node)
        if not is_exactly(value, *kinds):
            raise TypeError(f"{ast.unparse(node)} is none that Python alone computes with")
        return value

    def _item(self, node: ast.expr, owner: Any, index: ast.expr) -> Any:
        """Return an item of one of Python's own containers: others run code."""
        if not is_exactly(owner, dict, list, tuple):
            raise UnknownError(node)
        if isinstance(index, ast.Slice):
            bounds = (index.lower, index.upper, index.step)
            return owner[slice(*(each and self._plain(each, (int,)) for each in bounds))]
        return owner[self._plain(index, _PLAIN)]

    def _attribute(self, node: ast.expr, owner: Any, name: str) -> Any:
        if is_of(owner, ModuleType):
            return attributes(owner)[name]
        if name in _TELLING and self.is_array(owner):
            return getattr(owner, name)
        value = _known(node, attribute(owner, name, _UNKNOWN))
        if is_of(owner, type):
            return _known(node, self._bound_to(None, owner, value))
        if name in attributes(owner):
            return value
        return _known(node, self._bound_to(owner, type(owner), value))

    def _bound_to(self, owner: Any, kind: Any, value: Any) -> Any:
        """Return what a class holds, as its object or the class itself hands it out."""
        match value:
            case staticmethod():
                return value.__func__
            case classmethod():
                return MethodType(value.__func__, kind)
            case FunctionType():
                return value if owner is None else MethodType(value, owner)
        bind = attribute(type(value), "__get__")
        if bind is None:
            return value
        is_harmless = is_exactly(value, *_HARMLESS) or self.binds(value)
        return bind(value, owner, kind) if is_harmless else _UNKNOWN


def _known(node: ast.expr, value: Any) -> Any:
    if value is _UNKNOWN:
        raise UnknownError(node)
    return value
