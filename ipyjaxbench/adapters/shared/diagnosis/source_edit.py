"""Source to tree to changed function: a statement of the user's code is replaced, and run."""

import ast
import functools
import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis import ast_copy
from ipyjaxbench.adapters.shared.diagnosis.ast_copy import copied, settled
from ipyjaxbench.adapters.shared.diagnosis.names import attribute_of, is_full, value_of

#: Begins the name of a file that is made while a fix is tried.
MADE = "<fix"
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
#: Definitions of functions that were made here, by their code: their source is in no file.
_Made = dict[CodeType, ast.FunctionDef]


@dataclass(frozen=True)
class Edit:
    """What is to stand in place of a statement.

    Attributes:
        new: statements; names of libraries are full, as `names.library` makes them.
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
        trail: how to get to the statement: which list of statements, and which of it.
        function: what it was made of, for the values of its names.
    """

    definition: ast.FunctionDef
    trail: tuple[tuple[str, int], ...]
    function: FunctionType

    @property
    def stmt(self) -> ast.stmt:
        """The statement."""
        body, index = _followed(self.definition, self.trail)
        found: ast.stmt = body[index]
        return found

    @property
    def after(self) -> list[ast.stmt]:
        """What follows it in the same list of statements."""
        body, index = _followed(self.definition, self.trail)
        return list(body[index + 1 :])

    @functools.cached_property
    def bound_before(self) -> set[str]:
        """Names that are bound before it, as far as they stand above it."""
        arguments = self.definition.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        found = {each.arg for each in every}
        found |= {each.arg for each in (arguments.vararg, arguments.kwarg) if each}
        above = (n for n in ast.walk(self.definition) if isinstance(n, ast.Name))
        stored = (n for n in above if isinstance(n.ctx, ast.Store))
        return found | {n.id for n in stored if n.lineno < self.stmt.lineno}

    def value(self, node: ast.expr) -> Any:
        """What a name, or an attribute of a module, stands for; None where that is not known."""
        if isinstance(node, ast.Name):
            if node.id in self.function.__code__.co_varnames:
                return None
            if node.id in (cells := closure_cells(self.function)):
                return cells[node.id].cell_contents
            return self.function.__globals__.get(node.id, _builtin(node.id))
        if isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            return attribute_of(owner, node.attr) if isinstance(owner, ModuleType) else None
        return None

    def edited(self, edit: Edit) -> ast.FunctionDef:
        """The function with what is to stand here."""
        definition = copied(self.definition)
        body, index = _followed(definition, self.trail)
        new = [copied(each) for each in edit.new]
        for each in new:
            settled(each, self.stmt.lineno)
        body[index : index + edit.count] = new
        return definition


@dataclass
class Sources:
    """The source of functions, read from their files or kept from when they were made."""

    _made: _Made = field(default_factory=dict)

    def definition(self, function: FunctionType) -> ast.FunctionDef | None:
        """A function's source as a tree; None where it is gone or is not that of the function."""
        code = function.__code__
        if code in self._made:
            return self._made[code]
        lines = linecache.getlines(code.co_filename, function.__globals__)
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            return None
        found = [each for each in ast.walk(tree) if _is_of(each, code)]
        found = found or [*_typed(tree, code)]
        definitions = [d for each in found if (d := _as_def(each, function)) is not None]
        return definitions[0] if len(definitions) == 1 else None

    def build(self, definition: ast.FunctionDef, old: FunctionType) -> FunctionType | None:
        """A function of changed source, in place of an old one; None where it makes no sense."""
        tree = in_factory(definition, old)
        code = compile_inner(tree, f"{MADE} {len(self._made)}>", old)
        if code is None:
            return None
        names = {**old.__globals__}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and is_full(node.id):
                names[node.id] = STAND_INS.get(node.id) or value_of(node.id)
        self._made[code] = tree.body[0].body[0]  # type: ignore[attr-defined]
        return function_with_code(old, code, names)


def in_factory(definition: ast.FunctionDef, old: FunctionType) -> ast.Module:
    """Return a module with one function around a changed one, of the names that it closes over."""
    inner = copied(definition)
    inner.decorator_list = []
    inner.name = _name_of(old)
    names = [ast.arg(name) for name in old.__code__.co_freevars]
    arguments = ast.arguments([], names, None, [], [], None, [])
    outer = ast_copy.definition("factory", arguments, [inner])
    return ast.fix_missing_locations(ast.Module([outer], []))


def compile_inner(tree: ast.Module | str, file: str, old: FunctionType) -> CodeType | None:
    """Compile what `in_factory` made; None where it closes over more than the old function."""
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
    """What a function closes over, by name."""
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


#: Functions that are tried under a library's name, and refuse more than the library's own.
STAND_INS: dict[str, Any] = {}


def stand_in(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Try a function in place of the library's: the text shows the library's name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        STAND_INS[name] = function
        return function

    return register


def sites(definition: ast.FunctionDef, line: int, function: FunctionType) -> Iterator[Site]:
    """The statements that hold a line, the innermost last; of those with a body the head counts."""
    for trail in _trails(definition, line, ()):
        yield Site(definition, trail, function)


def _trails(
    node: ast.AST, line: int, trail: tuple[tuple[str, int], ...]
) -> Iterator[tuple[tuple[str, int], ...]]:
    for name in _BODIES:
        for index, each in enumerate(getattr(node, name, ())):
            here = (*trail, (name, index))
            if not _holds(each, line):
                continue
            if isinstance(each, ast.stmt) and line <= _head_end(each):
                yield here
            yield from _trails(each, line, here)


def _holds(node: ast.AST, line: int) -> bool:
    """Whether a node stands on a line; parts of a ``match`` and ``try`` know no line, and may."""
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return first is None or first <= line <= (last or first)


def _head_end(node: ast.stmt) -> int:
    """The last line of what stands before a statement's body, or of all of it."""
    heads = [getattr(node, name, None) for name in ("test", "iter", "subject")]
    known = [each.end_lineno for each in heads if isinstance(each, ast.expr)]
    has_body = bool(getattr(node, "body", None)) or isinstance(node, ast.Match)
    if has_body and not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return max([node.lineno, *(end for end in known if end)])
    return 0 if has_body else (node.end_lineno or node.lineno)


def statements(
    definition: ast.FunctionDef | None, trail: tuple[tuple[str, int], ...], count: int
) -> list[ast.stmt]:
    """Statements of a function, from where a trail leads."""
    if definition is None:
        return []
    body, index = _followed(definition, trail)
    return list(body[index : index + count])


def _followed(node: Any, trail: tuple[tuple[str, int], ...]) -> tuple[list[Any], int]:
    *before, (name, index) = trail
    for part, number in before:
        node = getattr(node, part)[number]
    return getattr(node, name), index


def _is_of(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        arguments = node.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        given = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno and names == given
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    return ast_copy.first_line(node) == code.co_firstlineno


def _typed(tree: ast.Module, code: CodeType) -> Iterator[ast.Lambda]:
    """An expression that was typed, as the function of its names that was made of it."""
    names = code.co_varnames[: code.co_argcount]
    for each in tree.body[-1:] if code.co_name == "<lambda>" else ():
        if isinstance(each, ast.Expr):
            arguments = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
            yield ast.copy_location(ast.Lambda(arguments, each.value), each)


def _as_def(node: ast.AST, function: FunctionType) -> ast.FunctionDef | None:
    """A lambda as a function that returns; one of several on a line is known by what it does."""
    if isinstance(node, ast.FunctionDef):
        return node
    assert isinstance(node, ast.Lambda)
    alone = compile(ast.fix_missing_locations(ast.Expression(node)), "<fix>", "eval")
    codes = [each for each in alone.co_consts if isinstance(each, CodeType)]
    mine = function.__code__
    if not mine.co_freevars and any(each.co_code != mine.co_code for each in codes):
        return None
    returned = ast.copy_location(ast.Return(node.body), node.body)
    made_of = ast_copy.definition("made", node.args, [returned])
    return ast.copy_location(made_of, node)


def _builtin(name: str) -> Any:
    import builtins

    return getattr(builtins, name, None)
