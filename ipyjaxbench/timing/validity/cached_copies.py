"""Arrays that keep the copy on the host that the first call made of them."""

import ast
from collections.abc import Collection, Iterator, Sequence

from ipyjaxbench.device.protocol import ArrayInspector
from ipyjaxbench.frameworks import Framework
from ipyjaxbench.frameworks.scope import Scope
from ipyjaxbench.reports.note import Note
from ipyjaxbench.timing.validity import notes
from ipyjaxbench.usercode.call import called

#: What makes a NumPy array or a Python number of what it is given, or of what it is called on.
_CONVERTS = {"asarray", "array", "device_get", "float", "int", "bool", "complex"}
_CONVERTS_SELF = {"tolist", "item"}


def kept_copies(
    scope: Scope, remade: Collection[str], frameworks: Sequence[Framework], per_call: float
) -> Iterator[Note]:
    """Arrays that are converted in each call, where all but the first find the copy kept.

    Args:
        scope: the code, and what its names stood for before the first call.
        remade: names that are bound anew before each call.
        frameworks: asked about their arrays.
        per_call: seconds of a call.

    Returns:
        A Note for each whose conversion takes more than all of the call.
    """
    for name, framework in converted(scope, frameworks).items():
        taken = (
            None
            if name in remade
            else framework.capability(ArrayInspector).conversion(scope.read_values[name])
        )
        if taken and taken[0] - taken[1] > per_call:
            yield notes.copy_kept(name, taken[0])


def converted(scope: Scope, frameworks: Sequence[Framework]) -> dict[str, Framework]:
    """Names of arrays that keep the copy that the code makes of them, with their frameworks."""
    names = _converted(scope.snippet.statements) - set(scope.snippet.binds)
    values = {name: scope.read_values[name] for name in sorted(names & scope.read_values.keys())}
    return {n: f for n, v in values.items() for f in frameworks
            if f.keeps_copies and f.owns(type(v))}  # fmt: skip


def _converted(statements: Sequence[ast.stmt]) -> set[str]:
    """Names whose values the code makes NumPy arrays or Python numbers of."""
    calls = [n for n in ast.walk(ast.Module(list(statements), [])) if isinstance(n, ast.Call)]
    given = [c.args[0] for c in calls if c.args and called(c) in _CONVERTS]
    owners = [c.func.value for c in calls
              if isinstance(c.func, ast.Attribute) and c.func.attr in _CONVERTS_SELF]  # fmt: skip
    return {node.id for node in (*given, *owners) if isinstance(node, ast.Name)}
