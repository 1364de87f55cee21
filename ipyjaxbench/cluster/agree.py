"""Whether all ranks are about to do the same: other code in one of them is a hang to come."""

import ast
import builtins
import dataclasses
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ipyjaxbench.cluster.errors import RankError
from ipyjaxbench.cluster.rendezvous import Rendezvous
from ipyjaxbench.timing import TimeOptions
from ipyjaxbench.usercode import Snippet

_UNDEFINED = "names that are not defined"
#: What they hold may not run, or later.
_CONDITIONAL = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.While, ast.Match, ast.Try, ast.TryStar),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
)


def facts_of(
    snippet: Snippet, options: TimeOptions, setup: Snippet | None = None
) -> dict[str, Any]:
    """Return what must be equal in all ranks, by what it is called in messages."""
    missing = set(_undefined([setup, snippet] if setup else [snippet]))
    return {
        "code": snippet.text,
        "setup": setup.text if setup else "",
        "options": dataclasses.asdict(options),
        _UNDEFINED: sorted(missing),
        "version of ipyjaxbench": vars(sys.modules["ipyjaxbench"])["__version__"],
    }


def _undefined(steps: Sequence[Snippet]) -> Iterator[str]:
    """Yield names without a value that code is certain to read, and does not bind itself."""
    bound = set(dir(builtins))
    for step in steps:
        bound |= set(step.binds) - set(step.carried) | step.names.keys()
        certain = {node.id for each in step.statements for node in _names(each)}
        yield from (name for name in step.reads if name in certain - bound)


def _names(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names in code that runs whatever happens."""
    if isinstance(node, ast.Name):
        yield node
    if not isinstance(node, _CONDITIONAL):
        for child in ast.iter_child_nodes(node):
            yield from _names(child)


def agree(rendezvous: Rendezvous, facts: dict[str, Any]) -> None:
    """Compare what all ranks are about to do.

    Raises:
        RankError: one differs from rank 0; all ranks raise it.
    """
    if not rendezvous.leads:
        rendezvous.write(f"facts/{rendezvous.job.rank}", facts)
        refused = rendezvous.follow()
    else:
        others = {
            rank: rendezvous.read(f"facts/{rank}", rank) for rank in range(1, rendezvous.job.size)
        }
        refused = next(filter(None, (_difference(r, facts, o) for r, o in others.items())), "")
        rendezvous.release(refused)
    if refused:
        raise RankError(refused)


def _difference(rank: int, first: dict[str, Any], other: dict[str, Any]) -> str:
    """Say in which fact a rank differs from rank 0; "" where it differs in none."""
    for number, facts in ((0, first), (rank, other)):
        if facts[_UNDEFINED]:
            return f"name {facts[_UNDEFINED][0]!r} is not defined in rank {number}"
    for name, value in first.items():
        if other[name] != value:
            return f"rank {rank} has other {name} than rank 0: {other[name]!r}, not {value!r}"
    return ""
