"""All that calls can change in place, of what the code can reach by name."""

import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from ipyjaxbench.errors import CODE_ERRORS
from ipyjaxbench.frameworks.compilation import Compilation, find_compiler
from ipyjaxbench.frameworks.framework import Framework
from ipyjaxbench.frameworks.state.builtin_objects import container_states, states_of_python
from ipyjaxbench.frameworks.state.copy_budget import CopyBudget
from ipyjaxbench.frameworks.state.definitions import (
    class_states,
    closed_names,
    function_states,
    parts_of,
    parts_of_class,
)
from ipyjaxbench.frameworks.state.figures import open_figures
from ipyjaxbench.frameworks.state.files import NamedFiles
from ipyjaxbench.frameworks.state.interpreter_settings import (
    interpreter_settings,
    interpreter_states,
)
from ipyjaxbench.frameworks.state.library_settings import library_settings, sees_settings
from ipyjaxbench.frameworks.state.looks import MOST, Looks
from ipyjaxbench.frameworks.state.module_use import CodeNames, Use, code_names
from ipyjaxbench.frameworks.state.names import attribute_states
from ipyjaxbench.frameworks.state.plain_values import ATOMS, ArrayKinds, are_plain
from ipyjaxbench.frameworks.state.positions import position_states
from ipyjaxbench.frameworks.state.protocol import MutableState
from ipyjaxbench.frameworks.state.registries import registry_states
from ipyjaxbench.frameworks.state.standard_objects import (
    cache_states,
    is_own_part,
    standard_states,
    states_of_base,
)
from ipyjaxbench.frameworks.state.texts_in_code import names_in_variables
from ipyjaxbench.frameworks.state.undo import Held, State, Unseen
from ipyjaxbench.frameworks.state.variables import name_of_class, variable_of
from ipyjaxbench.usercode import (
    attributes,
    is_users_class,
    is_users_function,
    items_of,
    module_of,
    name_of,
)

#: What belongs to the session, not to the code.
_NOT_ENTERED = {"IPython", "ipykernel", "ipyjaxbench", "traitlets", "zmq", "builtins"}
_NO_NAMES = CodeNames()
_LOCK = type(threading.Lock())  # one that is not named may be another thread's for a moment


class Reachable:
    """Walks to all that calls can change; it runs no code of what it finds.

    Args:
        roots: values by the names under which the code knows them.
        frameworks: their arrays, modules and generators are known to them.
        budget: for copies.
        own: globals that others put back.
        names: in the code that names the roots, by which it uses modules among them.
        of_user: leave out what objects of libraries hold, but for arrays.
        most: objects that are looked at, as `Looks` counts them.
        without: a framework whose arrays are left out.
    """

    def __init__(
        self,
        roots: Mapping[str, object],
        frameworks: Sequence[Framework],
        budget: CopyBudget,
        *,
        own: Mapping[str, object] | None = None,
        names: CodeNames = _NO_NAMES,
        of_user: bool = False,
        most: int = MOST,
        without: Framework | None = None,
    ) -> None:
        #: names that stand for an object of which nothing shows what it holds.
        self.opaque: set[str] = set()
        #: names of what is too large to look at all of it, with bytes that were not read.
        self.cut: dict[str, int] = {}
        self._frameworks, self._own = frameworks, own
        self._budget = self._whole = budget  # of what is looked at now; of all
        self._of_user, self._looks = of_user, Looks(most, frameworks)
        self._arrays = ArrayKinds(*frameworks)
        self._left_out = ArrayKinds(*filter(None, [without]))
        self.names = {*roots}  # of the roots
        self._variables = {n: variable_of(n, each, own) for n, each in roots.items()}
        self._roots = {*map(id, roots.values())}
        self._ahead: deque[tuple[str, Any, CopyBudget]] = deque()
        self._packages: dict[str, None] = {}  # whose settings the code may change
        self._met: dict[str, None] = {}  # frameworks of which values were found, as modules
        self._uses: set[tuple[int, CodeNames]] = set()
        self._files = NamedFiles()
        self._files.add_code(names)
        for name, value in roots.items():
            self._look_at_named(name, value, names)
        self._look_up(own or {}, names)

    def states(self) -> Iterator[Held]:
        """Yield what each object holds, the nearest first, and settings at the end."""
        yield from self.objects()
        for name, state in open_figures() if not self._of_user else ():
            yield Held(name, state, id(state))
        for package in {**self._packages, **self._met} if not self._of_user else ():
            try:
                found = [*self._settings(package)]
            except CODE_ERRORS:  # of a version that has them in another place
                continue
            for name, state in found:
                yield Held(name, state, hash((package, name)))
                self._look(name, state.parts)
        yield from self.objects()
        for path, state in self._files.states() if not self._of_user else ():
            yield Held(path, state, id(state))
        self.cut |= {name: self.cut.get(name, 0) for name in self._files.cut()}

    def _settings(self, package: str) -> Iterator[tuple[str, State]]:
        own = [f.capability(MutableState) for f in self._frameworks if f.module == package]
        if package in self._packages:
            yield from interpreter_settings(package)
            yield from library_settings(package)
            for each in own:
                yield from each.settings()
        for each in own:
            yield from each.left_anywhere()

    def objects(self) -> Iterator[Held]:
        """Yield what each object holds, the nearest first."""
        while self._ahead:
            name, value, budget = self._ahead.popleft()
            self._budget = budget
            look = self._use_states if type(value) is Use else self._states
            if self._arrays.framework_of(type(value)):  # of these there may be very many
                look = self._object_states
            try:
                found = [*look(name, value)]
            except CODE_ERRORS:  # whatever it answers, the others are looked at
                self._has_no_states(name, value)
                continue
            for state in found:
                variable = self._variables.get(name, name)
                owner = value.target if type(value) is Use else value
                yield Held(variable, state, id(owner if state.owner is None else state.owner))
                if not state.is_read:
                    self.cut[name] = self.cut.get(name, 0) + state.nbytes
                self._budget = budget.part(state.data_bytes)
                self._look(name, state.parts)
        self._budget = self._whole

    def _look(self, name: str, values: Iterable[object]) -> None:
        most = self._looks.half()
        several = values if type(values) is list else [*values]
        if len(several) > self._budget.most_items:  # they are plain ones, or that is told
            self.cut |= {} if are_plain(several) else {name: self.cut.get(name, 0)}
            return
        for value in several:
            kind = type(value)
            if type(value) is str:
                self._files.add_part(name, value)
            if id(kind) in ATOMS or self._looks.has(value) or self._left_out.framework_of(kind):
                continue
            if not self._looks.take(value, most):
                self.cut.setdefault(name, 0)
                return
            self._ahead.append((name, value, self._budget))

    def _look_at_named(self, name: str, value: Any, names: CodeNames) -> None:
        """Look at what a name in some code stands for."""
        self._files.add_value(value)
        is_module, is_class = (issubclass(type(value), kind) for kind in (ModuleType, type))
        use = Use(value, names)
        if is_module or callable(value):
            self._packages |= dict.fromkeys(sees_settings(use.package))
        if is_module or (is_class and names.changes_classes and not is_users_class(value)):
            if (id(value), names) not in self._uses:
                self._uses.add((id(value), names))
                self._ahead.append((name, use, self._budget))
        else:
            self._look(name, (value,))

    def _look_at_names(
        self, names: Iterable[str], values: Mapping[str, object], used: CodeNames
    ) -> None:
        for each in filter(values.__contains__, names):
            self._look_at_named(each, values[each], used)

    def _look_up(self, values: Mapping[str, object], used: CodeNames) -> None:
        """Look at what some code imports, and at what it comes to by texts."""
        self._look_at_names(used.imported, sys.modules, used)
        run = names_in_variables(used.used, values) if used.runs_texts else ()
        self._look_at_names((*used.by_text, *run), values, used)

    def _states(self, name: str, value: Any) -> Iterator[State]:
        kind = type(value)
        if (whole := container_states(value) or interpreter_states(value)) is not None:
            yield from whole
            return
        if (found := states_of_python(value, self._budget)) is not None:
            yield from found
        elif issubclass(kind, tuple | frozenset):
            self._look(name, items_of(value, 0))
        elif issubclass(kind, type):
            yield from self._class_states(value)
            return
        elif compiler := find_compiler(value, self._frameworks):
            yield from self._compiled_states(name, value, compiler)
            return
        elif issubclass(kind, FunctionType):
            yield from self._function_states(name, value)
        elif (parts := parts_of(value, is_named=id(value) in self._roots)) is not None:
            self._look(name, parts)
            yield from cache_states(value)
        elif (moving := position_states(value, self._budget)) is not None:
            yield from moving
        else:
            yield from self._object_states(name, value)
            return
        yield from attribute_states(value)

    def _compiled_states(self, name: str, value: Any, compiler: Compilation) -> Iterator[State]:
        original = compiler.original(value)
        self._look(name, () if original is None else (original,))
        if any(f.capability(MutableState).moves_unseen(value) for f in self._frameworks):
            yield Unseen(value)

    def _class_states(self, value: Any) -> Iterator[State]:
        if is_users_class(value):
            yield from class_states(value)
            self._look(name_of(value), parts_of_class(value))

    def _use_states(self, name: str, use: Use) -> Iterator[State]:
        if states := [*use.states()] if use.is_users or not self._of_user else ():
            yield from states
        else:
            self._has_no_states(name, use.target)
        for each, value in use.values():
            if use.is_users or not self._of_user or issubclass(type(value), ModuleType):
                self._look_at_named(f"{name}.{each}", value, use.names)

    def _function_states(self, name: str, function: FunctionType) -> Iterator[State]:
        self._look(name, (function.__defaults__, function.__kwdefaults__))
        closed = closed_names(function)
        if not is_users_function(function):
            yield from () if self._of_user else registry_states(function, self._frameworks)
            # Libraries keep caches there; what they were given is a function or an object.
            held = (v for each in closed for v in each.parts)
            self._look(name, (v for v in held if not issubclass(type(v), list | dict | set)))
            return
        used = code_names(function.__code__)
        self._files.add_code(used)
        yield from function_states(function, self._own)
        self._look_at_names(used.used, function.__globals__, used)
        self._look_up(function.__globals__, used)
        for state in closed:
            yield state
            for each, value in state.named:
                self._look_at_named(each, value, used)

    def _object_states(self, name: str, value: Any) -> Iterator[State]:
        kind = type(value)
        owner = self._arrays.framework_of(kind)
        for framework in (owner,) if owner else self._frameworks:
            found = framework.capability(MutableState).states(value, self._budget)
            if found is not None:
                self._met[framework.module] = None
                yield from found
                return
        if not (is_users := is_users_class(kind)) and self._of_user:
            return
        package = module_of(kind).partition(".")[0]
        if package == "pathlib":
            self._files.add_part(name, str(value))
        if is_users or issubclass(kind, BaseException):
            self._look(name_of_class(kind, name, self._own), (kind,))
            yield from states_of_base(value)
        elif package in _NOT_ENTERED or (kind is _LOCK and id(value) not in self._roots):
            self._has_no_states(name, value)
            return
        elif (standard := standard_states(value, package)) is not None:
            if not standard:
                self._has_no_states(name, value)
            yield from standard
            return
        else:  # by counters a library numbers what it makes: nobody reads them
            self._looks.leave_out(filter(is_own_part, attributes(value).values()))
        yield from attribute_states(value)

    def _has_no_states(self, name: str, value: object) -> None:
        if id(value) in self._roots:
            self.opaque.add(name)
