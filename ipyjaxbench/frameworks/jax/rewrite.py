"""Rewrites the failing line of a user's function, so that a fix can be tried before it is told."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


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
        lines, first = inspect.getsourcelines(function)
        self._function = function
        self._tree = ast.parse(textwrap.dedent("".join(lines)))
        ast.increment_lineno(self._tree, first - 1)
        (self._definition,) = self._tree.body
        if not isinstance(self._definition, ast.FunctionDef):
            raise TypeError("no def")
        self._definition.decorator_list = []

    def rewritten(self, line: int) -> Iterator[tuple[Callable[..., Any], str, str]]:
        """Functions in which the line is replaced, with what to write and what that changes."""
        for rule in _RULES:
            tree = ast.parse(ast.unparse(self._tree))
            _with_lines_of(tree, self._tree)
            told: list[str] = []
            changed = rule(line, self._function, told).visit(tree)
            if told:
                ast.fix_missing_locations(changed)
                function = self._made(changed)
                if function is not None:
                    yield function, _statement(changed, line) or told[-1], rule.changes

    def _made(self, tree: ast.Module) -> Callable[..., Any] | None:
        """The function of a tree, with the globals and closed-over values of the original."""
        old = self._function
        names = {"jnp": jnp, "np": np, "jax": jax, **old.__globals__}
        names |= {"_same_shape": _same_shape, "_rows_below": _rows_below}
        cells = zip(old.__code__.co_freevars, old.__closure__ or (), strict=True)
        names |= {name: cell.cell_contents for name, cell in cells}
        try:
            exec(compile(tree, "<fix>", "exec"), names)  # noqa: S102
        except Exception:  # noqa: BLE001  a rule that makes no code has no fix to tell
            return None
        made = names[old.__name__]
        made.__defaults__, made.__kwdefaults__ = old.__defaults__, old.__kwdefaults__
        return made  # type: ignore[no-any-return]


class _Spelled(ast.NodeTransformer):
    """Helpers that check shapes, as what the user is to write."""

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = getattr(node.func, "id", "")
        if name == "_same_shape":
            return _call("jnp.where", *node.args)
        if name == "_rows_below":
            x, n = node.args
            below = ast.Compare(_call("jnp.arange", _call("len", x)), [ast.Lt()], [n])
            return _call("jnp.where", below, x, ast.Constant(0))
        return node


def _statement(tree: ast.AST, line: int) -> str:
    """The innermost whole statement that holds a line, as it is to be written."""
    found = ""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Return | ast.Assign | ast.Expr | ast.AugAssign):
            continue
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            copied = (
                ast.parse(ast.unparse(node)).body[0] if not isinstance(node, ast.Return) else node
            )
            found = ast.unparse(ast.fix_missing_locations(_Spelled().visit(copied)))
    return found


def _with_lines_of(tree: ast.AST, original: ast.AST) -> None:
    """`ast.unparse` loses line numbers: the same nodes come in the same order."""
    for mine, theirs in zip(ast.walk(tree), ast.walk(original), strict=False):
        for name in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            if hasattr(theirs, name):
                setattr(mine, name, getattr(theirs, name))


class _Rule(ast.NodeTransformer):
    """Replaces what stands on one line.

    Args:
        line: its number.
        function: whose line it is.
        told: gets what to write.
    """

    changes = ""

    def __init__(self, line: int, function: FunctionType, told: list[str]) -> None:
        self.line, self.function, self.told = line, function, told

    def is_here(self, node: Any) -> bool:
        """Whether a node holds the line."""
        return bool(node.lineno <= self.line <= (node.end_lineno or node.lineno))

    def tell(self, node: ast.AST) -> Any:
        """Keep what to write."""
        self.told.append(ast.unparse(ast.fix_missing_locations(node)))
        return node

    def module(self, name: str) -> object:
        """What a global name stands for."""
        return self.function.__globals__.get(name)


def _same_shape(mask: Any, x: Any, other: Any) -> Any:
    """`jnp.where` of a mask that has a place for each number."""
    if jnp.shape(mask) != jnp.shape(x):
        raise TypeError("the mask has another shape")
    return jnp.where(mask, x, other)


def _rows_below(x: Any, n: Any) -> Any:
    """The first n numbers of a vector, and zeros."""
    if jnp.ndim(x) != 1:
        raise TypeError("no vector")
    return jnp.where(jnp.arange(len(x)) < n, x, 0)


#: Reductions that take ``where=``, with what else they need then.
_REDUCTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "sum": (), "mean": (), "any": (), "all": (), "prod": (), "std": (), "var": (),
    "max": (("initial", "-jnp.inf"),), "min": (("initial", "jnp.inf"),),
}  # fmt: skip


class _WhereForMask(_Rule):
    """``x[mask]`` has a shape that depends on values; a reduction can leave numbers out."""

    changes = "leaves out what the mask does"

    def visit_Call(self, node: ast.Call) -> Any:
        """``x[mask].mean()``, as ``x.mean(where=mask)``."""
        self.generic_visit(node)
        masked = node.func.value if isinstance(node.func, ast.Attribute) else None
        if not (self.is_here(node) and _is_masked(masked)) or node.args or node.keywords:
            return node
        assert isinstance(node.func, ast.Attribute)
        more = _REDUCTIONS.get(node.func.attr)
        if more is None:
            return node
        assert isinstance(masked, ast.Subscript)
        made = ast.Call(ast.Attribute(masked.value, node.func.attr, ast.Load()), [], [
            ast.keyword("where", masked.slice),
            *(ast.keyword(key, ast.parse(text, mode="eval").body) for key, text in more),
        ])  # fmt: skip
        return self.tell(made)


class _ZerosForMask(_Rule):
    """``return x[mask]`` as an array of the same shape."""

    changes = "keeps the shape, with 0 where the mask is False"

    def visit_Return(self, node: ast.Return) -> Any:
        if not (self.is_here(node) and _is_masked(node.value)):
            return node
        assert isinstance(node.value, ast.Subscript)
        node.value = _call("_same_shape", node.value.slice, node.value.value, ast.Constant(0))
        return self.tell(node)


class _ZerosForSlice(_Rule):
    """``return x[:n]`` of a vector, as a vector of the same length."""

    changes = "keeps the shape, with 0 from n on; n is not negative"

    def visit_Return(self, node: ast.Return) -> Any:
        value = node.value
        if not (self.is_here(node) and isinstance(value, ast.Subscript)):
            return node
        cut = value.slice
        if not isinstance(cut, ast.Slice) or not isinstance(cut.upper, ast.Name):
            return node
        if cut.lower or cut.step:
            return node
        node.value = _call("_rows_below", value.value, cut.upper)
        return self.tell(node)


def _is_masked(node: ast.expr | None) -> bool:
    kinds = ast.Compare | ast.Name | ast.BinOp | ast.UnaryOp | ast.Call
    return isinstance(node, ast.Subscript) and isinstance(node.slice, kinds)


class _LoopOfJax(_Rule):
    """A loop that changes one name, as a loop of JAX."""

    changes = "runs as a loop on the device"

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        match node:
            case ast.For(
                target=ast.Name(id=i),
                iter=ast.Call(func=ast.Name(id="range"), args=[n]),
                body=[ast.Assign(targets=[ast.Name(id=x)], value=value)],
                orelse=[],
            ) if self.is_here(node.iter):
                body = _lambda([i, x], value)
                start = ast.Constant(0)
                loop = _call("jax.lax.fori_loop", start, n, body, ast.Name(x, ast.Load()))
                return self.tell(ast.Assign([ast.Name(x, ast.Store())], loop))
        return node

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        match node:
            case ast.While(
                test=test, body=[ast.Assign(targets=[ast.Name(id=x)], value=value)], orelse=[]
            ) if self.is_here(node.test):
                functions = _lambda([x], test), _lambda([x], value)
                loop = _call("jax.lax.while_loop", *functions, ast.Name(x, ast.Load()))
                return self.tell(ast.Assign([ast.Name(x, ast.Store())], loop))
        return node


class _WhereForIf(_Rule):
    """Both sides are computed, and one is taken."""

    changes = "computes both sides and takes one"

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        if not self.is_here(node):
            return node
        return self.tell(_call("jnp.where", node.test, node.body, node.orelse))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """``if c: return a`` with ``return b`` after it, or in its ``else``."""
        self.generic_visit(node)
        for index, each in enumerate(node.body):
            if not (isinstance(each, ast.If) and self.is_here(each.test)):
                continue
            rest = each.orelse or node.body[index + 1 :]
            if len(each.body) == len(rest) == 1:
                new = self._one_of(each.test, each.body[0], rest[0])
                if new is not None:
                    after = node.body[index + 1 :] if each.orelse else []
                    node.body = [*node.body[:index], new, *after]
                    break
        return node

    def _one_of(self, test: ast.expr, yes: ast.stmt, no: ast.stmt) -> ast.stmt | None:
        match yes, no:
            case ast.Return(value=ast.expr() as a), ast.Return(value=ast.expr() as b):
                return self.tell(ast.Return(_call("jnp.where", test, a, b)))  # type: ignore[no-any-return]
            case ast.Assign(targets=[ast.Name(id=one)], value=a), ast.Assign(
                targets=[ast.Name(id=other)], value=b
            ) if one == other:
                target: list[ast.expr] = [ast.Name(one, ast.Store())]
                return self.tell(ast.Assign(target, _call("jnp.where", test, a, b)))  # type: ignore[no-any-return]
        return None


class _OtherLibrary(_Rule):
    """The same function of another library."""

    of: ModuleType = np
    by = "jnp"

    def visit_Call(self, node: ast.Call) -> Any:
        here = self.is_here(node) and any(
            isinstance(n, ast.Name) and self.module(n.id) is self.of for n in ast.walk(node)
        )
        self.generic_visit(node)
        return self.tell(node) if here else node

    def visit_Name(self, node: ast.Name) -> Any:
        if self.is_here(node) and self.module(node.id) is self.of:
            return ast.copy_location(ast.Name(self.by, node.ctx), node)
        return node


class _JaxForNumPy(_OtherLibrary):
    changes = ""


class _NumPyForJax(_OtherLibrary):
    changes = "NumPy computes it while tracing, from shapes alone"
    of, by = jnp, "np"


class _AsTypeForInt(_Rule):
    """``int(x)`` wants a Python number; an array can be turned into whole numbers too."""

    changes = "stays an array"

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        kind = getattr(node.func, "id", "")
        if not self.is_here(node) or kind not in ("int", "float", "bool") or len(node.args) != 1:
            return node
        return self.tell(_call("jnp.asarray", node.args[0], ast.Name(kind, ast.Load())))


_RULES: tuple[type[_Rule], ...] = (
    _WhereForMask,
    _ZerosForMask,
    _ZerosForSlice,
    _WhereForIf,
    _LoopOfJax,
    _JaxForNumPy,
    _NumPyForJax,
    _AsTypeForInt,
)


def _lambda(names: list[str], body: ast.expr) -> ast.Lambda:
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return ast.Lambda(arguments, body)


def _call(name: str, *args: ast.expr) -> ast.Call:
    function = ast.parse(name, mode="eval").body
    return ast.Call(function, list(args), [])
