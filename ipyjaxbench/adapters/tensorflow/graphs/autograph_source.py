"""An expression that is no call, as a function whose source AutoGraph can read.

The lambda that is made of it stands in no file, and so AutoGraph would run it as it is, with the
functions that it calls.
"""

import ast
import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ipyjaxbench.usercode import Call

_TYPED = "<typed>"  # before the name of the file in which the expression was typed


@contextmanager
def make_readable(call: Call) -> Iterator[Call]:
    """Replace the lambda of an expression by a function that can be read meanwhile.

    Yields:
        The call; its lines are those of the cell.
    """
    if call.made_of is None:
        yield call
        return
    made: Any = call.function
    file, names = _TYPED + made.__code__.co_filename, dict[str, Any]()
    # All on one line, with the number that the user sees.
    text = "\n" * (made.__code__.co_firstlineno - 1)
    text += f"def typed({', '.join(call.labels)}): return {ast.unparse(call.made_of)}\n"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    try:
        exec(compile(text, file, "exec"), made.__globals__, names)  # noqa: S102
        yield replace(call, function=names["typed"])
    finally:
        linecache.cache.pop(file, None)


def cell_file(file: str) -> str:
    """Return the file that the user sees."""
    return file.removeprefix(_TYPED)


def is_made(file: str) -> bool:
    """Whether a file is one that was made of an expression."""
    return file.startswith(_TYPED)
