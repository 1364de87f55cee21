"""Rules that rewrite code which asks for a tensor's value."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis.choice import Choice
from ipyjaxbench.adapters.shared.diagnosis.names import call, library
from ipyjaxbench.adapters.shared.diagnosis.rule_parts import exchange, exchange_everywhere
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site
from ipyjaxbench.usercode import is_of, name_of

_STAYS = "stays a tensor"
_KINDS = {"float": "float", "int": "long", "bool": "bool"}
#: What changes nothing in each reduction; the largest and the smallest need a number of any type.
_NEUTRAL: dict[str, int | bool] = {"sum": 0, "prod": 1, "any": False, "all": True}
_CHOICE = Choice("torch.where", lambda test: test)


def tensor_for_number(site: Site) -> Iterator[Edit]:
    """``x.item()`` and ``float(x)`` ask for a value that the tensor can stand for."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Attribute(value=x, attr="item"), args=[]):
                return x
            case ast.Call(func=ast.Name(id="float" | "int" | "bool" as kind), args=[x]):
                return _method(x, _KINDS[kind])
        return None

    yield from exchange(site, change, _STAYS)


def where_for_number(site: Site) -> Iterator[Edit]:
    """``if x.item() > 0``: the tensor stands for the number, and `torch.where` for the ``if``."""
    for number in tensor_for_number(site):
        inner = Site(site.edited(number), site.trail, site.function)
        for rule in CHOICES:
            for edit in rule(inner):
                yield replace(edit, changes=f"{number.changes}, {edit.changes}")


def where_in_reduction(site: Site) -> Iterator[Edit]:
    """``x[mask]`` has a shape that depends on values; a reduction can leave numbers out."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript(value=x, slice=mask), attr=name),
                args=[], keywords=[],
            ) if _is_mask_of(mask, x):  # fmt: skip
                if name == "mean":
                    total = _method(call("torch.where", mask, x, ast.Constant(0)), "sum")
                    return ast.BinOp(total, ast.Div(), _method(mask, "sum"))
                if name in _NEUTRAL:
                    neutral = ast.Constant(_NEUTRAL[name])
                    return _method(call("torch.where", mask, x, neutral), name)
        return None

    yield from exchange(site, change, "leaves out what the mask does")


def zeros_for_mask(site: Site) -> Iterator[Edit]:
    """``x[mask]`` as a tensor of the same shape."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Subscript(value=x, slice=mask, ctx=ast.Load()) if _is_mask_of(mask, x):
                return call("torch.where", mask, x, ast.Constant(0))
        return None

    changes = "keeps the shape, with 0 where the mask is False"
    yield from exchange(site, change, changes, same=False)


def torch_for_numpy(site: Site) -> Iterator[Edit]:
    """The same functions of PyTorch, on all lines."""

    def change(node: ast.expr) -> ast.expr | None:
        match node:
            case ast.Call(func=ast.Attribute(value=x, attr="numpy"), args=[]):
                return _before_leaving(x)
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Name(id="torch"), attr="from_numpy" | "tensor" | "as_tensor"
                ),
                args=[x],
            ):
                return x
            case ast.Attribute(value=ast.Name() as owner, attr=name):
                module: Any = site.value(owner)
                if is_of(module, ModuleType) and name_of(module) == "numpy":
                    return library(f"torch.{name}")
        return None

    yield from exchange_everywhere(site, change, "PyTorch computes it")


CHOICES = (_CHOICE.in_expressions, _CHOICE.in_returns, _CHOICE.in_assignments)
#: Rules for the failing statement, and for the whole function.
RULES = (*CHOICES, tensor_for_number, where_for_number, where_in_reduction, zeros_for_mask)
RULES_OF_FUNCTIONS = (torch_for_numpy,)


def _before_leaving(x: ast.expr) -> ast.expr:
    """``x`` of ``x.detach().cpu()``."""
    match x:
        case ast.Call(func=ast.Attribute(value=inner, attr="detach" | "cpu"), args=[]):
            return _before_leaving(inner)
    return x


def _is_mask_of(mask: ast.expr, x: ast.expr) -> bool:
    """Whether a mask is made of the tensor itself, and so has its shape."""
    text = ast.unparse(x)
    match mask:
        case ast.Compare(left=left, comparators=[right]):
            sides = {ast.unparse(left): right, ast.unparse(right): left}
            return text in sides and isinstance(sides[text], ast.Constant)
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            return _is_mask_of(inner, x)
        case ast.Call(args=[argument]):
            return ast.unparse(argument) == text
    return False


def _method(x: ast.expr, name: str) -> ast.expr:
    return ast.Call(ast.Attribute(x, name, ast.Load()), [], [])
