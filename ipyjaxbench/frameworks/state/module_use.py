"""What code uses of a module: names that it sets there, and what stands under those it reads."""

import builtins
import dis
import functools
import re
from collections.abc import Collection, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.frameworks.state.abstract_classes import registered_classes
from ipyjaxbench.frameworks.state.names import ClassNames, DictNames, Names, RegistryNames
from ipyjaxbench.frameworks.state.texts_in_code import (
    modules_by_text,
    names_by_text,
    runs_texts,
)
from ipyjaxbench.frameworks.state.undo import State
from ipyjaxbench.usercode import (
    class_dict,
    is_users_module,
    mro_of,
    names_in,
    names_of_module,
    package_of,
    texts_in,
)

_SETS = ("STORE_ATTR", "DELETE_ATTR")
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_SETS_GLOBAL = ("STORE_GLOBAL", "DELETE_GLOBAL")
#: With these, code may set any name of a module.
_SETS_ANY = frozenset(("setattr", "delattr", "vars", "__dict__"))
#: What functions are called that change what their library keeps: `copyreg.pickle`, `add_alias`.
_CHANGES = re.compile(
    r"(set|reset|install|add|capture|remove)(_|[A-Z])"
    r"|((un)?register|pickle|install|settrace|setprofile)(_|$)"
)


class CodeNames(NamedTuple):
    """The names in some code."""

    used: tuple[str, ...] = ()  # all of them, attributes among them
    stored: frozenset[str] = frozenset()  # those that it sets as attributes
    imported: frozenset[str] = frozenset()  # modules that it imports by itself
    texts: tuple[str, ...] = ()  # that are written in it
    by_text: frozenset[str] = frozenset()  # names that it comes to by these
    runs_texts: bool = False  # as code

    @property
    def changes_classes(self) -> bool:
        """Whether it sets attributes, or registers a class as one of another."""
        return bool(self.stored) or "register" in self.used


class Use(NamedTuple):
    """A module or a class, and the names in code that names it."""

    target: Any
    names: CodeNames

    @property
    def is_module(self) -> bool:
        """Whether it is a module."""
        return issubclass(type(self.target), ModuleType)

    @property
    def package(self) -> str:
        """The name of the package that it belongs to."""
        name = names_of_module(self.target).get("__name__") if self.is_module else None
        return name.partition(".")[0] if type(name) is str else package_of(self.target)

    @property
    def is_users(self) -> bool:
        """Whether the user wrote the module."""
        return self.is_module and is_users_module(self.target)

    @property
    def _is_registry(self) -> bool:
        """Whether code of its own sets its names, as in `torch._dynamo.config`."""
        kinds = (k for k in mro_of(type(self.target)) if k not in (ModuleType, object))
        return any("__setattr__" in class_dict(k) for k in kinds)

    def states(self) -> Iterator[State]:
        """Yield what the code sets there, and the classes that it registers."""
        if not self.is_module:
            yield ClassNames(self.target, self.names.stored)
            yield from registered_classes(self.target)
        elif (state := self._set_names()) is not None:
            yield state

    def _set_names(self) -> Names | None:
        """Return the names of a module that the code sets; None where it sets none."""
        sets_any = not _SETS_ANY.isdisjoint(self.names.used)
        if sets_any and (self.is_users or self.target is builtins):
            stored = None  # all of them
        elif not (stored := {*self.names.stored, *(self.names.texts if sets_any else ())}):
            return None
        elif not self.is_users and self._is_registry:
            return RegistryNames(self.target, self.names.stored)
        state = DictNames(names_of_module(self.target), stored)
        state.owner = self.target
        return state

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield what stands in a module under names in the code; of libraries' the data alone.

        Libraries keep caches beside their functions, which are theirs.
        """
        held, is_users = names_of_module(self.target) if self.is_module else {}, self.is_users
        for name in self.names.used:
            value = held.get(name)
            is_set = self.names.changes_classes and issubclass(type(value), type)
            is_data = issubclass(type(value), ModuleType) or not callable(value)
            if is_users or is_set or is_data or changes_registry(value):
                yield name, value


def changes_registry(value: object) -> bool:
    """Whether it is a function that is there to change what its library keeps."""
    return type(value) is FunctionType and _CHANGES.match(value.__name__) is not None


@functools.lru_cache(maxsize=4096)
def code_names(code: CodeType) -> CodeNames:
    """Return the names in the code of a function, and of those written in it."""
    found = [*dis.get_instructions(code)]
    stored = {str(each.argval) for each in found if each.opname in _SETS}
    imported = {str(each.argval) for each in found if each.opname == "IMPORT_NAME"}
    inner = [code_names(each) for each in code.co_consts if type(each) is CodeType]
    used, texts = names_in(code), texts_in(code)
    runs = runs_texts(str(each.argval) for each in found if each.opname in _LOADS)
    return CodeNames(
        used,
        frozenset(stored).union(*(each.stored for each in inner)),
        frozenset(imported).union(*(each.imported for each in inner), modules_by_text(used, texts)),
        texts,
        frozenset(names_by_text(used, texts, runs=runs)).union(*(each.by_text for each in inner)),
        runs or any(each.runs_texts for each in inner),
    )


@functools.lru_cache(maxsize=4096)
def globals_set_in(code: CodeType) -> frozenset[str]:
    """Return the globals that a function and those written in it set."""
    found = dis.get_instructions(code)
    own = {str(each.argval) for each in found if each.opname in _SETS_GLOBAL}
    inner = [globals_set_in(each) for each in code.co_consts if type(each) is CodeType]
    return frozenset(own).union(*inner)


def together(codes: Collection[CodeType]) -> CodeNames:
    """Return the names in several pieces of code."""
    found = [*map(code_names, codes)]
    used = dict.fromkeys(name for each in found for name in each.used)
    return CodeNames(
        tuple(used),
        frozenset().union(*(each.stored for each in found)),
        frozenset().union(*(each.imported for each in found)),
        tuple(dict.fromkeys(text for each in found for text in each.texts)),
        frozenset().union(*(each.by_text for each in found)),
        any(each.runs_texts for each in found),
    )
