"""Rewrites a user's function that asks for values, so that a fix can be tried and then told."""

import ast
import copy
import inspect
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ipyjaxbench.usercode.objects import is_of, name_of


def rewritten(function: FunctionType, line: int) -> Iterator[tuple[CodeType, str, str, bool]]:
    """Code in which a line keeps to tensors.

    Args:
        function: whose line it is; its source must be at hand.
        line: its number.

    Yields:
        Code that can stand in for the function's, what to write, what that changes, and whether it
        has to give the same numbers.
    """
    tree = _tree_of(function)
    if tree is None:
        return
    known = set(_statements(tree))
    for rules in _RULES:
        changed, before = copy.deepcopy(tree), ""
        for rule in rules:
            before = ast.dump(changed)
            changed = rule(line, function).visit(changed)
        if ast.dump(changed) == before:  # what the last rule is for is not there
            continue
        new = [each for each in _statements(changed) if each not in known]
        code = _code_of(changed, function)
        if code is not None:
            same = all(rule.same for rule in rules)
            yield code, "; ".join(new), ", ".join(rule.changes for rule in rules), same


def _tree_of(function: FunctionType) -> ast.Module | None:
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        return None
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return None
    tree.body[0].decorator_list = []
    ast.increment_lineno(tree, first - 1)
    return tree


def _statements(tree: ast.AST) -> list[str]:
    """The simple statements, as they would be written, and the heads of others."""
    kinds = ast.Return | ast.Assign | ast.Expr | ast.AugAssign | ast.AnnAssign
    return [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, kinds)]


def _code_of(tree: ast.Module, function: FunctionType) -> CodeType | None:
    """The code of the one function in a tree; it takes the same values from outside."""
    names = function.__code__.co_freevars
    outer = ast.parse(f"def outer({', '.join(names)}):\n    pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = tree.body
    module = ast.fix_missing_locations(ast.Module([outer], []))
    try:
        made = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    around = next(each for each in made.co_consts if isinstance(each, CodeType))
    code = next(each for each in around.co_consts if isinstance(each, CodeType))
    return code if code.co_freevars == names else None


class _Rule(ast.NodeTransformer):
    """Replaces what stands on one line.

    Args:
        line: its number.
        function: whose line it is.
    """

    changes = ""
    same = True

    def __init__(self, line: int, function: FunctionType) -> None:
        self.line, self.function = line, function

    def is_here(self, node: Any) -> bool:
        """Whether a node holds the line."""
        return bool(node.lineno <= self.line <= (node.end_lineno or node.lineno))


class _WhereForIf(_Rule):
    """Both sides are computed, and one is taken."""

    changes = "computes both sides and takes one"

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        return _where(node.test, node.body, node.orelse, node) if self.is_here(node) else node

    def visit_If(self, node: ast.If) -> Any:
        """``if c: x = a``, with or without an ``else`` of the same kind."""
        self.generic_visit(node)
        match node:
            case ast.If(test=test, body=[ast.Assign(targets=[ast.Name(id=x)], value=a)]) if (
                self.is_here(test)
            ):
                match node.orelse:
                    case []:
                        b: ast.expr = ast.Name(x, ast.Load())
                    case [ast.Assign(targets=[ast.Name(id=other)], value=value)] if x == other:
                        b = value
                    case _:
                        return node
                made = ast.Assign([ast.Name(x, ast.Store())], _where(test, a, b, node))
                return ast.copy_location(made, node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """``if c: return a`` with ``return b`` after it, or in its ``else``."""
        self.generic_visit(node)
        for index, each in enumerate(node.body):
            rest = node.body[index + 1 :]
            match each:
                case ast.If(test=test, body=[ast.Return(value=ast.expr() as a)]) if self.is_here(
                    test
                ):
                    match each.orelse or rest:
                        case [ast.Return(value=ast.expr() as b)]:
                            made = ast.Return(_where(test, a, b, each))
                            node.body = [*node.body[:index], ast.copy_location(made, each)]
                            return node
        return node


class _WithoutNumber(_Rule):
    """``x.item()`` and ``float(x)`` ask for a value that the tensor can stand for."""

    changes = "stays a tensor"

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if not self.is_here(node):
            return node
        match node:
            case ast.Call(func=ast.Attribute(value=x, attr="item"), args=[]):
                return x
            case ast.Call(func=ast.Name(id="float" | "int" | "bool" as kind), args=[x]):
                return _method(x, {"float": "float", "int": "long", "bool": "bool"}[kind])
        return node


class _WhereForMask(_Rule):
    """``x[mask]`` has a shape that depends on values; a reduction can leave numbers out."""

    changes = "leaves out what the mask does"

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript(value=x, slice=mask), attr=name),
                args=[], keywords=[],
            ) if self.is_here(node) and _is_mask_of(mask, x):  # fmt: skip
                if name == "mean":
                    total = _method(_where(mask, x, ast.Constant(0), node), "sum")
                    return ast.BinOp(total, ast.Div(), _method(mask, "sum"))
                if name in _NEUTRAL:
                    return _method(_where(mask, x, ast.Constant(_NEUTRAL[name]), node), name)
        return node


class _ZerosForMask(_Rule):
    """``x[mask]`` as a tensor of the same shape."""

    changes = "keeps the shape, with 0 where the mask is False"
    same = False

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        is_read = self.is_here(node) and isinstance(node.ctx, ast.Load)
        if is_read and _is_mask_of(node.slice, node.value):
            return _where(node.slice, node.value, ast.Constant(0), node)
        return node


class _TorchForNumPy(_Rule):
    """The same functions of PyTorch, on all lines."""

    changes = "PyTorch computes it"

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
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
        return node

    def visit_Name(self, node: ast.Name) -> Any:
        held = self.function.__globals__.get(node.id)
        if is_of(held, ModuleType) and name_of(held) == "numpy":
            return ast.copy_location(ast.Name("torch", node.ctx), node)
        return node


#: What changes nothing in each reduction; the largest and the smallest need a number of any type.
_NEUTRAL: dict[str, int | bool] = {"sum": 0, "prod": 1, "any": False, "all": True}
_RULES: tuple[tuple[type[_Rule], ...], ...] = (
    (_WhereForIf,),
    (_WithoutNumber,),
    (_WithoutNumber, _WhereForIf),
    (_WhereForMask,),
    (_ZerosForMask,),
    (_TorchForNumPy,),
)


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


def _where(test: ast.expr, yes: ast.expr, no: ast.expr, at: Any) -> ast.expr:
    made = ast.Call(_attribute(ast.Name("torch", ast.Load()), "where"), [test, yes, no], [])
    return ast.fix_missing_locations(ast.copy_location(made, at))


def _method(x: ast.expr, name: str) -> ast.expr:
    return ast.copy_location(ast.Call(_attribute(x, name), [], []), x)


def _attribute(x: ast.expr, name: str) -> ast.expr:
    return ast.copy_location(ast.Attribute(x, name, ast.Load()), x)
