"""What a library keeps beside its functions, where a function is there to change it."""

from collections.abc import Iterator, Sequence
from types import FunctionType

from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.state.module_use import changes_registry, globals_set_in
from ipyjaxbench.frameworks.state.names import DictNames
from ipyjaxbench.frameworks.state.undo import Holder, State
from ipyjaxbench.usercode import is_exactly, names_in, package_of


def registry_states(function: FunctionType, frameworks: Sequence[Framework]) -> Iterator[State]:
    """Yield globals that such a function sets, and dictionaries, lists and sets that it reads.

    Args:
        function: of a library.
        frameworks: their settings are known to them.
    """
    package = package_of(function)
    if not changes_registry(function) or any(f.module == package for f in frameworks):
        return
    held = function.__globals__
    if stored := globals_set_in(function.__code__):
        yield DictNames(held, stored)
    read = [held[name] for name in names_in(function.__code__) if name in held]
    yield Holder(None, [each for each in read if is_exactly(each, dict, list, set)])
