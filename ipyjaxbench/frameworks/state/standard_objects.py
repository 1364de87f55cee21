"""What objects of Python's own library hold: put back where it is in memory alone, else watched."""

import mmap
import sys
from collections.abc import Callable
from typing import Any

from ipyjaxbench.frameworks.state.interpreter_settings import Holder
from ipyjaxbench.frameworks.state.undo import Setting, State
from ipyjaxbench.usercode import attributes, class_dict, is_exactly, module_of, name_of

#: Modules whose objects are what users put into them.
_ENTERED = frozenset((
    "types", "collections", "argparse", "queue", "functools", "copy", "contextlib", "configparser",
    "string", "unittest", "sched", "graphlib", "csv", "email", "html", "json", "statistics",
    "tempfile",
))  # fmt: skip
#: Modules whose objects go with threads, processes, event loops, or with Python itself: they change
#: without the code, and putting them back would break them.
_LEFT_ALONE = frozenset((
    "threading", "_thread", "asyncio", "_asyncio", "concurrent", "multiprocessing", "weakref",
    "_weakref", "_weakrefset", "importlib", "_frozen_importlib", "_frozen_importlib_external",
    "zipimport", "subprocess", "selectors", "select", "socket", "_socket", "ssl", "_ssl", "signal",
    "contextvars", "_contextvars", "typing", "abc", "_abc", "inspect", "enum", "re", "dis", "ast",
    "io", "_io", "pathlib", "datetime", "zoneinfo", "codeop", "code", "pdb", "bdb", "logging",
))  # fmt: skip
_NUMBERS = (bool, int, float, str, bytes)
_SIZED = (list, dict, set, bytearray)


def changes_by_itself(kind: type) -> bool:
    """Whether objects of a class go with threads, processes, event loops, or with Python itself."""
    return module_of(kind).partition(".")[0] in _LEFT_ALONE


def is_in_c(kind: type) -> bool:
    """Whether objects of a class are bytes in memory: mapped files, and data of `ctypes`."""
    if kind is mmap.mmap:
        return True
    meta = type(kind)
    return meta is not type and module_of(meta) == "_ctypes" and meta.__name__ != "PyCFuncPtrType"


def standard_states(value: Any, package: str) -> list[State] | None:
    """Return what calls change of an object of Python's library; () where nothing shows that.

    Args:
        value: the object; its class was not written by the user.
        package: of its class.

    Returns:
        None for what is none of Python's library, and for what is to be entered as others are.
    """
    kind = type(value)
    found = _BY_CLASS.get((module_of(kind), name_of(kind)))
    if found is not None:
        return [found(value)]
    if package not in sys.stdlib_module_names or package in _ENTERED:
        return None
    if "hexdigest" in class_dict(kind):
        return [Setting(lambda: [value.hexdigest()], None)]
    if package in _LEFT_ALONE or not attributes(value):
        return []
    return [Setting(lambda: _outline(value), None)]


def _outline(value: object) -> list[Any]:
    """Return numbers in attributes, and how many items containers in them have."""
    found: list[Any] = []
    for name, each in attributes(value).items():
        if is_exactly(each, *_NUMBERS):
            found += [name, each]
        elif is_exactly(each, *_SIZED):
            found += [name, len(each)]
    return found


def _element(element: Any) -> Setting:
    def write(values: list[Any]) -> None:
        element.text, element.tail, *element[:] = values

    return Setting(lambda: [element.text, element.tail, *element], write)


#: Of objects that keep nothing in attributes, by module and class.
_BY_CLASS: dict[tuple[str, str], Callable[[Any], State]] = {
    ("sqlite3", "Connection"): lambda it: Setting(lambda: [it.total_changes], None),
    ("sqlite3", "Cursor"): lambda it: Holder(it, [it.connection]),
    ("_queue", "SimpleQueue"): lambda it: Setting(lambda: [it.qsize()], None),
    ("xml.etree.ElementTree", "Element"): _element,
}
