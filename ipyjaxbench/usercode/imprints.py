"""What a name stood for, in short: equal for what cannot be told apart by what is computed."""

import builtins
from collections.abc import Hashable
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ipyjaxbench.usercode.cells import cell_of
from ipyjaxbench.usercode.classes import class_name, module_of
from ipyjaxbench.usercode.code_objects import fingerprint
from ipyjaxbench.usercode.objects import attribute, is_exactly, is_of, items_of, name_of, token

MOST_READ = 1000  # values that one function reads
PLAIN = (type(None), bool, int, float, complex, str, bytes)
#: These are described by name; sets also list their members, and enums have values.
NAMED = (set, frozenset, type, ModuleType, BuiltinFunctionType, Enum)
#: Stands in a path before a name within a library's function; a key would have it in quotes.
WITHIN = "\0"
_SHORT = 40  # characters of a value in words


class Imprint(NamedTuple):
    """What a name stood for.

    Attributes:
        words: as reports spell it: "2.0", "f32[3]", a function's name.
        content: equal for values that cannot be told apart by what is computed with them.
        kind: "value", "array", "function", "absent" for a name that is no global, "object" for
            one of a framework or a library, in which there can be numbers, objects and code of the
            user's that count too, "constant" for a number of a library's module, or "opaque" for
            one that only its identity tells from others.
        cell: of a function, the execution number of the cell that defined it; 0 where none did.
        in_place: whether it can change and stay the same object.
        is_part: whether its content tells only part of what is in it.
        taken_by: what takes it out of what the name stands for, as ".get()"; empty where nothing.
    """

    words: str
    content: Hashable
    kind: str = "value"
    cell: int = 0
    in_place: bool = False
    is_part: bool = False
    taken_by: str = ""


def imprint_plain(value: object) -> Imprint:
    """Return that of a number, a text, or None."""
    return Imprint(_shorten(repr(value)), (type(value).__name__, repr(value)))


def imprint_absent(name: str) -> Imprint:
    """Return that of a name that is no global: of Python's own, or of nothing."""
    words = "built in" if name in vars(builtins) else "not defined"
    return Imprint(words, ("absent", words), "absent")


def imprint_function(function: FunctionType) -> Imprint:
    """Return that of a function: its code."""
    name, code = name_of(function), function.__code__
    return Imprint(name, (name, fingerprint(code)), "function", cell_of(code.co_filename))


def imprint_holder(kind: type, count: int) -> Imprint:
    """Return that of a container or an object without what it holds."""
    name = class_name(kind)
    return Imprint(f"{name} of {count:,}", (name, count))


def imprint_opaque(value: object) -> Imprint:
    """Return that of a library's object that nobody can look into: which one it is."""
    name = class_name(type(value))
    return Imprint(name, (name, token(value)), "opaque")


def imprint_passed(passed: Imprint) -> Imprint:
    """Return an opaque object's where a call passes it: each call may make another one."""
    return passed._replace(content=passed.words) if passed.kind == "opaque" else passed


def imprint_named(value: Any) -> Imprint:
    """Return what tells sets, classes, modules, enums and built-in functions apart."""
    name = name_of(value) or class_name(type(value))
    if is_of(value, set, frozenset):
        base = set if is_of(value, set) else frozenset
        count = base.__len__(value)
        members = [*items_of(value, 0)] if count <= MOST_READ else []
        plain = sorted(repr(each) for each in members if is_exactly(each, *PLAIN))
        return Imprint(f"{name} of {count:,}", (name, count, *plain))
    if is_of(value, Enum):
        return _imprint_member(value)
    module = module_of(value) if is_of(value, type) else str(attribute(value, "__module__"))
    return Imprint(name, (module, name), "function")


def _imprint_member(value: Any) -> Imprint:
    """Return which member of an enum it is, and of a plain value that: the class may be another."""
    kind, name, own = type(value), attribute(value, "_name_"), attribute(value, "_value_")
    is_plain = is_exactly(own, *PLAIN) or (
        is_exactly(own, tuple) and all(is_exactly(each, *PLAIN) for each in own)
    )
    words = f"{class_name(kind)}.{name or own}"
    content = module_of(kind), words, repr(own) if is_plain else token(own)
    return Imprint(words, content)


def _shorten(text: str, most: int = _SHORT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
