"""What a call can change outside of itself: tensors, and the places where values stand."""

import functools
import inspect
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import torch

from ipyjaxbench.adapters.shared.restore import Cache, Items, Kind, Names
from ipyjaxbench.adapters.torch.graphs.program import is_ours
from ipyjaxbench.adapters.torch.tensors import is_lazy
from ipyjaxbench.frameworks import find_reach
from ipyjaxbench.frameworks.state.mappings import Attributes, Cell, Slots
from ipyjaxbench.usercode.call import Call
from ipyjaxbench.usercode.objects import (
    attribute,
    attributes,
    defined,
    is_of,
    is_opaque,
    line_of,
    module_of,
    name_of,
    package_of,
)

_MOST = 50_000  # places that are looked at, the nearest first
_LONGEST = 10_000  # items of a container that is looked into
_STDLIB = str(Path(inspect.__file__).parent)
_ATOMS = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, ModuleType)
#: What belongs to the session, not to the call.
_NOT_ENTERED = {"IPython", "ipykernel", "ipyjaxbench", "traitlets", "zmq", *sys.stdlib_module_names}


class Place(NamedTuple):
    """Where values stand.

    Attributes:
        values: what stands there, and can be undone.
        is_told: whether it is worth a word that a value was kept there.
    """

    values: Names | Items | Cache | Kind
    is_told: bool


class _Way(NamedTuple):
    """How a value is reached."""

    name: str
    is_told: bool = True

    def to(self, part: str) -> "_Way":
        return self._replace(name=self.name + part)


class Reach:
    """What a call's function and arguments can reach by name, as it is now.

    Attributes:
        tensors: each once.
        places: the nearest first.
    """

    def __init__(self, call: Call) -> None:
        self.tensors: list[torch.Tensor] = []
        self.places: list[Place] = []
        self._seen: dict[int, Any] = {}
        self._waiting: deque[tuple[_Way, Any]] = deque()
        self._look(_Way("self"), call.function)
        for name, value in [*zip(call.labels, call.args, strict=True), *call.kwargs.items()]:
            self._look(_Way(name), value)
        while self._waiting and len(self.places) < _MOST:
            with suppress(Exception):  # an object of the user's may refuse to be looked at
                self._enter(*self._waiting.popleft())

    def _look(self, way: _Way, value: Any) -> None:
        if not is_of(value, *_ATOMS) and id(value) not in self._seen:
            self._seen[id(value)] = value
            self._waiting.append((way, value))

    def _keep(self, way: _Way, names: Names) -> None:
        self.places.append(Place(names, way.is_told))
        for name, value in names.before.items():
            self._look(way.to(name), value)

    def _enter(self, way: _Way, value: Any) -> None:
        """Keep what a value holds, and have what that leads to wait for its turn."""
        if is_of(value, MethodType):
            self._look(_Way(_owner_of(value), way.is_told), value.__self__)
            self._look(way, value.__func__)
        elif is_of(value, FunctionType):
            self._enter_function(value)
        elif is_of(value, functools._lru_cache_wrapper):
            self.places.append(Place(Cache(way.name, value), way.is_told))
            self._look(way, value.__wrapped__)
        elif is_of(value, staticmethod, classmethod):
            self._look(way, value.__func__)
        elif is_of(value, property):
            self._look(way, (value.fget, value.fset, value.fdel))
        elif is_of(value, functools.partial):
            self._look(way, (value.func, value.args, value.keywords))
        elif is_of(value, type):
            if _is_users_class(value):
                here = way._replace(name=f"{name_of(value)}.")
                self._keep(here, Names(here.name, defined(value), None, value))
        else:
            self._enter_data(way, value)

    def _enter_data(self, way: _Way, value: Any) -> None:
        if is_of(value, torch.Tensor):
            self._enter_tensor(way, value)
        elif is_of(value, list, dict, set, deque, tuple, frozenset):
            self._enter_items(way, value)
        elif is_of(value, torch.nn.Module):
            way = way._replace(is_told=_is_users_class(type(value)))
            self._enter_object(way, value)
            self.places.append(Place(Kind(way.name, value), is_told=False))
            for held in (value._parameters, value._buffers, value._modules):
                self._seen[id(held)] = held  # no dictionaries to the user, but attributes
                self._keep(way.to("."), Names(way.to(".").name, held))
        elif is_of(value, torch.optim.Optimizer):  # to keep values is what it is for
            self._enter_object(way._replace(is_told=False), value)
        else:
            self._enter_object(way, value)

    def _enter_tensor(self, way: _Way, tensor: torch.Tensor) -> None:
        self.tensors.append(tensor)
        if is_lazy(tensor):
            self.places.append(Place(Kind(way.name, tensor), is_told=False))
        self._keep(way.to("."), Names(way.to(".").name, vars(tensor)))
        if tensor.is_leaf and tensor.grad is not None:
            self._look(way.to(".grad"), tensor.grad)

    def _enter_items(self, way: _Way, values: Any) -> None:
        if is_opaque(values) or len(values) > _LONGEST:
            return
        if not is_of(values, tuple, frozenset):
            self.places.append(Place(Items(way.name, values), way.is_told))
        for key, value in values.items() if is_of(values, dict) else enumerate(values):
            self._look(way.to(f"[{key!r}]") if is_of(key, str, int) else way, value)

    def _enter_object(self, way: _Way, value: Any) -> None:
        if package_of(type(value)) in _NOT_ENTERED and not _is_users_class(type(value)):
            return
        here = way.to(".")
        if attribute(type(value), "__dict__") is not None:
            self._keep(here, Names(here.name, Attributes(value)))
        slots = Slots(value)
        if slots.members:
            self._keep(here, Names(here.name, slots))
        for kind in line_of(type(value)):
            self._look(way, kind)

    def _enter_function(self, function: FunctionType) -> None:
        here = _Way("")
        self._look(_Way(function.__name__), attributes(function).get("__wrapped__"))
        if not _is_users(function.__code__.co_filename):
            return
        used = set(_names_in(function.__code__))
        self._keep(here, Names("", function.__globals__, used))
        for name in used:
            module: Any = function.__globals__.get(name)
            if is_of(module, ModuleType) and _is_users_module(module):
                self._keep(_Way(f"{name}."), Names(f"{name}.", vars(module), used))
        free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in free:
            self._keep(here, Names("", Cell(name, cell)))
        self._look(_Way(function.__name__), (function.__defaults__, function.__kwdefaults__))


def is_torchs(call: Call) -> bool:
    """Whether a call that is given no tensors computes with some, by what it calls or names."""
    if Reach(call).tensors:
        return True
    used = find_reach([call.function], ()).functions
    return any(package_of(each) == "torch" for each in (*used, *call.args, *call.kwargs.values()))


def _is_users_class(kind: type) -> bool:
    if kind is SimpleNamespace:
        return True
    name = module_of(kind)
    module = sys.modules.get(name)
    return name == "__main__" or (module is not None and _is_users_module(module))


def _is_users_module(module: ModuleType) -> bool:
    return _is_users(getattr(module, "__file__", None) or _STDLIB)


def _is_users(file: str) -> bool:
    """Whether it stands in no library: those keep their own state, and that is theirs."""
    return not (file.startswith((_STDLIB, "<frozen")) or "-packages" in file or is_ours(file))


def _owner_of(method: MethodType) -> str:
    return "self" if not is_of(method.__self__, type) else name_of(method.__self__)


def _names_in(code: CodeType) -> Iterator[str]:
    """Names of a function and of the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
