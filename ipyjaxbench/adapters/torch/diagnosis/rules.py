"""Rules that rewrite code which asks for a tensor's value."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis.choice import Choice
from ipyjaxbench.adapters.shared.diagnosis.patterns import Holes, exchange_everywhere, pattern_rule
from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Site
from ipyjaxbench.adapters.shared.diagnosis.syntax import name
from ipyjaxbench.usercode import is_of, name_of

#: What changes nothing in each reduction; the largest and the smallest need a number of any type.
_NEUTRAL = {"sum": "0", "prod": "1", "any": "False", "all": "True"}
_CHOICES = Choice("torch.where", lambda test: test).rules


def _has_mask(_: Site, holes: Holes) -> bool:
    return _is_mask_of(holes["M"], holes["X"])


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


#: These ask for a value that the tensor can stand for.
_tensor_for_number = pattern_rule(
    {"X.item()": "X", "float(X)": "X.float()", "int(X)": "X.long()", "bool(X)": "X.bool()"},
    "stays a tensor",
)


def _where_for_number(site: Site) -> Iterator[Edit]:
    """``if x.item() > 0``: the tensor stands for the number, and `torch.where` for the ``if``."""
    for number in _tensor_for_number(site):
        inner = Site(site.edited(number), site.trail, site.function)
        for rule in _CHOICES:
            for edit in rule(inner):
                yield replace(edit, changes=f"{number.changes}, {edit.changes}")


@exchange_everywhere("computed by PyTorch instead of NumPy")
def _torch_for_numpy(site: Site, node: ast.expr) -> ast.expr | None:
    """The same functions of PyTorch, on all lines."""
    match node:
        case ast.Call(func=ast.Attribute(value=x, attr="numpy"), args=[]):
            return _strip_detach(x)
        case ast.Call(
            func=ast.Attribute(value=ast.Name("torch"), attr="from_numpy" | "tensor" | "as_tensor"),
            args=[x],
        ):
            return x
        case ast.Attribute(value=ast.Name() as owner, attr=function):
            module: Any = site.value(owner)
            if is_of(module, ModuleType) and name_of(module) == "numpy":
                return name(f"torch.{function}")
    return None


def _strip_detach(x: ast.expr) -> ast.expr:
    """``x`` of ``x.detach().cpu()``."""
    match x:
        case ast.Call(func=ast.Attribute(value=inner, attr="detach" | "cpu"), args=[]):
            return _strip_detach(inner)
    return x


#: Rules for the failing statement, and for the whole function.
RULES = (
    *_CHOICES,
    _tensor_for_number,
    _where_for_number,
    # A mask's shape depends on values; a reduction can leave numbers out.
    pattern_rule(
        {
            "X[M].mean()": "torch.where(M, X, 0).sum() / M.sum()",
            **{f"X[M].{reduce}()": f"torch.where(M, X, {neutral}).{reduce}()"
               for reduce, neutral in _NEUTRAL.items()},
        },
        "reduces only where the mask is True",
        _has_mask,
    ),
    pattern_rule(
        {"X[M]": "torch.where(M, X, 0)"},
        "keeps the shape: 0 where the mask is False",
        _has_mask,
        same=False,
    ),
)  # fmt: skip
RULES_OF_FUNCTIONS = (_torch_for_numpy,)
