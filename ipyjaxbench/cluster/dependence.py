"""Whether code depends on a name. Looks, never calls."""

import ast
from collections.abc import Sequence

from ipyjaxbench.frameworks import find_reach, loaded
from ipyjaxbench.usercode import Namespace, Snippet, Source, is_users_function, names_in


def depends(parts: Sequence[str | None], name: str, names: Namespace) -> bool:
    """Return whether the last part of code reads a name, or what the parts before it make of it.

    A statement makes what it binds, and changes what it reads where it binds nothing. Functions of
    the user's count as code that calls them.

    Args:
        parts: code that runs one after the other; None for nothing.
        name: that it may depend on.
        names: in which it runs.

    Example:
        >>> depends(["n = 8 // engines; m = 1", "range(n)"], "engines", {})
        True
        >>> depends(["n = 8 // engines; m = 1", "range(m)"], "engines", {})
        False
    """
    *before, last = (part for part in parts if part)
    made = {name}
    for part in before:
        for statement in ast.parse(part).body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            own = Snippet(Source.plain(ast.unparse(statement)), names)
            if _reads(own, made, name):
                made |= {*(own.binds or own.reads)}
    return _reads(Snippet(Source.plain(last), names), made, name)


def _reads(snippet: Snippet, made: set[str], name: str) -> bool:
    """Return whether code reads what was made of a name, or calls functions that read the name."""
    values = [snippet.names[each] for each in snippet.reads if each in snippet.names]
    functions = (f for f in find_reach(values, loaded()[0]).functions if is_users_function(f))
    return not made.isdisjoint(snippet.reads) or any(
        name in names_in(f.__code__) for f in functions
    )
