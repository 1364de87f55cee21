"""Has every call in some code, and in the user's functions that it can reach, go through a hook."""

import __future__

import ast
import inspect
import linecache
import os
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

from ipyjaxbench.usercode import code_objects
from ipyjaxbench.usercode.instrumented_tree import Hook, Instrumented
from ipyjaxbench.usercode.made_functions import note_functions, remove_hooks
from ipyjaxbench.usercode.snippet import Source
from ipyjaxbench.usercode.syntax import copy_tree

#: The function in which code is compiled again, for it may close over names.
_AROUND = "__fw_around"
_END = "__fw_end"


def instrument_cell(
    source: Source,
    hook: Hook,
    *,
    aside: bool = False,
    operators: bool = False,
    at_end: Callable[[object], object] | None = None,
) -> CodeType:
    """Compile a cell with the hook in every call.

    Args:
        source: the cell.
        hook: gets each call.
        aside: leave the functions that it defines as they are; see `instrument_copies`.
        operators: whether the hook gets operators of two values too, as functions of these.
        at_end: called last, with the value of the last expression, or None; what it raises is
            raised in the last line.

    Returns:
        The code, to be executed; it binds the names that the cell does.
    """
    instrumented = Instrumented(hook, source.filename, lambda _: not aside, operators=operators)
    tree = instrumented.visit(copy_tree(source.tree))
    if at_end is not None:
        instrumented.objects[_END] = at_end
        _call_at_end(tree)
    return compile_changed(source, tree, instrumented.objects, aside=aside)


def _call_at_end(tree: ast.Module) -> None:
    last = tree.body.pop()
    value = last.value if isinstance(last, ast.Expr) else ast.Constant(None)
    function = ast.Attribute(ast.Constant(_END), "__call__", ast.Load())
    call = ast.copy_location(ast.Call(function, [value], []), last)
    tree.body += [] if isinstance(last, ast.Expr) else [last]
    tree.body.append(ast.copy_location(ast.Expr(call), last))


def compile_changed(
    source: Source, tree: ast.Module, objects: dict[str, Any], *, aside: bool = False
) -> CodeType:
    """Compile a cell whose tree was changed.

    Args:
        source: the cell as it was.
        tree: what it is now.
        objects: stand in the place of constants; see `with_objects`.
        aside: whether no function in it was changed; else `remove_hooks` makes them what they were.
    """
    noted = {} if aside else note_functions(tree)
    code = with_objects(source.compiled(ast.fix_missing_locations(tree)), {**objects, **noted})
    return code if aside else code_objects.with_originals(code, source.compiled())


@contextmanager
def instrument_functions(
    functions: Iterable[object], hook: Hook, *, operators: bool = False
) -> Iterator[list[FunctionType]]:
    """Put the hook into the calls of plain functions for as long as the context is open.

    Args:
        functions: those whose source cannot be had are left as they are.
        hook: gets each call.
        operators: whether it gets operators of two values too.

    Yields:
        The functions that have it.
    """
    before: list[tuple[FunctionType, CodeType]] = []
    try:
        for function in functions:
            if type(function) is not FunctionType:
                continue
            changed = _hooked_code(function, hook, operators=operators)
            if changed is not None:
                before.append((function, function.__code__))
                function.__code__ = changed
        yield [function for function, _ in before]
    finally:
        with_hook = [function.__code__ for function, _ in before]
        for function, code in before:
            function.__code__ = code
        remove_hooks(with_hook)


def _hooked_code(function: FunctionType, hook: Hook, *, operators: bool) -> CodeType | None:
    """Compile a function with the hook in every call, as the whole file has it."""
    old = function.__code__
    try:
        lines, first = _source_lines(old)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, IndentationError):
        return None
    ast.increment_lineno(tree, first - 1)
    instrumented = Instrumented(hook, old.co_filename, operators=operators)
    # Closed-over names must be those of a function around it.
    around = ast.parse(f"def {_AROUND}({', '.join(old.co_freevars)}): pass")
    around.body[0].body = tree.body  # type: ignore[attr-defined]
    ast.increment_lineno(around, 0)
    hooked = instrumented.visit(around)
    objects = {**instrumented.objects, **note_functions(hooked)}
    found = compile_again(hooked, old)
    if found is None:
        return None
    found = code_objects.with_names_of(found, old)
    code = code_objects.with_originals(with_objects(found, objects), old)
    return code_objects.mark_original(code, old)


def _source_lines(code: CodeType) -> tuple[list[str], int]:
    """Return the lines of a function's code, and the number of the first.

    `inspect` looks through all modules that are imported for the one that has them: it is asked
    only where there is no such file, as in an archive.

    Raises:
        OSError: there are none.
    """
    file, first = code.co_filename, code.co_firstlineno
    linecache.checkcache(file)
    if file not in linecache.cache and file[:1] != "<" and not os.path.exists(file):
        return inspect.getsourcelines(code)
    lines = linecache.getlines(file)[first - 1 :]
    if not lines:
        raise OSError(f"no line {first} of {file}")
    return inspect.getblock(lines), first


def compile_again(tree: ast.Module, old: CodeType) -> CodeType | None:
    """Compile a file anew; return the code that takes the place of an old one.

    None where it cannot be told from that of another function, as of two lambdas on a line.
    """
    features = (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
    flags = old.co_flags & sum(features)
    try:
        whole = ast.fix_missing_locations(tree)
        code = compile(whole, old.co_filename, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    alike = [each for each in code_objects.inner_codes(code) if _is_same(old, each)]
    return alike[0] if len(alike) == 1 and alike[0].co_freevars == old.co_freevars else None


def _is_same(old: CodeType, code: CodeType) -> bool:
    """Whether code has the name, the line and the arguments of an old one."""
    names = code.co_varnames[: code.co_argcount] == old.co_varnames[: old.co_argcount]
    return names and (code.co_name, code.co_firstlineno) == (old.co_name, old.co_firstlineno)


def with_objects(code: CodeType, objects: dict[str, Any]) -> CodeType:
    """Replace constants that stand for objects by these: so no name of the user's is taken."""
    consts: list[Any] = []
    for each in code.co_consts:
        if isinstance(each, CodeType):
            consts.append(with_objects(each, objects))
        else:
            consts.append(objects.get(each, each) if isinstance(each, str) else each)
    return code.replace(co_consts=tuple(consts))
