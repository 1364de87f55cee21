"""Rules that exchange expressions and statements, most of them written as code with holes.

A name in capitals is a hole: in a pattern it stands for any expression, and for the same one
wherever it stands again; in what is written instead it is that expression. A dotted name that
begins with none is a library's, as in ``"float(X)": "tf.cast(X, tf.float32)"``.
"""

import ast
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Rule, Site
from ipyjaxbench.adapters.shared.diagnosis.syntax import name, with_context
from ipyjaxbench.usercode import copy_tree

_LIBRARY_NAME = re.compile(r"[a-z][\w.]*")
#: What each hole of a pattern stands for.
Holes = Mapping[str, ast.expr]
#: What an expression of a statement becomes; None where it stays.
Change = Callable[[Site, ast.expr], ast.expr | None]


def pattern_rule(
    patterns: Mapping[str, str],
    changes: str = "",
    fits: Callable[[Site, Holes], bool] = lambda *_: True,
    *,
    same: bool = True,
) -> Rule:
    """Return the rule that writes what stands beside the first pattern that matches.

    Args:
        patterns: expressions, which are exchanged in a statement; or whole statements.
        changes: see `Edit`; that of a statement may name holes, as ``{X}``.
        fits: whether what is in the holes is of the right kind.
        same: see `Edit`.
    """

    def change(site: Site, node: ast.AST) -> Any:
        for pattern, new in patterns.items():
            holes = match_pattern(pattern, node)
            if holes is not None and fits(site, holes):
                return fill_pattern(new, holes)
        return None

    def statement_rule(site: Site) -> Iterator[Edit]:
        for pattern, new in patterns.items():
            holes = match_pattern(pattern, site.stmt)
            if holes is not None and fits(site, holes):
                texts = {hole: ast.unparse(node) for hole, node in holes.items()}
                yield Edit([fill_pattern(new, holes)], changes.format(**texts), same=same)

    is_statement = isinstance(_parsed(next(iter(patterns))), ast.stmt)
    return statement_rule if is_statement else exchange_rule(changes, same=same)(change)


def library_rule(
    rename: Callable[[str], str], modules: Sequence[ModuleType] = (), changes: str = ""
) -> Rule:
    """Return the rule that calls functions of another library.

    Args:
        rename: gives the full name of the other function; empty where there is none.
        modules: whose functions are known without the module's name before them, too.
        changes: see `Edit`.
    """

    def change(site: Site, node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call) or not (
            new := rename(site.full_name(node.func, modules))
        ):
            return None
        return ast.Call(name(new), node.args, node.keywords)

    return exchange_rule(changes)(change)


def exchange_rule(
    changes: str = "", *, same: bool = True, whole: bool = True
) -> Callable[[Change], Rule]:
    """Make a rule of what an expression becomes: all of a statement's are exchanged, then each.

    Args:
        changes: see `Edit`.
        same: see `Edit`.
        whole: whether all are exchanged at once before each is alone.
    """

    def made(change: Change) -> Rule:
        def rule(site: Site) -> Iterator[Edit]:
            every = _Exchange(change, site)
            new = every.statement()
            if every.count and whole:
                yield Edit([new], changes, same=same)
            if every.count > 1 or not whole:
                for number in range(every.count):
                    yield Edit([_Exchange(change, site, number).statement()], changes, same=same)

        return rule

    return made


def exchange_everywhere(changes: str) -> Callable[[Change], Rule]:
    """Make a rule of what expressions become in a statement and all after it, inner ones too."""

    def made(change: Change) -> Rule:
        def rule(site: Site) -> Iterator[Edit]:
            every = _Exchange(change, site)
            new = [every.visit(copy_tree(statement)) for statement in (site.stmt, *site.following)]
            if every.count:
                yield Edit(new, changes, len(new))

        return rule

    return made


class _Exchange(ast.NodeTransformer):
    """Exchanges expressions of a statement, all or the one of a number, and counts them."""

    def __init__(self, change: Change, site: Site, only: int | None = None) -> None:
        self._change, self._site, self._only, self.count = change, site, only, 0

    def statement(self) -> ast.stmt:
        """Return the statement with other expressions; the statements in it stay as they are."""
        new = copy_tree(self._site.stmt)
        for field, value in ast.iter_fields(new):
            if isinstance(value, ast.expr):
                setattr(new, field, self.visit(value))
            elif field in ("targets", "items"):
                setattr(new, field, [self.visit(item) for item in value])
        return new

    def visit(self, node: ast.AST) -> Any:
        node = self.generic_visit(node)
        new = self._change(self._site, node) if isinstance(node, ast.expr) else None
        if new is None:
            return node
        self.count += 1
        return new if self._only in (None, self.count - 1) else node


def match_pattern(pattern: str, node: ast.AST) -> Holes | None:
    """Return what the holes of a pattern stand for; None where a tree is another.

    Example:
        >>> holes = match_pattern("X[B : B + S]", ast.parse("x[i : i + 3]", mode="eval").body)
        >>> {hole: ast.unparse(node) for hole, node in holes.items()}
        {'X': 'x', 'B': 'i', 'S': '3'}
    """
    holes: dict[str, ast.expr] = {}
    return holes if _matches(_parsed(pattern), node, holes) else None


def _matches(pattern: Any, node: Any, holes: dict[str, ast.expr]) -> bool:
    if isinstance(pattern, ast.Name) and pattern.id.isupper():
        is_hole = isinstance(node, ast.expr)
        return is_hole and ast.dump(holes.setdefault(pattern.id, node)) == ast.dump(node)
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, list):
        pairs = zip(pattern, node, strict=False)
        return len(pattern) == len(node) and all(_matches(*pair, holes) for pair in pairs)
    if isinstance(pattern, ast.AST):
        return all(_matches(value, getattr(node, field), holes)
                   for field, value in ast.iter_fields(pattern))  # fmt: skip
    return bool(pattern == node)


def fill_pattern(text: str, holes: Holes) -> Any:
    """Return new code as a tree, with what its holes stand for.

    Example:
        >>> ast.unparse(fill_pattern("tf.cast(X, tf.int32)", {"X": ast.Name("y", ast.Load())}))
        'tf.cast(y, tf.int32)'
    """
    return _filled(_parsed(text), holes)


def _filled(node: Any, holes: Holes) -> Any:
    match node:
        case list():
            return [_filled(item, holes) for item in node]
        case ast.Name(id=hole, ctx=context) if hole in holes:
            return with_context(holes[hole], context)
        case ast.arg(arg=hole) if isinstance(argument := holes.get(hole), ast.Name):
            return ast.arg(argument.id)
        case ast.Attribute() if _LIBRARY_NAME.fullmatch(dotted := ast.unparse(node)):
            return name(dotted)
        case ast.AST():
            new = {field: _filled(value, holes) for field, value in ast.iter_fields(node)}
            return type(node)(**new)
    return node


@functools.cache
def _parsed(text: str) -> ast.AST:
    (statement,) = ast.parse(text).body
    return statement.value if isinstance(statement, ast.Expr) else statement
