"""Rewrites the failing line of a user's function, so that a fix can be tried before it is told."""

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np
import tensorflow as tf

_FILE = "<fix>"
#: Functions of NumPy that TensorFlow calls otherwise.
_OTHER_NAMES = {
    "sum": "reduce_sum", "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min",
    "amax": "reduce_max", "amin": "reduce_min", "prod": "reduce_prod", "any": "reduce_any",
    "all": "reduce_all", "std": "math.reduce_std", "var": "math.reduce_variance",
    "dot": "tensordot", "concatenate": "concat", "arctan": "atan", "arcsin": "asin",
    "arccos": "acos", "log": "math.log", "log1p": "math.log1p", "expm1": "math.expm1",
    "power": "pow", "absolute": "abs",
    "floor": "math.floor", "ceil": "math.ceil", "rint": "math.rint", "isnan": "math.is_nan",
    "isinf": "math.is_inf", "isfinite": "math.is_finite", "vstack": "experimental.numpy.vstack",
    "hstack": "experimental.numpy.hstack", "sqrt": "sqrt", "clip": "clip_by_value",
}  # fmt: skip


#: Those of the same name that take another axis or make other dtypes where nothing is said.
_OTHER_DEFAULTS = ("argmax", "argmin", "cumsum", "cumprod", "unique", "zeros", "ones", "eye",
                   "linspace", "split", "roll")  # fmt: skip


class Function:
    """A user's function whose source is at hand.

    Args:
        function: a plain Python function.

    Raises:
        OSError: its source is gone.
        TypeError: it is no plain function.
        SyntaxError: its source cannot be read alone, as that of a lambda in a call.
    """

    def __init__(self, function: FunctionType) -> None:
        lines, self._first = inspect.getsourcelines(function)
        self._function = function
        self._text = textwrap.dedent("".join(lines))
        if not isinstance(self._parsed().body[0], ast.FunctionDef):
            raise TypeError("no def")

    def rewritten(self, line: int) -> Iterator[tuple[Callable[..., Any], str, str]]:
        """Functions in which the line is replaced, with what to write and what that changes.

        Args:
            line: its number in the file.
        """
        try:
            for rule in _RULES:
                made = rule(line, self._function.__globals__)
                tree = made.visit(self._parsed())
                if made.told is not None:
                    ast.fix_missing_locations(tree)
                    yield self._made(tree), ast.unparse(_statement(tree, made.told)), rule.changes
        finally:
            linecache.cache.pop(_FILE, None)

    def _parsed(self) -> ast.Module:
        tree = ast.parse(self._text)
        ast.increment_lineno(tree, self._first - 1)
        if isinstance(tree.body[0], ast.FunctionDef):
            tree.body[0].decorator_list = []
        return tree

    def _made(self, tree: ast.Module) -> Callable[..., Any]:
        """The function of a tree, with the globals and closed-over values of the original."""
        old = self._function
        names = {**old.__globals__, "tf": tf}
        cells = zip(old.__code__.co_freevars, old.__closure__ or (), strict=True)
        names |= {name: cell.cell_contents for name, cell in cells}
        text = ast.unparse(tree)
        # AutoGraph reads the source of what it runs.
        linecache.cache[_FILE] = len(text), None, text.splitlines(keepends=True), _FILE
        exec(compile(text, _FILE, "exec"), names)  # noqa: S102
        made = names[old.__name__]
        made.__defaults__, made.__kwdefaults__ = old.__defaults__, old.__kwdefaults__
        return made  # type: ignore[no-any-return]


def _statement(tree: ast.Module, told: ast.AST) -> ast.AST:
    """The innermost statement that holds a node."""
    found: ast.AST = told
    for node in ast.walk(tree):
        is_small = isinstance(node, ast.Return | ast.Assign | ast.Expr | ast.AugAssign)
        if is_small and any(each is told for each in ast.walk(node)):
            found = node
    return found


class _Rule(ast.NodeTransformer):
    """Replaces what stands on one line.

    Args:
        line: its number.
        names: globals of the function.

    Attributes:
        told: what was put there; None where nothing was.
    """

    changes = ""

    def __init__(self, line: int, names: dict[str, Any]) -> None:
        self._line, self._names = line, names
        self.told: ast.AST | None = None

    def is_here(self, node: Any) -> bool:
        """Whether a node holds the line."""
        return bool(node.lineno <= self._line <= (node.end_lineno or node.lineno))

    def tell(self, node: ast.AST) -> Any:
        """Keep what to write."""
        self.told = node
        return node


class _TensorFlowForNumPy(_Rule):
    """The same function of TensorFlow."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if (
                self.is_here(node) and self._names.get(module) is np and name not in _OTHER_DEFAULTS
            ):
                node.func = _name(f"tf.{_OTHER_NAMES.get(name, name)}")
                return self.tell(node)
        return node


class _NumPyOfTensorFlow(_Rule):
    """The same function of `tf.experimental.numpy`, where TensorFlow itself has none."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if (
                self.is_here(node) and self._names.get(module) is np
            ):
                node.func = _name(f"tf.experimental.numpy.{name}")
                return self.tell(node)
        return node


class _WhereForIf(_Rule):
    """Both sides are computed, and one is taken."""

    changes = "computes both sides and takes one"

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        if not self.is_here(node):
            return node
        return self.tell(_call("tf.where", _condition(node.test), node.body, node.orelse))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """``if c: return a`` with ``return b`` after it, or in its ``else``."""
        self.generic_visit(node)
        for index, each in enumerate(node.body):
            if not (isinstance(each, ast.If) and self.is_here(each.test)):
                continue
            rest = each.orelse or node.body[index + 1 :]
            new = _one_of(each.test, each.body, rest)
            if new is not None:
                after = node.body[index + 1 :] if each.orelse else []
                node.body = [*node.body[:index], self.tell(new), *after]
                break
        return node


class _CastForNumber(_Rule):
    """``float(x)`` wants a Python number; a tensor can be turned into other numbers too."""

    changes = "stays a tensor"

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        kinds = {"int": "tf.int32", "float": "tf.float32", "bool": "tf.bool"}
        kind = kinds.get(getattr(node.func, "id", ""))
        if kind is None or not self.is_here(node) or len(node.args) != 1:
            return node
        return self.tell(_call("tf.cast", node.args[0], _name(kind)))


class _TensorForNumPy(_Rule):
    """``x.numpy()`` and ``x.item()`` are the tensor itself."""

    changes = "stays a tensor"

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="numpy" | "item"), args=[]) if (
                self.is_here(node)
            ):
                return self.tell(value)
        return node


class _LoopOfTensorFlow(_Rule):
    """A loop that changes one name, as a loop in the graph."""

    changes = "runs as a loop in the graph"

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        match node:
            case ast.For(
                target=ast.Name(id=i),
                iter=ast.Call(func=ast.Name(id="range"), args=[n]),
                body=[ast.Assign(targets=[ast.Name(id=x)], value=value)],
                orelse=[],
            ) if self.is_here(node.iter):
                turn = ast.Tuple(
                    [ast.BinOp(_name(i), ast.Add(), ast.Constant(1)), value], ast.Load()
                )
                below = ast.Compare(_name(i), [ast.Lt()], [n])
                start = ast.Tuple([ast.Constant(0), _name(x)], ast.Load())
                loop = _call("tf.while_loop", _lambda([i, x], below), _lambda([i, x], turn), start)
                last = ast.Subscript(loop, ast.Constant(1), ast.Load())
                return self.tell(ast.Assign([ast.Name(x, ast.Store())], last))
        return node


class _CastRight(_Rule):
    """``x * n`` of two types: the right side takes the type of the left."""

    changes = "changes the type of one side"

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if self.is_here(node) and isinstance(node.left, ast.Name) and self.told is None:
            dtype = ast.Attribute(node.left, "dtype", ast.Load())
            node.right = _call("tf.cast", node.right, dtype)
            return self.tell(node)
        return self.generic_visit(node)


class _CastLeft(_Rule):
    """``n * x`` of two types: the left side takes the type of the right."""

    changes = "changes the type of one side"

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if self.is_here(node) and isinstance(node.right, ast.Name) and self.told is None:
            dtype = ast.Attribute(node.right, "dtype", ast.Load())
            node.left = _call("tf.cast", node.left, dtype)
            return self.tell(node)
        return self.generic_visit(node)


class _GatherForIndex(_Rule):
    """``list[n]`` wants a Python number."""

    changes = "the list becomes a tensor"

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if not self.is_here(node) or isinstance(node.slice, ast.Slice | ast.Tuple | ast.Constant):
            return node
        return self.tell(_call("tf.gather", node.value, node.slice))


class _UpdateForAssignment(_Rule):
    """``x[i] = v``: tensors do not change."""

    changes = "makes a new tensor"

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=x), slice=ast.Constant(value=int(i)))],
                value=value,
            ) if self.is_here(node) and i >= 0:
                row = ast.Subscript(_name(x), ast.Constant(i), ast.Load())
                where = ast.List([ast.List([ast.Constant(i)], ast.Load())], ast.Load())
                whole = _call("tf.broadcast_to", value, ast.Attribute(row, "shape", ast.Load()))
                new = _call("tf.tensor_scatter_nd_update", _name(x), where,
                            ast.List([whole], ast.Load()))  # fmt: skip
                return self.tell(ast.Assign([ast.Name(x, ast.Store())], new))
        return node


_RULES: tuple[type[_Rule], ...] = (
    _TensorFlowForNumPy,
    _NumPyOfTensorFlow,
    _WhereForIf,
    _LoopOfTensorFlow,
    _CastForNumber,
    _TensorForNumPy,
    _GatherForIndex,
    _CastRight,
    _CastLeft,
    _UpdateForAssignment,
)


def _one_of(test: ast.expr, yes: list[ast.stmt], no: list[ast.stmt]) -> ast.stmt | None:
    match yes, no:
        case [ast.Return(value=ast.expr() as a)], [ast.Return(value=ast.expr() as b)]:
            return ast.Return(_call("tf.where", _condition(test), a, b))
        case [ast.Assign(targets=[ast.Name(id=one)], value=a)], [
            ast.Assign(targets=[ast.Name(id=other)], value=b)
        ] if one == other:
            made = _call("tf.where", _condition(test), a, b)
            return ast.Assign([ast.Name(one, ast.Store())], made)
    return None


def _condition(test: ast.expr) -> ast.expr:
    """``and``, ``or``, ``not`` ask for values too."""
    if isinstance(test, ast.BoolOp):
        name = "tf.logical_and" if isinstance(test.op, ast.And) else "tf.logical_or"
        first, *others = map(_condition, test.values)
        for other in others:
            first = _call(name, first, other)
        return first
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _call("tf.logical_not", _condition(test.operand))
    return test


def _name(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _lambda(names: list[str], body: ast.expr) -> ast.Lambda:
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return ast.Lambda(arguments, body)


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(_name(name), list(args), [])
