"""What code uses of a module: names that it sets there, and what stands under those it reads."""

import dis
import functools
from collections.abc import Collection, Iterator
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.frameworks.state.names import DictNames
from ipyjaxbench.usercode import is_users_module, names_in, names_of_module

_SETS = ("STORE_ATTR", "DELETE_ATTR")
#: With these, code may set any name of a module.
_SETS_ANY = frozenset(("setattr", "delattr", "vars", "__dict__"))


class CodeNames(NamedTuple):
    """The names in some code."""

    used: tuple[str, ...] = ()  # all of them, attributes among them
    stored: frozenset[str] = frozenset()  # those that it sets as attributes


class ModuleUse(NamedTuple):
    """A module, and the names in code that names it."""

    module: ModuleType
    names: CodeNames

    @property
    def package(self) -> str:
        """The name of the package that the module belongs to."""
        name = names_of_module(self.module).get("__name__")
        return name.partition(".")[0] if type(name) is str else ""

    @property
    def is_users(self) -> bool:
        """Whether the user wrote the module."""
        return is_users_module(self.module)

    def state(self) -> DictNames | None:
        """Return what the code sets in the module; None where it sets nothing."""
        sets_any = self.is_users and not _SETS_ANY.isdisjoint(self.names.used)
        if not (sets_any or self.names.stored):
            return None
        held = names_of_module(self.module)
        state = DictNames(held, [*held] if sets_any else self.names.stored)
        state.owner = self.module
        return state

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield what stands in the module under names in the code; of libraries' the data alone.

        Libraries keep caches beside their functions, which are theirs.
        """
        held, is_users = names_of_module(self.module), self.is_users
        for name in self.names.used:
            value = held.get(name)
            if is_users or issubclass(type(value), ModuleType) or not callable(value):
                yield name, value


@functools.lru_cache(maxsize=4096)
def code_names(code: CodeType) -> CodeNames:
    """Return the names in the code of a function, and of those written in it."""
    return CodeNames(names_in(code), _stored(code))


def together(codes: Collection[CodeType]) -> CodeNames:
    """Return the names in several pieces of code."""
    found = [*map(code_names, codes)]
    used = dict.fromkeys(name for each in found for name in each.used)
    return CodeNames(tuple(used), frozenset().union(*(each.stored for each in found)))


def _stored(code: CodeType) -> frozenset[str]:
    own = {str(each.argval) for each in dis.get_instructions(code) if each.opname in _SETS}
    inner = (_stored(each) for each in code.co_consts if type(each) is CodeType)
    return frozenset(own).union(*inner)
