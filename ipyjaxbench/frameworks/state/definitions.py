"""What functions and classes of the user's consist of, beside what stands in their dictionaries."""

from collections.abc import Iterator
from types import FunctionType
from typing import Any
from weakref import ref

from ipyjaxbench.frameworks.state.abstract_classes import registered_classes
from ipyjaxbench.frameworks.state.module_use import code_names, globals_set_in
from ipyjaxbench.frameworks.state.names import CellName, ClassNames, DictNames, SpecialNames
from ipyjaxbench.frameworks.state.undo import Setting, State, are_identical
from ipyjaxbench.usercode import class_dict, is_users_class, mro_of, name_of, parts_of_callable

_FUNCTIONS = (FunctionType, classmethod, staticmethod)
_OF_FUNCTIONS = (
    "__defaults__", "__kwdefaults__", "__code__", "__doc__", "__name__", "__qualname__",
    "__module__",
)  # fmt: skip
_SETS_ANY_GLOBAL = frozenset(("globals", "f_globals"))
_subclasses = type.__subclasses__
_bases, _full_name = (vars(type)[name].__get__ for name in ("__bases__", "__qualname__"))


def class_states(kind: Any) -> Iterator[State]:
    """Yield what a class holds by name, what it extends, and which others were registered."""

    def write(found: list[Any]) -> None:
        kind.__name__, kind.__qualname__, *bases = found
        if not are_identical(bases, [*_bases(kind)]):
            type.__setattr__(kind, "__bases__", tuple(bases))

    yield ClassNames(kind)
    yield SpecialNames(kind)
    yield Setting(lambda: [name_of(kind), _full_name(kind), *_bases(kind)], write)
    yield from registered_classes(kind)


def parts_of_class(kind: Any) -> tuple[Any, ...]:
    """Return classes that belong to one, and functions of it that Python itself calls."""
    special = [each for n, each in class_dict(kind).items() if n.startswith("__")]
    functions = [each for each in special if type(each) in _FUNCTIONS]  # such as `__del__`
    below = [each for each in _subclasses(kind) if is_users_class(each)]
    return (*mro_of(kind), type(kind), *functions, *below)


def parts_of(value: Any, *, is_named: bool) -> tuple[Any, ...] | None:
    """Return what a callable is made of, or a weak reference stands for; None of other values.

    Args:
        value: anything.
        is_named: the code names it; else references of libraries lead anywhere.
    """
    if not issubclass(type(value), ref):
        return parts_of_callable(value)
    referent = ref.__call__(value)
    return (referent,) if is_named or is_users_class(type(referent)) else ()


def closed_names(function: FunctionType) -> list[CellName]:
    """Return the names that a function closes over."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return [CellName(*each) for each in cells]


def function_states(function: FunctionType, own: object) -> Iterator[State]:
    """Yield what a function is made of and called, and globals that it sets.

    Args:
        function: of the user's.
        own: globals that others put back.
    """

    def write(values: list[Any]) -> None:
        for name, value in zip(_OF_FUNCTIONS, values, strict=True):
            setattr(function, name, value)

    yield Setting(lambda: [getattr(function, name) for name in _OF_FUNCTIONS], write)
    used, stored = code_names(function.__code__), globals_set_in(function.__code__)
    names = function.__globals__
    if used.runs_texts or not _SETS_ANY_GLOBAL.isdisjoint(used.used):
        stored |= {each for each in names if not each.startswith("_")}
    if stored and names is not own:
        yield DictNames(names, stored)
