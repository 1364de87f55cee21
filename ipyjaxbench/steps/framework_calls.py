"""Which calls of a cell lead to a framework, before anything runs."""

import ast
from collections.abc import Mapping

from ipyjaxbench.frameworks import loaded
from ipyjaxbench.steps.line_kinds import LineKinds, computing
from ipyjaxbench.usercode import FUNCTION_NODES


class FrameworkCalls:
    """Says whether a call leads to a framework.

    A function that the cell itself defines does so where its code names the framework.

    Args:
        tree: the cell.
        names: its namespace.
    """

    def __init__(self, tree: ast.Module, names: Mapping[str, object]) -> None:
        frameworks = computing(loaded()[0])
        self._kinds, self._names = LineKinds(frameworks, ()), names
        self._roots = {each.module for each in frameworks} | {"jax", "torch", "tensorflow", "keras"}
        self._defined: dict[str, ast.AST] = {}
        self._imported: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, FUNCTION_NODES) and not isinstance(node, ast.Lambda):
                self._defined[node.name] = node
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self._defined.setdefault(target.id, node.value)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._note_import(node)

    def __call__(self, call: ast.Call) -> bool:
        """Return whether this one does."""
        if self._kinds.framework_of_call(call, self._names):
            return True
        return any(
            isinstance(node, ast.Name) and self._names_framework(node.id, 3)
            for node in ast.walk(call.func)
        )

    def _note_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            module = getattr(node, "module", None) or alias.name
            if module.partition(".")[0] in self._roots:
                self._imported.add((alias.asname or alias.name).partition(".")[0])

    def _names_framework(self, name: str, depth: int) -> bool:
        """Whether a name stands for a framework, or for code of the cell that names one."""
        if name in self._imported:
            return True
        value = self._names.get(name)
        if getattr(value, "__name__", "") in self._roots:
            return True
        found = self._defined.get(name)
        if found is None or not depth:
            return False
        inside = (node.id for node in ast.walk(found) if isinstance(node, ast.Name))
        return any(self._names_framework(each, depth - 1) for each in {*inside} - {name})
