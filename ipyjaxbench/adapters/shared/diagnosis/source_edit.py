"""Source to tree to changed function: a statement of the user's code is replaced, and run."""

import ast
import builtins
import functools
import linecache
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis import syntax
from ipyjaxbench.adapters.shared.diagnosis.names import STAND_INS, attribute_of, is_full, value_of
from ipyjaxbench.usercode import copy_tree

#: Begins the name of a file that is made while a fix is tried.
MADE = "<fix"
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
#: How to get to a statement: which list of statements, and which of it, from the outside in.
_Trail = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Edit:
    """What is to stand in place of a statement.

    Attributes:
        new: statements; a name of a library is its full name.
        changes: what that changes or costs, in words; empty where nothing.
        count: how many statements it replaces: that of the site, and those after it.
        same: whether the function has to give what it gave.
    """

    new: list[ast.stmt]
    changes: str = ""
    count: int = 1
    same: bool = True


@dataclass(frozen=True)
class Site:
    """A statement that holds a line, or whose head does.

    Attributes:
        definition: the function.
        trail: how to get to the statement.
        function: what it was made of, for the values of its names.
    """

    definition: ast.FunctionDef
    trail: _Trail
    function: FunctionType

    @property
    def stmt(self) -> ast.stmt:
        """The statement."""
        return statements(self.definition, self.trail)[0]

    @property
    def following(self) -> list[ast.stmt]:
        """What follows it in the same list of statements."""
        return statements(self.definition, self.trail)[1:]

    @functools.cached_property
    def bound_before(self) -> set[str]:
        """Names that are bound before it, as far as they stand above it."""
        parameters = {
            n.arg for n in ast.iter_child_nodes(self.definition.args) if isinstance(n, ast.arg)
        }
        names = (n for n in ast.walk(self.definition) if isinstance(n, ast.Name))
        stored = (n for n in names if isinstance(n.ctx, ast.Store))
        return parameters | {n.id for n in stored if n.lineno < self.stmt.lineno}

    def value(self, node: ast.expr) -> Any:
        """Return what a name, or an attribute of a module, stands for; None if unknown."""
        if isinstance(node, ast.Name):
            if node.id in self.function.__code__.co_varnames:
                return None
            if node.id in (cells := closure_cells(self.function)):
                return cells[node.id].cell_contents
            return self.function.__globals__.get(node.id, getattr(builtins, node.id, None))
        if isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            return attribute_of(owner, node.attr) if isinstance(owner, ModuleType) else None
        return None

    def full_name(self, node: ast.expr, modules: Sequence[ModuleType] = ()) -> str:
        """Return such as "numpy.linalg.norm", however the code says it; empty if of no module."""
        if isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            return f"{owner.__name__}.{node.attr}" if isinstance(owner, ModuleType) else ""
        value = self.value(node)
        name = getattr(value, "__name__", "")
        owners = (m for m in modules if name and value is attribute_of(m, name))
        return next((f"{module.__name__}.{name}" for module in owners), "")

    def edited(self, edit: Edit) -> ast.FunctionDef:
        """Return the function with what is to stand here."""
        definition = copy_tree(self.definition)
        body, index = _list_and_index(definition, self.trail)
        new = [copy_tree(statement) for statement in edit.new]
        for statement in new:
            syntax.set_lines(statement, self.stmt.lineno)
        body[index : index + edit.count] = new
        return definition


#: What could be written in place of a statement.
Rule = Callable[[Site], Iterator[Edit]]


@dataclass
class Sources:
    """The source of functions, read from their files or kept from when they were made."""

    _made: dict[CodeType, ast.FunctionDef] = field(default_factory=dict)

    def definition(self, function: FunctionType) -> ast.FunctionDef | None:
        """Return a function's source as a tree; None where it is gone or not that function's."""
        code = function.__code__
        if code in self._made:
            return self._made[code]
        lines = linecache.getlines(code.co_filename, function.__globals__)
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            return None
        nodes = [node for node in ast.walk(tree) if _is_of(node, code)]
        nodes = nodes or [*_typed_expression(tree, code)]
        definitions = [d for node in nodes if (d := _as_definition(node, function)) is not None]
        return definitions[0] if len(definitions) == 1 else None

    def build(self, definition: ast.FunctionDef, old: FunctionType) -> FunctionType | None:
        """Return a function of changed source in place of an old one; None if it makes no sense."""
        tree = wrap_in_factory(definition, old)
        code = compile_inner(tree, f"{MADE} {len(self._made)}>", old)
        if code is None:
            return None
        names = {**old.__globals__}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and is_full(node.id):
                names[node.id] = STAND_INS.get(node.id) or value_of(node.id)
        self._made[code] = tree.body[0].body[0]  # type: ignore[attr-defined]
        return function_with_code(old, code, names)


def wrap_in_factory(definition: ast.FunctionDef, old: FunctionType) -> ast.Module:
    """Return a module with one function around a changed one, of the names that it closes over."""
    inner = copy_tree(definition)
    inner.decorator_list = []
    inner.name = _name_of(old)
    outer = syntax.function("factory", old.__code__.co_freevars, [inner])
    return ast.fix_missing_locations(ast.Module([outer], []))


def compile_inner(tree: ast.Module | str, file: str, old: FunctionType) -> CodeType | None:
    """Compile what `wrap_in_factory` made; None where it closes over more than the old function."""
    try:
        module = compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    code = _inner(_inner(module, "factory"), _name_of(old))
    return code if set(code.co_freevars) <= set(old.__code__.co_freevars) else None


def _name_of(function: FunctionType) -> str:
    return function.__name__ if function.__name__.isidentifier() else "made"


def _inner(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


def closure_cells(function: FunctionType) -> dict[str, CellType]:
    """Return what a function closes over, by name."""
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def function_with_code(
    old: FunctionType,
    code: CodeType,
    names: dict[str, Any],
    cells: dict[str, CellType] | None = None,
) -> FunctionType:
    """Return a function like another one, of other code, with other globals."""
    cells = closure_cells(old) if cells is None else cells
    closure = tuple(cells[name] for name in code.co_freevars)
    new = FunctionType(code, names, old.__name__, old.__defaults__, closure)
    new.__kwdefaults__ = old.__kwdefaults__
    new.__qualname__, new.__module__ = old.__qualname__, old.__module__
    # What a decorator marks a function with is kept, but not what it wraps: that is another one.
    vars(new).update({n: v for n, v in vars(old).items() if n != "__wrapped__"})
    return new


def sites(definition: ast.FunctionDef, line: int, function: FunctionType) -> Iterator[Site]:
    """Yield the statements that hold a line, the innermost last; of those with a body, the head."""
    for trail in _trails(definition, line, ()):
        yield Site(definition, trail, function)


def _trails(node: ast.AST, line: int, trail: _Trail) -> Iterator[_Trail]:
    for name in _BODIES:
        for index, inner in enumerate(getattr(node, name, ())):
            here = (*trail, (name, index))
            if not _holds(inner, line):
                continue
            if isinstance(inner, ast.stmt) and line <= _head_end(inner):
                yield here
            yield from _trails(inner, line, here)


def _holds(node: ast.AST, line: int) -> bool:
    """Whether a node stands on a line; parts of a ``match`` and ``try`` know no line, and may."""
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return first is None or first <= line <= (last or first)


def _head_end(node: ast.stmt) -> int:
    """Return the last line of what stands before a statement's body, or of all of it."""
    heads = [getattr(node, name, None) for name in ("test", "iter", "subject")]
    ends = [head.end_lineno for head in heads if isinstance(head, ast.expr)]
    has_body = bool(getattr(node, "body", None)) or isinstance(node, ast.Match)
    if has_body and not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return max([node.lineno, *(end for end in ends if end)])
    return 0 if has_body else (node.end_lineno or node.lineno)


def statements(definition: ast.FunctionDef, trail: _Trail) -> list[ast.stmt]:
    """Return the statement of a function to which a trail leads, and what follows it."""
    body, index = _list_and_index(definition, trail)
    return body[index:]


def _list_and_index(node: Any, trail: _Trail) -> tuple[list[ast.stmt], int]:
    *outer, (name, index) = trail
    for part, number in outer:
        node = getattr(node, part)[number]
    return getattr(node, name), index


def _is_of(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        arguments = node.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        parameters = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        is_here = node.lineno == code.co_firstlineno
        return code.co_name == "<lambda>" and is_here and names == parameters
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    return syntax.first_line(node) == code.co_firstlineno


def _typed_expression(tree: ast.Module, code: CodeType) -> Iterator[ast.Lambda]:
    """Yield an expression that was typed, as the function of its names that was made of it."""
    arguments = syntax.parameters(code.co_varnames[: code.co_argcount])
    for statement in tree.body[-1:] if code.co_name == "<lambda>" else ():
        if isinstance(statement, ast.Expr):
            yield ast.copy_location(ast.Lambda(arguments, statement.value), statement)


def _as_definition(node: ast.AST, function: FunctionType) -> ast.FunctionDef | None:
    """Return a lambda as a function that returns; of several on a line, the one of this code."""
    if isinstance(node, ast.FunctionDef):
        return node
    assert isinstance(node, ast.Lambda)
    alone = compile(ast.fix_missing_locations(ast.Expression(node)), "<fix>", "eval")
    codes = [constant for constant in alone.co_consts if isinstance(constant, CodeType)]
    own = function.__code__
    if not own.co_freevars and any(code.co_code != own.co_code for code in codes):
        return None
    returned = ast.copy_location(ast.Return(node.body), node.body)
    return ast.copy_location(syntax.function("made", node.args, [returned]), node)
