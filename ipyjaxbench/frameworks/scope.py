"""What is in play when code runs: the values that it reads and gives, and whose they are."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import CodeType

from ipyjaxbench.frameworks.accesses import find_accessed
from ipyjaxbench.frameworks.compilation import find_compiler
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.placement import Placement
from ipyjaxbench.frameworks.reachable_functions import find_reach
from ipyjaxbench.frameworks.walker import find_arrays
from ipyjaxbench.usercode import (
    Snippet,
    has_side_effects,
    is_users_function,
    look_up,
    mro_of,
    nodes_of,
    package_of,
)

#: With these, code may bind any name.
_BINDS_ANY = frozenset(("globals", "exec", "eval", "locals", "vars", "get_ipython", "f_globals"))


class Scope:
    """What the code can reach, as it is before the first call.

    Attributes:
        snippet: the code.
        read_values: what the names that the code reads stand for.
        functions: callables and modules that it can reach.
        captured: other values that the user's functions among them use, by name.
        called: what the code calls by dotted names, such as the function behind ``model.fit``.
        is_cut: whether it leads to more than is looked at.
        compiled: those among the functions that a framework compiles.
        inputs: where the arrays live that it reads.
    """

    def __init__(self, snippet: Snippet, frameworks: Sequence[Framework]) -> None:
        names = snippet.names
        self.snippet = snippet
        self.read_values = {n: names[n] for n in snippet.reads if n in names and n != "get_ipython"}
        self.called = dict(_called([*snippet.statements, *snippet.in_magics], self.read_values))
        reach = find_reach([*self.read_values.values(), *self.called.values()], frameworks)
        self.functions, self.captured, self.is_cut = reach
        self.compiled = [f for f in self.functions if find_compiler(f, frameworks)]
        read = find_accessed(snippet.statements, self.read_values, frameworks)
        self.inputs = find_placements(read, frameworks)

    @property
    def codes(self) -> list[CodeType]:
        """The code, and that of the user's functions that it can reach."""
        own = (function.__code__ for function in self.functions if is_users_function(function))
        return [*self.snippet.codes, *own]

    @property
    def may_bind_any_name(self) -> bool:
        """Whether the code, or a function that it reaches, may bind names that it does not show."""
        names = self.snippet.names
        own = (f for f in self.functions if is_users_function(f) and f.__globals__ is names)
        codes = (*self.snippet.codes, *(f.__code__ for f in own))
        return has_side_effects(codes, _BINDS_ANY)

    def find_frameworks(
        self, frameworks: Sequence[Framework], outputs: Sequence[Placement]
    ) -> list[Framework]:
        """Return the frameworks that own an array or a function here; else plain Python."""
        owners = {placement.framework for placement in (*self.inputs, *outputs)}
        # Each by itself: a large one leaves none of the others out.
        captured = (found for v in self.captured.values() for found in find_arrays(v, frameworks))
        owners |= {found.framework.name for found in captured}
        roots = {package_of(function) for function in self.functions}

        def is_in_play(f: Framework) -> bool:
            compiles = any(find_compiler(c, [f]) for c in self.compiled)
            return compiles or f.name in owners or f.module in roots

        named = [f for f in frameworks if f.module != "builtins" and is_in_play(f)]
        return named or [f for f in frameworks if f.module == "builtins"]

    def libraries(self, frameworks: Sequence[Framework]) -> dict[str, str]:
        """Return versions of other libraries whose modules, functions or objects the code names."""
        versions = {}
        theirs = {framework.module for framework in frameworks} | {"ipyjaxbench"}
        for value in _named(self.read_values.values()):
            kind = type(value)
            is_theirs = any(framework.owns(kind) for framework in frameworks)
            if is_theirs or any(value is each for each in self.compiled):
                continue
            for root in {package_of(value), *(package_of(each) for each in mro_of(kind))}:
                if root not in theirs and root not in sys.stdlib_module_names:
                    version = vars(sys.modules.get(root, sys)).get("__version__")
                    if isinstance(version, str):
                        versions[root] = version
        return versions


def find_placements(
    values: Mapping[str, object], frameworks: Sequence[Framework]
) -> tuple[Placement, ...]:
    """Return where the arrays under each name live: one line per name and framework."""
    placements = []
    for name, value in values.items():
        by_framework: dict[str, list[Placement]] = {}
        for framework, array in find_arrays(value, frameworks):
            by_framework.setdefault(framework.name, []).append(framework.placement(array))
        placements += [Placement.together(name, parts) for parts in by_framework.values()]
    return tuple(placements)


def _named(values: Iterable[object]) -> Iterator[object]:
    """Yield values, and what the user's functions among them name."""
    for value in values:
        yield value
        if is_users_function(value):
            names, known = value.__code__.co_names, value.__globals__
            yield from (known[name] for name in names if name in known)


def _called(
    statements: Sequence[ast.stmt], values: Mapping[str, object]
) -> Iterator[tuple[str, object]]:
    """Yield what code calls by a dotted name, as ``trainer.step(...)``, running no attribute."""
    for node in nodes_of(statements):
        if isinstance(node, ast.Call):
            callee = look_up(node.func, values)
            if callee is not None:
                yield ast.unparse(node.func), callee
