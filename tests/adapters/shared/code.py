"""Functions of some code, and the statements in them, for tests of rules."""

import ast
import linecache
import textwrap
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from ipyjaxbench.adapters.shared.diagnosis.source_edit import Edit, Rule, Site, sites


def names_of(text: str, **names: Any) -> dict[str, Any]:
    """Return the names after some code of a user's, whose source can be read."""
    return _run(text, {"__name__": "__main__", **names})


def function_of(text: str, **names: Any) -> FunctionType:
    """Return the last function of some code, whose source can be read."""
    return [value for value in _run(text, names).values() if type(value) is FunctionType][-1]


def _run(text: str, names: dict[str, Any]) -> dict[str, Any]:
    text = textwrap.dedent(text).strip() + "\n"
    file = f"<code {len(linecache.cache)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), names)
    return names


def site_of(*lines: str, at: int = 0, **names: Any) -> Site:
    """Return the statement at one of some lines, as the body of a function of x, y and n."""
    text = "def f(x, y, n):\n" + textwrap.indent("\n".join(lines), "    ")
    (definition,) = ast.parse(text).body
    assert isinstance(definition, ast.FunctionDef)
    return [*sites(definition, 2 + at, function_of(text, **names))][-1]


def written(edits: Iterable[Edit]) -> list[str]:
    """Return the new statements of each edit as text."""
    return ["\n".join(ast.unparse(ast.fix_missing_locations(new)) for new in edit.new)
            for edit in edits]  # fmt: skip


def applied(rule: Rule, *lines: str, at: int = 0, **names: Any) -> list[str]:
    """Return what a rule writes in place of a statement."""
    return written(rule(site_of(*lines, at=at, **names)))
