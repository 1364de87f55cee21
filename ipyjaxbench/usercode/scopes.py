"""The names that a function's code sees, and a path for each that no other one has."""

import itertools
import sys
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.util import resolve_name
from types import FunctionType, ModuleType
from typing import Any

from ipyjaxbench.usercode.code_objects import closure_values, original
from ipyjaxbench.usercode.imprints import WITHIN
from ipyjaxbench.usercode.members import MISSING
from ipyjaxbench.usercode.name_chains import Chain, chains


class Scopes:
    """Globals, what a function closes over, and arguments that are known.

    Args:
        function: the function.
        arguments: by the names of its parameters.
    """

    def __init__(self, function: FunctionType, arguments: Mapping[str, object]) -> None:
        code = original(function.__code__)
        cells = function.__closure__ or ()
        self.chains = chains(code)
        self._values: dict[str, Mapping[str, Any]] = {
            "global": function.__globals__,
            "closure": dict(closure_values(function)),
            "argument": arguments,
            "module": sys.modules,
        }
        first = next(iter(arguments.values()), None)
        #: Tells functions apart that share their code, as those that one factory makes.
        self.key = (id(function.__code__), id(first), *map(id, cells))
        self.globals = function.__globals__
        self._places = {
            "global": id(self.globals),
            "argument": id(function),
            "module": id(sys.modules),
        }
        self._cells = dict(zip(code.co_freevars, cells, strict=True))
        #: What `super()` stands for in it, without a name: its first argument.
        self.given = [*arguments.items()][:1] if "__class__" in code.co_freevars else []

    def value(self, chain: Chain) -> Any:
        """Return what the name of a chain stands for; `MISSING` if nothing."""
        return self._values[chain.scope].get(self.key_of(chain), MISSING)

    def names(self, chain: Chain) -> Mapping[str, Any] | None:
        """Return the globals, or the modules, in which a name stands; None of all others."""
        return self._values[chain.scope] if chain.scope in ("global", "module") else None

    def key_of(self, chain: Chain) -> str:
        """Return the name of a chain; of a module of the same package the whole one."""
        package = self.globals.get("__package__")
        if chain.scope == "module" and chain.name.startswith(".") and type(package) is str:
            with suppress(ImportError):  # it leads beyond the package
                return resolve_name(chain.name, package)
        return chain.name

    def place(self, chain: Chain) -> Hashable:
        """Return what tells its name from the same one elsewhere."""
        return self._places.get(chain.scope) or id(self._cells[chain.name])


def named_around(function: FunctionType) -> Iterator[object]:
    """Yield what its code names around it, as ``jit`` and ``jax.jit``: through modules only."""
    scopes = Scopes(function, {})
    for chain in scopes.chains:
        value = scopes.value(chain)
        yield value
        for kind, key in chain.steps:
            if kind != "attribute" or type(value) is not ModuleType:
                break
            value = vars(value).get(key)
            yield value


def module_named(names: Mapping[str, Any]) -> str:
    """Return the name of the module whose globals these are; "" of the session's own."""
    name = names.get("__name__")
    return name if type(name) is str and name != "__main__" else ""


class Paths:
    """Gives the same name in two places two paths, as in ``w`` and ``w of layer_2``."""

    def __init__(self) -> None:
        self._places: dict[str, Hashable] = {}
        self._first: Mapping[str, Any] | None = None  # globals of the function that is read first

    def of_chain(self, scopes: Scopes, chain: Chain, whose: str) -> str:
        """Return the path of a chain's name: of a global of another module as in ``cfg.scale``."""
        self._first = scopes.globals if self._first is None else self._first
        is_far = chain.scope == "global" and scopes.globals is not self._first
        module = module_named(scopes.globals) if is_far else ""
        name = scopes.key_of(chain)
        return self.of(f"{module}.{name}" if module else name, scopes.place(chain), whose)

    def of(self, name: str, place: Hashable, whose: str) -> str:
        """Return the path of a name; `whose` is that of the function that reads it."""
        more = (f"{name} of {whose} ({count})" for count in itertools.count(2))
        paths = itertools.chain([name, f"{name} of {whose}"], more)
        return next(path for path in paths if self._places.setdefault(path, place) == place)

    def below(self, found: Iterable[str], names: Collection[str], place: Hashable) -> Iterator[str]:
        """Yield those paths that begin with what names in a place stand for."""
        at = (path for path, each in self._places.items() if each == place)
        roots = tuple(path for path in at if path.partition(" of ")[0] in names)
        starts = tuple(root + end for root in roots for end in (".", "[", WITHIN))
        yield from (path for path in found if path in roots or path.startswith(starts))
