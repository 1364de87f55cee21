"""All that calls can change in place, of what the code can reach by name."""

import dis
import functools
import random
import sys
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks.compilation import find_compiler
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.state.containers import Entries, Items
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.interpreter_settings import interpreter_states
from ipyjaxbench.frameworks.state.names import (
    CellName,
    ClassNames,
    DictNames,
    attribute_states,
)
from ipyjaxbench.frameworks.state.positions import position_states
from ipyjaxbench.frameworks.state.protocol import MutableState
from ipyjaxbench.frameworks.state.undo import Buffer, GeneratorState, State
from ipyjaxbench.usercode import (
    ask,
    is_exactly,
    is_users_class,
    is_users_function,
    is_users_module,
    items_of,
    module_of,
    mro_of,
    name_of,
    names_in,
    names_of_module,
    parts_of_callable,
)

_ATOMS = frozenset(
    map(id, (type(None), bool, int, float, complex, str, bytes, range, slice, CodeType))
)
#: What belongs to the session or to Python, not to the code; a few classes hold what users put in.
_NOT_ENTERED = {"IPython", "ipykernel", "ipyjaxbench", "traitlets", "zmq", "builtins"}
_ENTERED = {"types", "collections", "argparse", "queue", "functools", "copy"}
_STDLIB = sys.stdlib_module_names - _ENTERED
_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_MOST = 200_000  # objects that are looked at


class Held(NamedTuple):
    """What one object holds."""

    name: str  # of the user's variable by which the code reaches it first
    state: State  # what it holds
    key: int  # of the object, by which others that reach it know it


class Reachable:
    """Walks to all that calls can change; it runs no code of what it finds.

    Args:
        roots: values by the names under which the code knows them.
        frameworks: their arrays, modules and generators are known to them.
        budget: for copies.
        own: globals that others put back.
        of_user: leave out what objects of libraries hold, but for arrays.
        most: objects that are looked at.
        without: a framework whose arrays are left out.
    """

    def __init__(
        self,
        roots: Mapping[str, object],
        frameworks: Sequence[Framework],
        budget: CopyBudget,
        *,
        own: object = None,
        of_user: bool = False,
        most: int = _MOST,
        without: Framework | None = None,
    ) -> None:
        #: names that stand for an object of which nothing shows what it holds.
        self.opaque: set[str] = set()
        #: names of what holds too many objects to look at all of them.
        self.cut: dict[str, None] = {}
        self._frameworks, self._budget, self._own = frameworks, budget, own
        self._of_user, self._most, self._without = of_user, most, without
        self._left_out: dict[int, tuple[type, bool]] = {}
        self.names = {*roots}  # of the roots
        self._variables = {name: self._variable_of(name, each) for name, each in roots.items()}
        self._roots = {*map(id, roots.values())}
        self._seen: dict[int, object] = {}
        self._ahead: deque[tuple[str, Any]] = deque()
        for name, value in roots.items():
            self._look(name, (value,))

    def states(self) -> Iterator[Held]:
        """Yield what each object holds, the nearest first."""
        while self._ahead:
            name, value = self._ahead.popleft()
            try:
                found = [*self._states(name, value)]
            except CODE_ERRORS:  # whatever it answers, the others are looked at
                self._has_no_states(name, value)
                continue
            for state in found:
                variable = self._variables.get(name, name)
                yield Held(variable, state, id(value if state.owner is None else state.owner))
                self._look(name, state.parts)

    def _variable_of(self, name: str, value: Any) -> str:
        """Return the user's variable that a root is of; a method is of its object."""
        owner = name.rpartition(".")[0]
        if owner and callable(value):  # as in ``opt.step``
            return owner
        if not is_exactly(value, MethodType, BuiltinFunctionType):
            return name
        of = value.__self__
        if type(of) is ModuleType or not isinstance(self._own, dict):
            return name
        known = (n for n, each in [*self._own.items()] if each is of and not n.startswith("_"))
        return next(known, f"{name}.__self__")

    def _name_of_class(self, kind: Any, name: str) -> str:
        """Return a class's own name where that can be typed; else that of its object."""
        own = name_of(kind)
        return own if not isinstance(self._own, dict) or self._own.get(own) is kind else name

    def _look(self, name: str, values: Iterable[object]) -> None:
        # One that holds very many leaves as much to the others.
        most = len(self._seen) + (self._most - len(self._seen) + 1) // 2
        for value in values:
            kind = type(value)
            if id(kind) in _ATOMS or id(value) in self._seen:
                continue
            if len(self._seen) >= most:
                self.cut[name] = None
                return
            if self._without is None or not self._is_left_out(kind):
                self._seen[id(value)] = value
                self._ahead.append((name, value))

    def _is_left_out(self, kind: type) -> bool:
        """Whether arrays of a class are left out; by identity: a metaclass may define equality."""
        if id(kind) not in self._left_out:
            found = self._without is not None and ask(self._without.owns, kind)
            self._left_out[id(kind)] = kind, found
        return self._left_out[id(kind)][1]

    def _states(self, name: str, value: Any) -> Iterator[State]:
        kind = type(value)
        if (settings := interpreter_states(value)) is not None:
            yield from settings
            return
        if (state := self._state_of(value)) is not None:
            yield state
        elif issubclass(kind, tuple | frozenset):
            self._look(name, items_of(value, 0))
        elif issubclass(kind, type):
            yield from self._class_states(value)
            return
        elif compiler := find_compiler(value, self._frameworks):
            original = compiler.original(value)
            self._look(name, () if original is None else (original,))
            return
        elif issubclass(kind, FunctionType):
            yield from self._function_states(name, value)
        elif (parts := parts_of_callable(value)) is not None:
            self._look(name, parts)
        elif (moving := position_states(value, self._budget)) is not None:
            yield from moving
        else:
            yield from self._object_states(name, value)
            return
        yield from attribute_states(value)

    def _state_of(self, value: Any) -> State | None:
        """Return what a container, a buffer or a generator of Python's own holds."""
        kind = type(value)
        if issubclass(kind, list | set | deque):
            return Items(value)
        if issubclass(kind, dict):
            return Entries(value)
        if issubclass(kind, bytearray | array):
            return Buffer(value, self._budget)
        return GeneratorState.from_random(value) if issubclass(kind, random.Random) else None

    def _class_states(self, value: Any) -> Iterator[State]:
        if is_users_class(value):
            yield ClassNames(value)
            self._look(name_of(value), mro_of(value))

    def _function_states(self, name: str, function: FunctionType) -> Iterator[State]:
        self._look(name, (function.__defaults__, function.__kwdefaults__))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        closed = [CellName(*each) for each in cells]
        if not is_users_function(function):
            # Libraries keep caches there; what they were given is a function or an object.
            held = [v for each in closed for v in each.parts]
            self._look(name, [v for v in held if not issubclass(type(v), list | dict | set)])
            return
        used, stored = names_in(function.__code__), _globals_set_in(function.__code__)
        names = function.__globals__
        if stored and names is not self._own:
            yield DictNames(names, stored)
        for each in used:
            value = names.get(each)
            if type(value) is ModuleType and is_users_module(value):
                inside = names_of_module(value)
                for n in used:
                    self._look(f"{each}.{n}", (inside.get(n),))
            self._look(each, (value,))
        for state in closed:
            yield state
            for each, value in state.named:
                self._look(each, (value,))

    def _object_states(self, name: str, value: Any) -> Iterator[State]:
        for framework in self._frameworks:
            found = framework.capability(MutableState).states(value, self._budget)
            if found is not None:
                yield from found
                return
        kind = type(value)
        is_users = is_users_class(kind)
        if self._of_user and not is_users:
            return
        package = module_of(kind).partition(".")[0]
        if is_users:
            self._look(self._name_of_class(kind, name), (kind,))
        elif package in _STDLIB or package in _NOT_ENTERED or issubclass(kind, ModuleType):
            self._has_no_states(name, value)
            return
        yield from attribute_states(value)

    def _has_no_states(self, name: str, value: object) -> None:
        if id(value) in self._roots:
            self.opaque.add(name)


@functools.lru_cache(maxsize=4096)
def _globals_set_in(code: CodeType) -> frozenset[str]:
    """Return the globals that a function and those written in it set."""
    found = dis.get_instructions(code)
    own = {str(each.argval) for each in found if each.opname in _STORES}
    inner = [_globals_set_in(each) for each in code.co_consts if type(each) is CodeType]
    return frozenset(own).union(*inner)
