"""Whether some code comes to a framework that compiles functions as they stand, as PyTorch does."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from ipyjaxbench.frameworks import find_reach, loaded
from ipyjaxbench.retracing.protocol import CallWatch, Watches
from ipyjaxbench.usercode import (
    Namespace,
    ask,
    is_of,
    is_users_function,
    is_users_module,
    name_of,
    names_in,
    names_of_module,
    package_of,
)

#: Names under which frameworks compile what they are given, and by which code comes to any other.
_COMPILING = {
    *("compile", "export", "script", "trace", "optimize", "dynamo", "_dynamo", "fx"),
    *("exec", "eval", "globals", "__import__", "import_module", "run_cell", "run_line_magic"),
}


def may_compile_code(code: CodeType, names: Namespace, watches: Watches) -> bool:
    """Whether code may call, or make, a function that is compiled as it stands."""
    frameworks = {f.module: watch for f, watch in watches if watch.compiles_code}
    if not frameworks:
        return False
    used = names_in(code)
    if len(frameworks) == len(watches) or not _COMPILING.isdisjoint(used):
        return True
    values = [names[name] for name in used if name in names]
    known = loaded()[0]
    reach = find_reach(values, known)
    if any(package_of(each) in frameworks for each in reach.functions):
        return True
    reached = (*values, *reach.functions, *reach.values.values())
    if any(_compiles(each, frameworks.values()) for each in reached):
        return True
    theirs = {framework.module for framework in known} | {"", "__main__"}
    places = {_place(each) for each in reached}
    places = {each for each in places if each.partition(".")[0] not in theirs}
    count = len(sys.modules)
    return any(_uses(each, framework, count) for each in places for framework in frameworks)


def _compiles(value: Any, watches: Iterable[CallWatch]) -> bool:
    """Whether a value is compiled so, or is a function that compiles."""
    if is_users_function(value) and not _COMPILING.isdisjoint(names_in(value.__code__)):
        return True
    return any(ask(watch.takes, value) for watch in watches)


def _place(value: Any) -> str:
    """Return the library that a value is of, or the user's own module; "" for Python's own.

    Functions and objects of the user's were followed to what they use.
    """
    if is_of(value, ModuleType) and is_users_module(value):
        return name_of(value)
    package = package_of(value)
    module = sys.modules.get(package)
    is_users = module is not None and is_users_module(module)
    return "" if is_users or package in sys.stdlib_module_names else package


@lru_cache(maxsize=256)
def _uses(place: str, framework: str, _: int) -> bool:
    """Whether a library, or a module, has a framework, or something of it, among its names.

    That may be another answer where there is another number of modules.
    """
    return any(package_of(value) == framework for value in _values_in(place, [*sys.modules]))


def _values_in(place: str, modules: Sequence[str]) -> Iterator[Any]:
    """Yield the modules and functions that modules of a library name."""
    for name in modules:
        if name == place or name.startswith(f"{place}."):
            module = sys.modules.get(name)
            if is_of(module, ModuleType):
                own = [*names_of_module(module).values()]
                yield from (each for each in own if is_of(each, ModuleType) or callable(each))
