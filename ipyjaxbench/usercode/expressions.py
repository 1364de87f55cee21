"""Expressions that a magic is given, with blanks between them."""

import ast
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType

from ipyjaxbench.errors import OptionError
from ipyjaxbench.usercode.awaiting import run
from ipyjaxbench.usercode.snippet import Source


def evaluate_expressions(
    names: Mapping[str, object],
    code: str,
    source: Callable[[str], Source] = Source.plain,
    like: Iterable[str] | None = None,
) -> dict[str, object]:
    """Return the values of expressions that stand side by side, as in ``x params["w"] model``.

    Args:
        names: in which they are evaluated.
        code: the expressions, with blanks between them.
        source: makes one of them known to tracebacks.
        like: names that may be meant where one does not exist; by default all.

    Raises:
        OptionError: it cannot be read, or a name does not exist; one spelled alike is told.
    """
    __tracebackhide__ = True
    values = {}
    for expression in [*split_expressions(code)]:  # nothing is run of what cannot be read
        try:
            values[expression] = run(_read(source(expression)), dict(names))
        except NameError as error:
            near = difflib.get_close_matches(
                error.name or "", [*(names if like is None else like)], 1
            )
            hint = f" Did you mean {near[0]}?" if near else ""
            raise OptionError(f"{expression}: name {error.name!r} is not defined.{hint}") from None
    return values


def is_display(expression: str) -> bool:
    """Whether an expression writes out a container, whose parts need no longer name than theirs.

    >>> is_display("{'a': x}"), is_display("dict(a=x)"), is_display("params"), is_display("f(x)")
    (True, True, False, False)
    """
    try:
        tree = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError):  # a name for a value, as "value 1"
        return False
    if isinstance(tree, ast.Call):
        return isinstance(tree.func, ast.Name) and tree.func.id in ("dict", "list", "tuple")
    return isinstance(tree, ast.Dict | ast.List | ast.Tuple)


def _read(source: Source) -> CodeType:
    (only,) = source.tree.body
    assert isinstance(only, ast.Expr)
    return source.compiled(ast.Expression(only.value))


def split_expressions(code: str) -> Iterator[str]:
    """Yield expressions that stand side by side: each as long as what is left can still be read.

    Raises:
        OptionError: it cannot be read.

    Example:
        >>> [*split_expressions("x params['w'] f(x, y)")]
        ['x', "params['w']", 'f(x, y)']
    """
    words = code.split()
    while words:
        for length in range(1, len(words) + 1):
            expression = " ".join(words[:length])
            if _is_expression(expression):
                yield from _parts_of(expression)
                words = words[length:]
                break
        else:
            raise OptionError(f"{code}: type names or expressions, separated by spaces")


def _parts_of(expression: str) -> list[str]:
    """Expressions between which there are commas, as people type them; else the only one."""
    if not isinstance(ast.parse(expression, mode="eval").body, ast.Tuple):
        return [expression]
    listed = f"[{expression}]"  # where a tuple in brackets is one part
    parts = ast.parse(listed, mode="eval").body
    assert isinstance(parts, ast.List)
    return [part for each in parts.elts if (part := ast.get_source_segment(listed, each))]


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
