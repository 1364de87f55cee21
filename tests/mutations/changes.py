"""Single lines of the package as they are, and as they could be by mistake."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_SWAPPED = {ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Change:
    """One line of a file as it was and as it is changed.

    Attributes:
        path: of the file, below the root.
        line: its number.
        was: the line before.
        now: the line after.
        function: in which it is, by the number of its first line; 0 where it is in none.
    """

    path: str
    line: int
    was: str
    now: str
    function: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.was.strip()}  ->  {self.now.strip()}"

    def applied(self, text: str) -> str:
        """The text of the file with the change."""
        lines = text.split("\n")
        lines[self.line - 1] = self.now
        return "\n".join(lines)


def changes_of(root: Path, path: str) -> Iterator[Change]:
    """Yield the changes of a file that fit into a line each."""
    text = (root / path).read_text("utf-8")
    lines, tree = text.split("\n"), ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    for node in ast.walk(tree):
        changed = _change(node)
        if changed is None or node.lineno != node.end_lineno:  # type: ignore[attr-defined]
            continue
        row, start, end = node.lineno, node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        around = [f.lineno for f in functions if f.body[0].lineno <= row <= (f.end_lineno or 0)]
        was = lines[row - 1]
        if was.isascii():  # offsets are bytes
            now = was[:start] + ast.unparse(changed) + was[end:]
            yield Change(path, row, was, now, max(around, default=0))


def _change(node: ast.AST) -> ast.AST | None:
    """Return what stands in a node's place; None where there is nothing to change."""
    changed = copy.copy(node)
    match changed:
        case ast.Compare(ops=[op]):
            changed.ops = [_TURNED[type(op)]()]
        case ast.Constant(value=bool(value)):
            changed.value = not value
        case ast.Constant(value=int(value) | float(value)):
            changed.value = value + 1
        case ast.Return(value=ast.Constant(value=None)):
            return None  # it returns the same without it
        case ast.Return(value=ast.expr()):
            changed.value = None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in _SWAPPED:
            changed.op = _SWAPPED[type(op)]()
        case _:
            return None
    return changed
